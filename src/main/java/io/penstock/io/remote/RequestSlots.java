// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import java.util.concurrent.Semaphore;

/**
 * How many requests are under way at a time: few at first, one more with each that succeeds, and half as many when the
 * server says that it has too many; from there the number grows by one in as many requests as are under way. Waiting
 * requests go in order. Thread-safe.
 *
 * <p>Source: slow start and congestion avoidance of TCP (RFC 5681), a request in place of a segment.
 */
final class RequestSlots {

    private static final int FIRST = 4;

    private final int most;
    private final Semaphore free;
    /** Below it the number grows fast. */
    private double threshold;
    private double allowed;
    /** The permits that exist, taken or free. */
    private int permits;
    /** Counts the halvings: of many refusals of requests that were sent together, one counts. */
    private long halvings;

    RequestSlots(int most) {
        this.most = most;
        this.threshold = most;
        this.allowed = Math.min(FIRST, most);
        this.permits = (int) allowed;
        this.free = new Semaphore(permits, true);
    }

    /** A request that is under way until it is closed. */
    final class Slot implements AutoCloseable {

        private final long sentAfter;
        private double growth;
        private boolean isRefused;

        private Slot(long sentAfter) {
            this.sentAfter = sentAfter;
        }

        void succeeded() {
            growth = 1;
        }

        /** The server has too many requests. */
        void refused() {
            isRefused = true;
        }

        @Override
        public void close() {
            end(this);
        }
    }

    /** Waits until a request may be sent. */
    Slot acquire() throws InterruptedException {
        free.acquire();
        synchronized (this) {
            return new Slot(halvings);
        }
    }

    /** Tells whether a request may be sent now. */
    boolean hasFree() {
        return free.availablePermits() > 0;
    }

    synchronized int allowed() {
        return (int) allowed;
    }

    private synchronized void end(Slot slot) {
        if (slot.isRefused && slot.sentAfter == halvings) {
            halvings++;
            allowed = Math.max(1, allowed / 2);
            threshold = allowed;
        } else {
            allowed = Math.min(most, allowed + slot.growth * (allowed < threshold ? 1 : 1 / allowed));
        }
        if (permits > (int) allowed) {
            permits--;
        } else {
            int grown = (int) allowed - permits;
            permits += grown;
            free.release(1 + grown);
        }
    }
}
