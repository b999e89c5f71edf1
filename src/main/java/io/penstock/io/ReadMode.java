// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.util.Arrays;
import java.util.Locale;

/** How a {@link SpanReader} copies the bytes of a mapped file. Every mode gives the same bytes. */
public enum ReadMode {
    /** Copy from the mapping: fastest if the pages are in the page cache. */
    MMAP,
    /**
     * {@code pread(2)} into the target: a cold page blocks native code only. Same as MMAP if the OS has no such call.
     */
    PREAD,
    /** PREAD until nearly all of the file is in the page cache, then MMAP; rechecked during the epoch. */
    AUTO;

    /**
     * {@return the mode with a given {@link #toString}}
     *
     * @param id {@code mmap}, {@code pread} or {@code auto}
     * @throws IllegalArgumentException if no mode has that name
     */
    public static ReadMode of(String id) {
        return Arrays.stream(values()).filter(mode -> mode.toString().equals(id)).findAny().orElseThrow(() ->
                new IllegalArgumentException("unknown read mode '" + id + "', expected mmap, pread or auto"));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
