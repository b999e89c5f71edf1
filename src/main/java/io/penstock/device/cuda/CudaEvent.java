// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorInvalidResourceHandle;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventBlockingSync;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventCreateWithFlags;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDestroy;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDisableTiming;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventElapsedTime;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventQuery;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventSynchronize;

import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.cuda.CudaDevice.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** A {@code cudaEvent_t}: one created and destroyed here, or a view. Without a time, waits and queries are cheaper. */
final class CudaEvent extends CudaHandle implements DeviceEvent {
    private static final float NANOS_A_MILLI = 1e6f;

    /** Owns {@link #millis}; null if this is not timed. */
    private final @Nullable Arena timing;
    /** Where CUDA writes a time. */
    private final MemorySegment millis;

    private CudaEvent(CudaDevice device, MemorySegment handle, boolean owner, @Nullable Arena timing) {
        super(device, handle, owner);
        this.timing = timing;
        this.millis = timing == null ? MemorySegment.NULL : timing.allocate(ValueLayout.JAVA_FLOAT);
    }

    static CudaEvent open(CudaDevice device, EventWait wait) {
        return new CudaEvent(device, create(device, cudaEventDisableTiming() | flags(wait)), true, null);
    }

    static CudaEvent openTimed(CudaDevice device, EventWait wait) {
        return new CudaEvent(device, create(device, flags(wait)), true, Arena.ofShared());
    }

    private static int flags(EventWait wait) {
        return switch (wait) {
            case SPIN -> 0;
            case BLOCK -> cudaEventBlockingSync();
        };
    }

    private static MemorySegment create(CudaDevice device, int flags) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment created = arena.allocate(ValueLayout.ADDRESS);
            device.create("cudaEventCreateWithFlags", () -> cudaEventCreateWithFlags(created, flags));
            return created.get(ValueLayout.ADDRESS, 0);
        }
    }

    static CudaEvent view(CudaDevice device, long handle) {
        if (handle == 0) {
            throw new IllegalArgumentException("0 is not a cudaEvent_t");
        }
        return new CudaEvent(device, MemorySegment.ofAddress(handle), false, null);
    }

    static CudaEvent of(DeviceEvent event, CudaDevice device) {
        if (event instanceof CudaEvent own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the event belongs to another device");
    }

    @Override
    public String describe() {
        return "event 0x" + Long.toHexString(handle.address());
    }

    @Override
    public boolean isComplete() {
        requireUsable();
        return isDone(cudaEventQuery(handle), "cudaEventQuery");
    }

    @Override
    public void synchronize() {
        requireUsable();
        device.check(cudaEventSynchronize(handle), "cudaEventSynchronize");
    }

    @Override
    public synchronized long nanosSince(DeviceEvent earlier) {
        requireUsable();
        MemorySegment from = of(earlier, device).handle;
        if (timing == null) {
            device.check(cudaErrorInvalidResourceHandle(), "cudaEventElapsedTime");
        }
        device.check(cudaEventElapsedTime(millis, from, handle), "cudaEventElapsedTime");
        return Math.max(0, (long) (millis.get(ValueLayout.JAVA_FLOAT, 0) * NANOS_A_MILLI));
    }

    @Override
    void destroy() {
        if (timing != null) {
            timing.close();
        }
        device.closed(this);
        device.release(new Call("cudaEventDestroy", () -> cudaEventDestroy(handle)));
    }
}
