// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import org.jspecify.annotations.Nullable;

/**
 * The mark of an event: a queue and a position in it, read and written together under this object's lock. The event and
 * its views share it.
 */
final class EventMark {
    private final HostDevice device;
    private final long handle;
    private final EventWait wait;
    private final boolean timed;

    /** Set once, when the event is closed. */
    private volatile boolean ended;
    /** Null until first recorded. */
    private @Nullable CommandQueue queue;
    private long position;
    /** Counts the marks of a timed event; and when its queue reached the latest one. */
    private long marks;
    private long reachedAt;

    EventMark(HostDevice device, long handle, EventWait wait, boolean timed) {
        this.device = device;
        this.handle = handle;
        this.wait = wait;
        this.timed = timed;
    }

    HostDevice device() {
        return device;
    }

    long handle() {
        return handle;
    }

    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Marks the work enqueued so far. For a timed event, a command behind that work notes when it has ended. */
    void set(CommandQueue marked) {
        long end = timed ? marked.enqueueMark(this, nextMark()) : marked.enqueued();
        synchronized (this) {
            this.queue = marked;
            this.position = end;
        }
    }

    private synchronized long nextMark() {
        return ++marks;
    }

    /** A queue has reached a mark; it counts if it is the latest. */
    synchronized void reached(long number, long at) {
        if (number == marks) {
            reachedAt = at;
        }
    }

    /** When the queue reached the mark, in {@link System#nanoTime}. */
    synchronized long reachedAt() {
        if (!timed || queue == null) {
            throw new DeviceException("host", "nanosSince", HostDevice.INVALID_HANDLE,
                    "cudaErrorInvalidResourceHandle", timed ? "the event was never recorded" : "the event has no time");
        }
        if (!queue.hasCompleted(position)) {
            throw new DeviceException("host", "nanosSince", HostDevice.NOT_READY, "cudaErrorNotReady",
                    "the work that the event marks has not ended");
        }
        return reachedAt;
    }

    /** Makes a queue wait for the current mark. */
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

    synchronized boolean isComplete() {
        return queue == null || queue.hasCompleted(position);
    }

    /** Waits until the currently marked work has ended. */
    void await() {
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
    }
}
