package io.penstock.device.host;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.MemorySegment;

/** Host memory that stands in for a GPU's. */
final class HostDeviceBuffer implements DeviceBuffer, OpenResources.Resource {
    private final HostDevice device;
    private final HostMemory memory;

    HostDeviceBuffer(HostDevice device, long bytes) {
        this.device = device;
        this.memory = new HostMemory(bytes, 256, "allocate");
    }

    static HostDeviceBuffer of(DeviceBuffer buffer, HostDevice device) {
        if (buffer instanceof HostDeviceBuffer own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the device buffer belongs to another device");
    }

    @Override
    public String describe() {
        return "device buffer of " + byteSize() + " bytes";
    }

    @Override
    public long address() {
        requireOpen();
        return memory.segment().address();
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
