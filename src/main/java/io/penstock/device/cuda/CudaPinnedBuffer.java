// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaFreeHost;
import static io.penstock.cuda.bindings.CudaRuntime.cudaHostAlloc;
import static io.penstock.cuda.bindings.CudaRuntime.cudaHostAllocDefault;

import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaDevice.Call;
import io.penstock.device.internal.OpenResources;
import io.penstock.os.MemoryNode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Memory from {@code cudaHostAlloc}: page-locked and CPU-cached. Write-combined memory would be slow to read.
 *
 * <p>The segment has its own arena, closed before the memory is freed, so a thread that still holds the segment gets an
 * exception instead of freed memory.
 */
@SuppressWarnings("restricted")
final class CudaPinnedBuffer implements PinnedBuffer, OpenResources.Resource {
    private final CudaDevice device;
    private final MemorySegment pointer;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    CudaPinnedBuffer(CudaDevice device, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes, expected at least 1");
        }
        this.device = device;
        try (Arena call = Arena.ofShared()) {
            MemorySegment allocated = call.allocate(ValueLayout.ADDRESS);
            device.create("cudaHostAlloc", () -> {
                MemoryNode.bindThread(device.hostNode());
                return cudaHostAlloc(allocated, bytes, cudaHostAllocDefault());
            });
            this.pointer = allocated.get(ValueLayout.ADDRESS, 0);
        }
        this.segment = pointer.reinterpret(bytes, arena, null);
    }

    static CudaPinnedBuffer of(PinnedBuffer buffer, CudaDevice device) {
        if (buffer instanceof CudaPinnedBuffer own && own.device == device) {
            if (!own.arena.scope().isAlive()) {
                throw new IllegalStateException(own.describe() + " is closed");
            }
            return own;
        }
        throw new IllegalArgumentException("the pinned buffer belongs to another device");
    }

    /** The address of a range's first byte. */
    long address(long offset, long length) {
        return pointer.address() + Objects.checkFromIndexSize(offset, length, byteSize());
    }

    @Override
    public String describe() {
        return "pinned buffer of " + byteSize() + " bytes";
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public long byteSize() {
        return segment.byteSize();
    }

    @Override
    public synchronized void close() {
        if (!arena.scope().isAlive()) {
            return;
        }
        arena.close();
        device.closed(this);
        device.release(new Call("cudaFreeHost", () -> cudaFreeHost(pointer)));
    }
}
