package io.penstock.dataset;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory that grows to what is asked for, for one thread at a time. */
final class Scratch implements AutoCloseable {

    private static final int ALIGNMENT_BYTES = 64;

    private Arena arena;
    private MemorySegment segment = MemorySegment.NULL;

    /** Memory of at least so many bytes; the same as before, content included, unless it must grow. */
    MemorySegment of(long bytes) {
        if (segment.byteSize() < bytes) {
            long grown = Math.max(bytes, 2 * segment.byteSize());
            close();
            arena = Arena.ofShared();
            segment = arena.allocate(grown, ALIGNMENT_BYTES);
        }
        return segment;
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
