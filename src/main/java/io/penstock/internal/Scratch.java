// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Reusable native memory that grows on demand, for one thread at a time. */
public final class Scratch implements AutoCloseable {

    private static final int ALIGNMENT_BYTES = 64;

    private @Nullable Arena arena;
    private MemorySegment segment = MemorySegment.NULL;

    /**
     * Returns memory of at least the given size, aligned to 64 bytes: the same as before with its content, unless it
     * must grow. It then at least doubles, and the memory returned before is invalid.
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

    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            segment = MemorySegment.NULL;
        }
    }
}
