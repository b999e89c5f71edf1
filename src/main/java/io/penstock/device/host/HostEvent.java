package io.penstock.device.host;

import io.penstock.device.DeviceEvent;
import io.penstock.device.EventWait;
import io.penstock.device.internal.OpenResources;
import java.util.concurrent.atomic.AtomicBoolean;

/** A position in a queue. The two make one mark, so they are read and written together, under this event's lock. */
final class HostEvent implements DeviceEvent, OpenResources.Resource {
    private final HostDevice device;
    private final long handle;
    private final EventWait wait;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Null until first recorded. */
    private CommandQueue queue;
    private long position;

    HostEvent(HostDevice device, long handle, EventWait wait) {
        this.device = device;
        this.handle = handle;
        this.wait = wait;
    }

    static HostEvent of(DeviceEvent event, HostDevice device) {
        if (event instanceof HostEvent own && own.device == device) {
            own.requireOpen();
            return own;
        }
        throw new IllegalArgumentException("the event belongs to another device");
    }

    /** Marks the work that is enqueued so far. */
    synchronized void mark(CommandQueue queue) {
        this.queue = queue;
        this.position = queue.enqueued();
    }

    /** Makes a queue wait for the mark as it is now. */
    void hold(CommandQueue waiter) {
        CommandQueue markedQueue;
        long markedPosition;
        synchronized (this) {
            markedQueue = queue;
            markedPosition = position;
        }
        if (markedQueue != null && !markedQueue.hasCompleted(markedPosition)) {
            waiter.enqueueWait(markedQueue, markedPosition);
        }
    }

    @Override
    public String describe() {
        return "event 0x" + Long.toHexString(handle);
    }

    @Override
    public long handle() {
        requireOpen();
        return handle;
    }

    @Override
    public boolean isComplete() {
        requireOpen();
        boolean complete;
        synchronized (this) {
            complete = queue == null || queue.hasCompleted(position);
        }
        device.checkFault("isComplete");
        return complete;
    }

    @Override
    public void synchronize() {
        requireOpen();
        CommandQueue markedQueue;
        long markedPosition;
        synchronized (this) {
            markedQueue = queue;
            markedPosition = position;
        }
        if (markedQueue != null) {
            switch (wait) {
                case SPIN -> markedQueue.spin(markedPosition);
                case BLOCK -> markedQueue.await(markedPosition);
            }
        }
        device.checkFault("synchronize");
    }

    private void requireOpen() {
        if (closed.get()) {
            throw new IllegalStateException(describe() + " is closed");
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            device.closed(this);
        }
    }
}
