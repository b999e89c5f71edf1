package io.penstock.io;

import java.lang.foreign.MemorySegment;

/**
 * Rows of equal size at equal distances in one piece of memory: row {@code i} is the {@code rowBytes} bytes from
 * {@code offset + i * strideBytes}. Rows may overlap, as windows do that share tokens.
 *
 * @param file the file that holds them, or null if they are in memory
 * @param segment what the offset counts in: the file's mapping, of which only what was required may be read, or the
 *     memory
 * @param offset the first byte of row 0
 * @param strideBytes from one row's first byte to the next one's
 * @param rowBytes bytes of a row
 * @param count how many rows
 */
public record Rows(MappedFile file, MemorySegment segment, long offset, long strideBytes, long rowBytes, long count) {

    /**
     * Checks that the rows are within the segment, so that no access to one needs to be.
     *
     * @throws IllegalArgumentException if a number is negative or the last row ends behind the segment
     */
    public Rows {
        if (offset < 0 || strideBytes < 0 || rowBytes < 0 || count < 0) {
            throw new IllegalArgumentException(count + " rows of " + rowBytes + " bytes every " + strideBytes + " from "
                    + offset);
        }
        if (count > 0 && Math.addExact(Math.addExact(offset, Math.multiplyExact(count - 1, strideBytes)), rowBytes)
                > segment.byteSize()) {
            throw new IllegalArgumentException(count + " rows of " + rowBytes + " bytes every " + strideBytes + " from "
                    + offset + " end behind the " + segment.byteSize() + " bytes there are");
        }
    }

    /**
     * Rows of a span.
     *
     * @param all what holds them; row 0 starts where it does
     * @param strideBytes from one row's first byte to the next one's
     * @param rowBytes bytes of a row
     * @param count how many rows
     * @return the rows
     */
    public static Rows of(Span all, long strideBytes, long rowBytes, long count) {
        return new Rows(all.file(), all.base(), all.byteOffset(), strideBytes, rowBytes, count);
    }

    /**
     * Whether there is a row of an index.
     *
     * @param row the index
     * @return true if it is not negative and below {@link #count}
     */
    public boolean has(long row) {
        return row >= 0 && row < count;
    }

    /**
     * Where a row starts.
     *
     * @param row its index
     * @return the offset of its first byte in the segment
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public long offset(long row) {
        if (!has(row)) {
            throw new IndexOutOfBoundsException("row " + row + " of " + count);
        }
        return offset + row * strideBytes;
    }
}
