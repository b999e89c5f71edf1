// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.DeviceEvent;
import io.penstock.device.internal.OpenResources;
import java.util.concurrent.atomic.AtomicBoolean;

/** A mark as its opener holds it, who ends it by closing; or a view of it, whose closing ends nothing. */
final class HostEvent implements DeviceEvent, OpenResources.Resource {
    private final EventMark mark;
    private final boolean owner;
    private final AtomicBoolean closed = new AtomicBoolean();

    HostEvent(EventMark mark, boolean owner) {
        this.mark = mark;
        this.owner = owner;
    }

    static EventMark mark(DeviceEvent event, HostDevice device) {
        if (event instanceof HostEvent own && own.mark.device() == device) {
            own.requireOpen();
            return own.mark;
        }
        throw new IllegalArgumentException("the event belongs to another device");
    }

    @Override
    public String describe() {
        return "event 0x" + Long.toHexString(mark.handle());
    }

    @Override
    public long handle() {
        requireOpen();
        return mark.handle();
    }

    @Override
    public boolean isComplete() {
        requireOpen();
        boolean complete = mark.isComplete();
        mark.device().checkFault("isComplete");
        return complete;
    }

    @Override
    public void synchronize() {
        requireOpen();
        mark.await();
        mark.device().checkFault("synchronize");
    }

    @Override
    public long nanosSince(DeviceEvent earlier) {
        requireOpen();
        mark.device().checkFault("nanosSince");
        return Math.max(0, mark.reachedAt() - mark(earlier, mark.device()).reachedAt());
    }

    private void requireOpen() {
        if (closed.get() || mark.hasEnded()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && owner) {
            mark.end();
            mark.device().closed(this, mark.handle());
        }
    }
}
