// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.host;

import io.penstock.device.EventWait;
import org.jspecify.annotations.Nullable;

/**
 * The mark of an event: a queue and a position in it, read and written together under this object's lock. The event and
 * its views share it.
 */
final class EventMark {
    private final HostDevice device;
    private final long handle;
    private final EventWait wait;

    /** Set once, when the event is closed. */
    private volatile boolean ended;
    /** Null until first recorded. */
    private @Nullable CommandQueue queue;
    private long position;

    EventMark(HostDevice device, long handle, EventWait wait) {
        this.device = device;
        this.handle = handle;
        this.wait = wait;
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

    /** Marks the work enqueued so far. */
    synchronized void set(CommandQueue marked) {
        this.queue = marked;
        this.position = marked.enqueued();
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
