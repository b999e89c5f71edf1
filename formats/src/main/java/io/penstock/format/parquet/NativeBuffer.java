// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.io.publish.DecodedBlocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Native memory that grows as it is written, so that its size does not depend on what a file claims. For one thread.
 */
final class NativeBuffer implements AutoCloseable {

    /** The most that it holds, less what an {@code int} cannot count. */
    static final long MAX_BYTES = DecodedBlocks.MAX_BLOCK_BYTES - 1;

    private static final long ALIGNMENT_BYTES = 64;

    private @Nullable Arena arena;
    private MemorySegment segment = MemorySegment.NULL;
    private long used;

    /** Returns the memory, written up to {@link #used}. */
    MemorySegment segment() {
        return segment;
    }

    long capacity() {
        return segment.byteSize();
    }

    long used() {
        return used;
    }

    MemorySegment written() {
        return segment.asSlice(0, used);
    }

    /** Makes room for more bytes; returns their offset. Their content is undefined. */
    long reserve(long bytes) {
        if (bytes > segment.byteSize() - used) {
            grow(bytes);
        }
        return used;
    }

    void advance(long bytes) {
        used += bytes;
    }

    void append(MemorySegment source, long offset, long bytes) {
        reserve(bytes);
        MemorySegment.copy(source, offset, segment, used, bytes);
        used += bytes;
    }

    void truncate(long bytes) {
        used = bytes;
    }

    private void grow(long bytes) {
        if (bytes > MAX_BYTES - used) {
            throw new CodecException("a row group's column that decodes to more than " + MAX_BYTES + " bytes");
        }
        long capacity = Math.min(MAX_BYTES, Math.max(used + bytes, 2 * segment.byteSize()));
        Arena larger = Arena.ofShared();
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

    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            segment = MemorySegment.NULL;
        }
    }
}
