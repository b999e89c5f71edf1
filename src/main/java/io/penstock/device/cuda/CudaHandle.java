// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorNotReady;

import io.penstock.device.internal.OpenResources;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/** A {@code cudaStream_t} or {@code cudaEvent_t}: one created and destroyed here, or a view of a foreign one. */
abstract class CudaHandle implements OpenResources.Resource {
    final CudaDevice device;
    final MemorySegment handle;
    private final boolean owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    CudaHandle(CudaDevice device, MemorySegment handle, boolean owner) {
        this.device = device;
        this.handle = handle;
        this.owner = owner;
    }

    public final long handle() {
        requireOpen();
        return handle.address();
    }

    final void requireUsable() {
        requireOpen();
        CudaDevice.requirePlatformThread();
    }

    final void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    /** Whether all work is done, by the status of a query. */
    final boolean isDone(int status, String call) {
        if (status == cudaErrorNotReady()) {
            return false;
        }
        device.check(status, call);
        return true;
    }

    /** Frees the handle, of which this is the owner; called once. */
    abstract void destroy();

    @Override
    public final void close() {
        if (closed.compareAndSet(false, true) && owner) {
            destroy();
        }
    }
}
