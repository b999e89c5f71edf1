// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.CodecException;
import io.penstock.io.spill.DecodedBlocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Native memory that grows as it is written, so that what a file claims takes none: only what is decoded does. One
 * thread's.
 */
final class NativeBuffer implements AutoCloseable {

    /** What it holds at most, less what an {@code int} cannot count. */
    static final long MAX_BYTES = DecodedBlocks.MAX_BLOCK_BYTES - 1;

    private static final long ALIGNMENT_BYTES = 64;

    private @Nullable Arena arena;
    private MemorySegment segment = MemorySegment.NULL;
    private long used;

    /** The memory, of which the bytes up to {@link #used} are written. */
    MemorySegment segment() {
        return segment;
    }

    /** Bytes written. */
    long used() {
        return used;
    }

    /** What is written. */
    MemorySegment written() {
        return segment.asSlice(0, used);
    }

    /** Makes room for some more bytes; gives where they start. What is there is not defined. */
    long reserve(long bytes) throws CodecException {
        if (bytes > segment.byteSize() - used) {
            grow(bytes);
        }
        return used;
    }

    /** Some bytes were written behind the others. */
    void advance(long bytes) {
        used += bytes;
    }

    /** Appends bytes. */
    void append(MemorySegment source, long offset, long bytes) throws CodecException {
        reserve(bytes);
        MemorySegment.copy(source, offset, segment, used, bytes);
        used += bytes;
    }

    /** Forgets what is written behind so many bytes. */
    void truncate(long bytes) {
        used = bytes;
    }

    private void grow(long bytes) throws CodecException {
        if (bytes > MAX_BYTES - used) {
            throw new CodecException("a row group's column that decodes to more than " + MAX_BYTES + " bytes");
        }
        long capacity = Math.min(MAX_BYTES, Math.max(used + bytes, 2 * segment.byteSize()));
        Arena larger = Arena.ofConfined();
        MemorySegment copy;
        try {
            copy = larger.allocate(capacity, ALIGNMENT_BYTES);
        } catch (OutOfMemoryError _) {
            larger.close();
            throw new CodecException("no memory for " + capacity + " decoded bytes");
        }
        MemorySegment.copy(segment, 0, copy, 0, used);
        close();
        arena = larger;
        segment = copy;
    }

    /** Frees the memory. Calling it again does nothing. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            segment = MemorySegment.NULL;
        }
    }
}
