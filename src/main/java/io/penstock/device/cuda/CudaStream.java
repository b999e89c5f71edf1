package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorNotReady;
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
import static io.penstock.device.cuda.CudaCopy.cudaMemcpyAsync;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/** A {@code cudaStream_t}: one created and destroyed here, or a view of a foreign one. */
final class CudaStream implements DeviceStream, OpenResources.Resource {
    private final CudaDevice device;
    private final String name;
    private final MemorySegment handle;
    private final boolean owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaStream(CudaDevice device, String name, MemorySegment handle, boolean owner) {
        this.device = device;
        this.name = name;
        this.handle = handle;
        this.owner = owner;
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
    public long handle() {
        requireOpen();
        return handle.address();
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
        device.check(cudaEventRecord(CudaEvent.of(event, device).pointer(), handle), "cudaEventRecord");
    }

    @Override
    public void waitFor(DeviceEvent event) {
        requireUsable();
        MemorySegment awaited = CudaEvent.of(event, device).pointer();
        device.check(cudaStreamWaitEvent(handle, awaited, cudaEventWaitDefault()), "cudaStreamWaitEvent");
    }

    @Override
    public boolean isIdle() {
        requireUsable();
        int status = cudaStreamQuery(handle);
        if (status == cudaErrorNotReady()) {
            return false;
        }
        device.check(status, "cudaStreamQuery");
        return true;
    }

    @Override
    public void synchronize() {
        requireUsable();
        device.check(cudaStreamSynchronize(handle), "cudaStreamSynchronize");
    }

    private void requireUsable() {
        requireOpen();
        CudaDevice.requirePlatformThread();
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true) || !owner) {
            return;
        }
        int ended = cudaStreamSynchronize(handle);
        int destroyed = cudaStreamDestroy(handle);
        device.closed(this);
        device.checkRelease(ended, "cudaStreamSynchronize");
        device.checkRelease(destroyed, "cudaStreamDestroy");
    }
}
