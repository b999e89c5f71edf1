// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaEventBlockingSync;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventCreateWithFlags;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDestroy;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventDisableTiming;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventQuery;
import static io.penstock.cuda.bindings.CudaRuntime.cudaEventSynchronize;

import io.penstock.device.DeviceEvent;
import io.penstock.device.EventWait;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A {@code cudaEvent_t}: one created and destroyed here, without timing, for cheap waits and queries; or a view. */
final class CudaEvent extends CudaHandle implements DeviceEvent {
    private CudaEvent(CudaDevice device, MemorySegment handle, boolean owner) {
        super(device, handle, owner);
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
    void destroy() {
        int destroyed = cudaEventDestroy(handle);
        device.closed(this);
        device.checkRelease(destroyed, "cudaEventDestroy");
    }
}
