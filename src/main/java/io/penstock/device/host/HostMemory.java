package io.penstock.device.host;

import io.penstock.device.DeviceException;
import io.penstock.os.LargePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory that any thread may use, freed on request; access after that throws. */
final class HostMemory {
    private final Arena arena;
    private final MemorySegment segment;

    /** Allocates and zero-fills, which makes every page resident. */
    HostMemory(long bytes, long alignment, String call) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes, expected at least 1");
        }
        this.arena = Arena.ofShared();
        try {
            this.segment = arena.allocate(bytes, alignment);
            LargePages.advise(segment);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new DeviceException("host", call, HostDevice.MEMORY_ALLOCATION, "cudaErrorMemoryAllocation",
                    bytes + " bytes of native memory cannot be allocated; -XX:MaxDirectMemorySize sets the JVM's limit",
                    e);
        }
    }

    MemorySegment segment() {
        return segment;
    }

    boolean isOpen() {
        return arena.scope().isAlive();
    }

    void free() {
        arena.close();
    }
}
