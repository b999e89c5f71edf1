// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Rows of equal size at a constant stride: row {@code i} is the {@code rowBytes} bytes from
 * {@code offset + i * strideBytes}. Rows may overlap, for example windows that share tokens.
 *
 * @param file the file that holds them, or null if they are in memory
 * @param segment the base of the offset: the memory, or the file's mapping, of which only fetched ranges may be read
 * @param offset the first byte of row 0
 * @param strideBytes the distance between the starts of two rows
 * @param rowBytes the size of a row
 * @param count the number of rows
 */
public record Rows(@Nullable MappedFile file, MemorySegment segment, long offset, long strideBytes, long rowBytes,
        long count) {

    /**
     * Checks that all rows are within the segment, so accesses need no check.
     *
     * @throws IllegalArgumentException if a number is negative or the last row ends after the segment
     */
    public Rows {
        if (offset < 0 || strideBytes < 0 || rowBytes < 0 || count < 0) {
            throw new IllegalArgumentException(count + " rows of " + rowBytes + " bytes every " + strideBytes + " from "
                    + offset);
        }
        if (count > 0 && Math.addExact(Math.addExact(offset, Math.multiplyExact(count - 1, strideBytes)), rowBytes)
                > segment.byteSize()) {
            throw new IllegalArgumentException(count + " rows of " + rowBytes + " bytes every " + strideBytes + " from "
                    + offset + " end after the " + segment.byteSize() + " bytes of the segment");
        }
    }

    /**
     * Creates rows of a span.
     *
     * @param all the bytes; row 0 is at its start
     * @param strideBytes the distance between the starts of two rows
     * @param rowBytes the size of a row
     * @param count the number of rows
     * @return the rows
     */
    public static Rows of(Span all, long strideBytes, long rowBytes, long count) {
        return new Rows(all.file(), all.base(), all.byteOffset(), strideBytes, rowBytes, count);
    }

    /**
     * {@return whether a row exists: whether the index is from 0 to below {@link #count}}
     *
     * @param row the row's index
     */
    public boolean has(long row) {
        return row >= 0 && row < count;
    }

    /**
     * {@return the offset of a row's first byte in the segment}
     *
     * @param row the row's index
     * @throws IndexOutOfBoundsException if the row does not exist
     */
    public long offset(long row) {
        if (!has(row)) {
            throw new IndexOutOfBoundsException("row " + row + " of " + count);
        }
        return offset + row * strideBytes;
    }
}
