package io.penstock.io;

import java.util.Locale;

/** How a {@link SpanReader} brings the bytes of a mapped file to their place. The bytes are the same in every mode. */
public enum ReadMode {
    /** Copy from the mapping: fastest when the pages are in the page cache. */
    MMAP,
    /** {@code pread(2)} into place: a cold page blocks native code only. Where the OS has no such call, as MMAP. */
    PREAD,
    /** PREAD until nearly all of the file is in the page cache, then MMAP; looked at again as the epoch runs. */
    AUTO;

    /**
     * The mode that {@link #toString} names so.
     *
     * @param id {@code mmap}, {@code pread} or {@code auto}
     * @return the mode
     * @throws IllegalArgumentException if no mode has that name
     */
    public static ReadMode of(String id) {
        for (ReadMode mode : values()) {
            if (mode.toString().equals(id)) {
                return mode;
            }
        }
        throw new IllegalArgumentException("unknown read mode '" + id + "', expected mmap, pread or auto");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
