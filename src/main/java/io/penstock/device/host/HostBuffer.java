// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import io.penstock.os.LargePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory of a host device that any thread may use, freed on request; access after that throws. */
abstract sealed class HostBuffer implements OpenResources.Resource {
    private final HostDevice device;
    private final Arena arena;
    private final MemorySegment segment;

    /** Allocates and zero-fills, which makes every page resident. */
    private HostBuffer(HostDevice device, long bytes, long alignment, String call) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes, expected at least 1");
        }
        this.device = device;
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

    /** Stands in for a GPU's memory. */
    static final class OnDevice extends HostBuffer implements DeviceBuffer {

        OnDevice(HostDevice device, long bytes) {
            super(device, bytes, 256, "allocate");
        }

        @Override
        public String describe() {
            return "device buffer of " + byteSize() + " bytes";
        }

        @Override
        public long address() {
            requireOpen();
            return segment().address();
        }
    }

    /** For copies to and from the device; no GPU needs its pages locked. */
    static final class Pinned extends HostBuffer implements PinnedBuffer {

        Pinned(HostDevice device, long bytes) {
            super(device, bytes, 4096, "allocatePinned");
        }

        @Override
        public String describe() {
            return "pinned buffer of " + byteSize() + " bytes";
        }
    }

    /** Returns the memory of an open buffer of a device. */
    static MemorySegment of(Object buffer, HostDevice device) {
        if (buffer instanceof HostBuffer own && own.device == device) {
            own.requireOpen();
            return own.segment;
        }
        throw new IllegalArgumentException("the " + (buffer instanceof PinnedBuffer ? "pinned" : "device")
                + " buffer belongs to another device");
    }

    public MemorySegment segment() {
        return segment;
    }

    public long byteSize() {
        return segment.byteSize();
    }

    void requireOpen() {
        if (!arena.scope().isAlive()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public synchronized void close() {
        if (arena.scope().isAlive()) {
            arena.close();
            device.closed(this);
        }
    }
}
