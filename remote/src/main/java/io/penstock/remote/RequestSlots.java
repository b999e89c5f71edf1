// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;

/**
 * How many requests are under way at a time: few at first, one more with each that succeeds, and half as many when the
 * server refuses a share of them because it has too many; from there the number grows by one in as many requests as are
 * under way. Waiting requests go in order, urgent ones first. Thread-safe.
 *
 * <p>Source: slow start and congestion avoidance of TCP (RFC 5681), a request in place of a segment. A single refusal
 * among many answers is a server that failed, not one with too many requests, so it takes a few of them.
 */
final class RequestSlots {

    private static final int FIRST = 4;
    /** The refusals that say that there are too many requests, as a share of the latest answers. */
    private static final double TOO_MANY = 0.05;
    /** How much of that share the latest answer is. */
    private static final double LATEST = 1.0 / 64;

    private final int most;
    private final Deque<CountDownLatch> waiting = new ArrayDeque<>();
    /** Below it the number grows fast. */
    private double threshold;
    private double allowed;
    /** The slots that exist, taken or free, and those that are free. */
    private int permits;
    private int free;
    private double refused;
    /** Counts the halvings: of many refusals of requests that were sent together, one counts. */
    private long halvings;

    RequestSlots(int most) {
        this.most = most;
        this.threshold = most;
        this.allowed = Math.min(FIRST, most);
        this.permits = (int) allowed;
        this.free = permits;
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

    /** Waits until a request may be sent; an urgent one goes before all that wait. */
    Slot acquire(boolean isUrgent) throws InterruptedException {
        CountDownLatch turn = new CountDownLatch(1);
        synchronized (this) {
            if (free > 0) {
                free--;
                return new Slot(halvings);
            }
            if (isUrgent) {
                waiting.addFirst(turn);
            } else {
                waiting.addLast(turn);
            }
        }
        try {
            turn.await();
        } catch (InterruptedException e) {
            synchronized (this) {
                if (!waiting.remove(turn)) {
                    release(1);
                }
            }
            throw e;
        }
        synchronized (this) {
            return new Slot(halvings);
        }
    }

    /** Gives slots to those that wait. Behind the monitor. */
    private void release(int slots) {
        for (free += slots; free > 0 && !waiting.isEmpty(); free--) {
            waiting.remove().countDown();
        }
    }

    synchronized int allowed() {
        return (int) allowed;
    }

    synchronized boolean hasFree() {
        return free > 0;
    }

    private synchronized void end(Slot slot) {
        if (slot.isRefused || slot.growth > 0) {
            refused += ((slot.isRefused ? 1 : 0) - refused) * LATEST;
        }
        if (slot.isRefused && slot.sentAfter == halvings && refused > TOO_MANY) {
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
            release(1 + grown);
        }
    }
}
