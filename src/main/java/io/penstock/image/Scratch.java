package io.penstock.image;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory of one thread that grows to what is asked for, and is used again. */
final class Scratch implements AutoCloseable {

    private static final long ALIGNMENT_BYTES = 64;

    private Arena arena;
    private MemorySegment memory = MemorySegment.NULL;

    /** Memory of so many bytes or more, with anything in it; what was given before is gone if it was smaller. */
    MemorySegment atLeast(long bytes) {
        if (bytes > memory.byteSize()) {
            close();
            // Images differ in size: room to grow saves most of the next ones.
            long room = Math.addExact(bytes, bytes / 4);
            arena = Arena.ofShared();
            memory = arena.allocate(room, ALIGNMENT_BYTES);
        }
        return memory;
    }

    @Override
    public void close() {
        memory = MemorySegment.NULL;
        if (arena != null) {
            arena.close();
            arena = null;
        }
    }
}
