// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaFree;
import static io.penstock.cuda.bindings.CudaRuntime.cudaMalloc;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.cuda.CudaDevice.Call;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/** Memory from {@code cudaMalloc}, which aligns to at least 256 bytes. */
final class CudaDeviceBuffer implements DeviceBuffer, OpenResources.Resource {
    private final CudaDevice device;
    private final long address;
    private final long bytes;
    private final AtomicBoolean closed = new AtomicBoolean();

    CudaDeviceBuffer(CudaDevice device, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes, expected at least 1");
        }
        this.device = device;
        this.bytes = bytes;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment allocated = arena.allocate(ValueLayout.ADDRESS);
            device.create("cudaMalloc", () -> cudaMalloc(allocated, bytes));
            this.address = allocated.get(ValueLayout.ADDRESS, 0).address();
        }
    }

    static CudaDeviceBuffer of(DeviceBuffer buffer, CudaDevice device) {
        if (buffer instanceof CudaDeviceBuffer own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the device buffer belongs to another device");
    }

    /** The address of a range's first byte. */
    long address(long offset, long length) {
        return address + Objects.checkFromIndexSize(offset, length, bytes);
    }

    @Override
    public String describe() {
        return "device buffer of " + bytes + " bytes";
    }

    @Override
    public long address() {
        requireOpen();
        return address;
    }

    @Override
    public long byteSize() {
        return bytes;
    }

    @Override
    public MemorySegment segment() {
        throw new UnsupportedOperationException("the CPU cannot access memory of " + device.name());
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        device.closed(this);
        device.release(new Call("cudaFree", () -> cudaFree(MemorySegment.ofAddress(address))));
    }
}
