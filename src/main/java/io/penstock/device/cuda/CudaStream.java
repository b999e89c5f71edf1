// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaEventRecord;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventWaitDefault;
import static io.penstock.cuda.bindings.CudaRuntime.cudaMemcpyDeviceToHost;
import static io.penstock.cuda.bindings.CudaRuntime.cudaMemcpyHostToDevice;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamCreateWithFlags;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamDestroy;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamNonBlocking;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamQuery;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamSynchronize;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamWaitEvent;
import static io.penstock.device.cuda.CudaCalls.cudaMemcpyAsync;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaDevice.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A {@code cudaStream_t}: one created and destroyed here, or a view of a foreign one. */
final class CudaStream extends CudaHandle implements DeviceStream {
    private final String name;

    private CudaStream(CudaDevice device, String name, MemorySegment handle, boolean owner) {
        super(device, handle, owner);
        this.name = name;
    }

    /** Opens a stream that does not synchronize with the legacy default stream, which other code may be using. */
    static CudaStream open(CudaDevice device, String name) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment created = arena.allocate(ValueLayout.ADDRESS);
            device.create("cudaStreamCreateWithFlags",
                    () -> cudaStreamCreateWithFlags(created, cudaStreamNonBlocking()));
            return new CudaStream(device, name, created.get(ValueLayout.ADDRESS, 0), true);
        }
    }

    static CudaStream view(CudaDevice device, long handle) {
        return new CudaStream(device, "0x" + Long.toHexString(handle), MemorySegment.ofAddress(handle), false);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String describe() {
        return "stream '" + name + "'";
    }

    @Override
    public void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes) {
        requireUsable();
        long to = CudaDeviceBuffer.of(dst, device).address(dstOffset, bytes);
        long from = CudaPinnedBuffer.of(src, device).address(srcOffset, bytes);
        device.check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice(), handle.address()), "cudaMemcpyAsync");
    }

    @Override
    public void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes) {
        requireUsable();
        long to = CudaPinnedBuffer.of(dst, device).address(dstOffset, bytes);
        long from = CudaDeviceBuffer.of(src, device).address(srcOffset, bytes);
        device.check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost(), handle.address()), "cudaMemcpyAsync");
    }

    @Override
    public void launch(Kernel kernel, int blocks, MemorySegment arguments) {
        requireUsable();
        device.kernels().launch(kernel, blocks, arguments, handle.address());
    }

    @Override
    public void record(DeviceEvent event) {
        requireUsable();
        device.check(cudaEventRecord(CudaEvent.of(event, device).handle, handle), "cudaEventRecord");
    }

    @Override
    public void waitFor(DeviceEvent event) {
        requireUsable();
        MemorySegment awaited = CudaEvent.of(event, device).handle;
        device.check(cudaStreamWaitEvent(handle, awaited, cudaEventWaitDefault()), "cudaStreamWaitEvent");
    }

    @Override
    public boolean isIdle() {
        requireUsable();
        return isDone(cudaStreamQuery(handle), "cudaStreamQuery");
    }

    @Override
    public void synchronize() {
        requireUsable();
        device.check(cudaStreamSynchronize(handle), "cudaStreamSynchronize");
    }

    @Override
    void destroy() {
        device.closed(this);
        device.release(new Call("cudaStreamSynchronize", () -> cudaStreamSynchronize(handle)),
                new Call("cudaStreamDestroy", () -> cudaStreamDestroy(handle)));
    }
}
