package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorNotReady;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventBlockingSync;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventCreateWithFlags;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDestroy;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDisableTiming;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventQuery;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventSynchronize;

import io.penstock.device.DeviceEvent;
import io.penstock.device.EventWait;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A {@code cudaEvent_t}: one created and destroyed here, without timing, for cheap waits and queries; or a view.
 */
final class CudaEvent implements DeviceEvent, OpenResources.Resource {
    private final CudaDevice device;
    private final MemorySegment handle;
    private final boolean owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaEvent(CudaDevice device, MemorySegment handle, boolean owner) {
        this.device = device;
        this.handle = handle;
        this.owner = owner;
    }

    static CudaEvent open(CudaDevice device, EventWait wait) {
        int flags = switch (wait) {
            case SPIN -> cudaEventDisableTiming();
            case BLOCK -> cudaEventDisableTiming() | cudaEventBlockingSync();
        };
        try (Arena arena = Arena.ofShared()) {
            MemorySegment created = arena.allocate(ValueLayout.ADDRESS);
            device.create("cudaEventCreateWithFlags", () -> cudaEventCreateWithFlags(created, flags));
            return new CudaEvent(device, created.get(ValueLayout.ADDRESS, 0), true);
        }
    }

    static CudaEvent view(CudaDevice device, long handle) {
        if (handle == 0) {
            throw new IllegalArgumentException("0 is not a cudaEvent_t");
        }
        return new CudaEvent(device, MemorySegment.ofAddress(handle), false);
    }

    static CudaEvent of(DeviceEvent event, CudaDevice device) {
        if (event instanceof CudaEvent own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the event belongs to another device");
    }

    MemorySegment pointer() {
        return handle;
    }

    @Override
    public String describe() {
        return "event 0x" + Long.toHexString(handle.address());
    }

    @Override
    public long handle() {
        requireOpen();
        return handle.address();
    }

    @Override
    public boolean isComplete() {
        requireUsable();
        int status = cudaEventQuery(handle);
        if (status == cudaErrorNotReady()) {
            return false;
        }
        device.check(status, "cudaEventQuery");
        return true;
    }

    @Override
    public void synchronize() {
        requireUsable();
        device.check(cudaEventSynchronize(handle), "cudaEventSynchronize");
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
        int destroyed = cudaEventDestroy(handle);
        device.closed(this);
        device.checkRelease(destroyed, "cudaEventDestroy");
    }
}
