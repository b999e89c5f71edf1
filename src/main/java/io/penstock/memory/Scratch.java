package io.penstock.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Native memory that grows to what is asked for and is used again, for one thread at a time. */
public final class Scratch implements AutoCloseable {

    private static final int ALIGNMENT_BYTES = 64;

    private @Nullable Arena arena;
    private MemorySegment segment = MemorySegment.NULL;

    /** None yet. */
    public Scratch() {
    }

    /**
     * Memory of at least so many bytes: the same as before, content included, unless it must grow. Then it at least
     * doubles, so that sizes that differ make it grow a few times only, and what was given before is gone.
     *
     * @param bytes how many are needed
     * @return the memory, aligned to 64 bytes, valid until it grows or is closed
     */
    public MemorySegment of(long bytes) {
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
