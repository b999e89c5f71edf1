// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.OpenResources;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/** A queue as its opener holds it, who ends it by closing; or a view of it, whose closing ends nothing. */
final class HostStream implements DeviceStream, OpenResources.Resource {
    private final CommandQueue queue;
    private final boolean owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    HostStream(CommandQueue queue, boolean owner) {
        this.queue = queue;
        this.owner = owner;
    }

    @Override
    public String name() {
        return queue.name();
    }

    @Override
    public String describe() {
        return "stream '" + queue.name() + "'";
    }

    @Override
    public long handle() {
        requireOpen();
        return queue.handle();
    }

    @Override
    public void copyToDevice(DeviceBuffer dst, long dstOffset, PinnedBuffer src, long srcOffset, long bytes) {
        check("copyToDevice");
        enqueueCopy(dst, dstOffset, src, srcOffset, bytes);
    }

    @Override
    public void copyToHost(PinnedBuffer dst, long dstOffset, DeviceBuffer src, long srcOffset, long bytes) {
        check("copyToHost");
        enqueueCopy(dst, dstOffset, src, srcOffset, bytes);
    }

    private void enqueueCopy(Object dst, long dstOffset, Object src, long srcOffset, long bytes) {
        MemorySegment to = HostBuffer.of(dst, queue.device());
        MemorySegment from = HostBuffer.of(src, queue.device());
        Objects.checkFromIndexSize(dstOffset, bytes, to.byteSize());
        Objects.checkFromIndexSize(srcOffset, bytes, from.byteSize());
        queue.enqueueCopy(to, dstOffset, from, srcOffset, bytes);
    }

    @Override
    public void launch(Kernel kernel, int blocks, MemorySegment arguments) {
        check("launch");
        kernel.checkLaunch(blocks, arguments);
        queue.enqueueLaunch(kernel, arguments);
    }

    @Override
    public void record(DeviceEvent event) {
        check("record");
        HostEvent.mark(event, queue.device()).set(queue);
    }

    @Override
    public void waitFor(DeviceEvent event) {
        check("waitFor");
        HostEvent.mark(event, queue.device()).hold(queue);
    }

    @Override
    public boolean isIdle() {
        check("isIdle");
        boolean idle = queue.hasCompleted(queue.enqueued());
        check("isIdle");
        return idle;
    }

    @Override
    public void synchronize() {
        check("synchronize");
        queue.await(queue.enqueued());
        check("synchronize");
    }

    CommandQueue queue() {
        return queue;
    }

    private void check(String call) {
        requireOpen();
        queue.device().checkFault(call);
    }

    private void requireOpen() {
        if (closed.get() || queue.isEnding()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true) || !owner) {
            return;
        }
        queue.end();
        queue.device().closed(this, queue.handle());
        queue.device().checkFault("close");
    }
}
