// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.error.PenstockException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request a second time if it is late: if it takes half as long again as 95 in 100 of the latest ones of its
 * size. The first to succeed counts. Few requests are sent twice, as a share of all. Thread-safe.
 *
 * <p>Source: J. Dean and L. A. Barroso, "The tail at scale", Communications of the ACM 56(2), 2013.
 */
final class Hedges {

    private static final int REMEMBERED = 128;
    private static final int LEAST_KNOWN = 20;
    private static final double USUAL = 0.95;
    /** More than 1: as few as may be sent twice, these should be those that would not come soon. */
    private static final double LATE = 1.5;
    private static final int SIZES = 64;
    /** The second request can be late, too. */
    private static final int MOST_SENT = 3;
    /** A request that is so many times as late as a late one. */
    private static final int VERY_LATE = 4;

    /** Sends a request, perhaps as the second; runs the argument when it is sent, if it had to wait for that. */
    @FunctionalInterface
    interface Attempt {
        void run(boolean isSecond, Runnable isSent) throws IOException;
    }

    private final int percent;
    private final BiConsumer<Duration, Runnable> alarm;
    private final LongSupplier nanoTime;
    /** The latest times by size, as a power of 2, and how many there have been. Guarded by the monitor. */
    private final long[][] times = new long[SIZES][];
    private final int[] known = new int[SIZES];
    private long requests;
    private long sentTwice;

    /**
     * Hedges.
     *
     * @param percent how many requests of a hundred may be sent twice
     * @param alarm runs a task after a time
     */
    Hedges(int percent, BiConsumer<Duration, Runnable> alarm, LongSupplier nanoTime) {
        this.percent = percent;
        this.alarm = alarm;
        this.nanoTime = nanoTime;
    }

    /** Sends a request for {@code bytes} bytes, perhaps twice, and waits until one succeeds or all have failed. */
    void run(long bytes, Attempt attempt) throws IOException {
        int size = Long.numberOfTrailingZeros(Long.highestOneBit(Math.max(1, bytes)));
        long late = late(size);
        if (late == 0) {
            long[] sent = {nanoTime.getAsLong()};
            attempt.run(false, () -> sent[0] = nanoTime.getAsLong());
            took(size, nanoTime.getAsLong() - sent[0]);
        } else {
            new Race(size, late, attempt).run();
        }
    }

    /** Counts the request; returns after how long it is late, 0 if that is not known yet. */
    private synchronized long late(int size) {
        requests++;
        int count = Math.min(known[size], REMEMBERED);
        if (percent == 0 || count < LEAST_KNOWN) {
            return 0;
        }
        long[] sorted = Arrays.copyOf(times[size], count);
        Arrays.sort(sorted);
        return Math.max(1, (long) (LATE * sorted[(int) (USUAL * count)]));
    }

    private synchronized void took(int size, long nanos) {
        if (times[size] == null) {
            times[size] = new long[REMEMBERED];
        }
        times[size][known[size]++ % REMEMBERED] = nanos;
    }

    /** Whether another request may be sent. A few that are very late must not wait for the next requests. */
    private synchronized boolean maySendTwice(boolean isVeryLate) {
        long share = isVeryLate ? 2L * percent : percent;
        boolean may = 100 * (sentTwice + 1) <= share * requests;
        sentTwice += may ? 1 : 0;
        return may;
    }

    synchronized long sentTwice() {
        return sentTwice;
    }

    /** One request, sent once or again. */
    private final class Race {

        private final int size;
        private final long lateNanos;
        private final Attempt attempt;
        private final List<Thread> threads = new ArrayList<>();
        private int running;
        private int alarms;
        private boolean isOver;
        private boolean isWon;
        private @Nullable Throwable failure;

        Race(int size, long lateNanos, Attempt attempt) {
            this.size = size;
            this.lateNanos = lateNanos;
            this.attempt = attempt;
        }

        synchronized void run() throws IOException {
            start();
            try {
                while (!isWon && running > 0) {
                    wait();
                }
            } catch (InterruptedException _) {
                throw Retries.interrupted();
            } finally {
                isOver = true;
                threads.forEach(Thread::interrupt);
            }
            if (!isWon) {
                switch (failure) {
                    case IOException e -> throw e;
                    case PenstockException e -> throw e;
                    case Error e -> throw e;
                    case null, default -> throw new IllegalStateException(failure);
                }
            }
        }

        private void start() {
            running++;
            boolean isSecond = !threads.isEmpty();
            Thread thread = Thread.ofVirtual().name("penstock-request").unstarted(() -> send(isSecond));
            threads.add(thread);
            thread.start();
        }

        private void send(boolean isSecond) {
            Throwable failed = null;
            long[] sent = {nanoTime.getAsLong()};
            try {
                attempt.run(isSecond, () -> {
                    sent[0] = nanoTime.getAsLong();
                    waitUntilLate();
                });
                took(size, nanoTime.getAsLong() - sent[0]);
            } catch (Throwable t) {
                failed = t;
            }
            end(failed);
        }

        private synchronized void end(@Nullable Throwable failed) {
            running--;
            isWon |= failed == null;
            failure = failure == null ? failed : failure;
            notifyAll();
        }

        private void waitUntilLate() {
            alarm.accept(Duration.ofNanos(lateNanos), this::late);
        }

        private synchronized void late() {
            if (isOver || threads.size() == MOST_SENT) {
                return;
            }
            if (running > 0 && maySendTwice(++alarms >= VERY_LATE)) {
                start();
            } else {
                waitUntilLate();
            }
        }
    }
}
