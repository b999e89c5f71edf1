package io.penstock.device.host;

import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.MemorySegment;

/** Host memory for copies to and from the device; no GPU needs its pages locked. */
final class HostPinnedBuffer implements PinnedBuffer, OpenResources.Resource {
    private final HostDevice device;
    private final HostMemory memory;

    HostPinnedBuffer(HostDevice device, long bytes) {
        this.device = device;
        this.memory = new HostMemory(bytes, 4096, "allocatePinned");
    }

    static HostPinnedBuffer of(PinnedBuffer buffer, HostDevice device) {
        if (buffer instanceof HostPinnedBuffer own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the pinned buffer belongs to another device");
    }

    @Override
    public String describe() {
        return "pinned buffer of " + byteSize() + " bytes";
    }

    @Override
    public MemorySegment segment() {
        return memory.segment();
    }

    @Override
    public long byteSize() {
        return memory.segment().byteSize();
    }

    private void requireOpen() {
        if (!memory.isOpen()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public synchronized void close() {
        if (memory.isOpen()) {
            memory.free();
            device.closed(this);
        }
    }
}
