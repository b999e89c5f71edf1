// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.text.NumberText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Repeats what failed for a reason that may pass: with full jitter, a delay that doubles, and a budget that all
 * requests share. A request that had a part of its result is repeated at once: the server was there, and a connection
 * broke. A {@link FileSystemException} will not pass. Thread-safe.
 */
final class Retries {

    /** All requests together may have one retry per this many requests, and the budget besides. */
    private static final long REQUESTS_A_RETRY = 10;
    private static final int MAX_DOUBLINGS = 30;
    /** The failure of one request that is logged while it is tried again: those before take less than a second. */
    private static final int LOGGED_FAILURE = 5;
    private static final int FEW_ATTEMPTS = 2 * LOGGED_FAILURE - 1;
    private static final long QUIET_NANOS = 10_000_000_000L;
    private static final System.Logger LOG = System.getLogger(Retries.class.getName());

    /** Something that may fail. */
    @FunctionalInterface
    interface Attempt<T> {
        T run() throws IOException;
    }

    /** Waits before the next attempt: {@code Thread.sleep}, or a test's clock. */
    @FunctionalInterface
    interface Sleeper {
        void sleep(Duration duration) throws InterruptedException;
    }

    private final RequestSettings settings;
    private final Supplier<? extends RandomGenerator> random;
    private final Sleeper sleeper;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong retries = new AtomicLong();
    private final AtomicLong reportAgainAt = new AtomicLong(System.nanoTime());

    Retries(RequestSettings settings, Supplier<? extends RandomGenerator> random, Sleeper sleeper) {
        this.settings = settings;
        this.random = random;
        this.sleeper = sleeper;
    }

    /**
     * Runs attempts until one succeeds.
     *
     * @param progress grows when an attempt has had a part of the result: the count of attempts then starts again
     * @throws IOException the last failure, with the number of attempts
     */
    <T> T run(Attempt<T> attempt, LongSupplier progress) throws IOException {
        requests.incrementAndGet();
        long before = progress.getAsLong();
        for (int failures = 1;; failures++) {
            try {
                return attempt.run();
            } catch (FileSystemException | InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                boolean hasProgress = progress.getAsLong() > before;
                if (hasProgress) {
                    before = progress.getAsLong();
                    failures = 1;
                }
                int attempts = e instanceof UnreachableException unreachable
                        ? Math.min(unreachable.attempts(), settings.attempts()) : settings.attempts();
                if (failures >= attempts) {
                    throw new IOException(e.getMessage() + " (after " + NumberText.count(failures, "attempt") + ")", e);
                }
                if (failures == LOGGED_FAILURE && attempts > FEW_ATTEMPTS) {
                    report(e.getMessage() + "; it is tried up to " + attempts + " times");
                }
                if (retries.incrementAndGet() > settings.retryBudget() + requests.get() / REQUESTS_A_RETRY) {
                    throw new IOException(e.getMessage() + " (the budget of retries is used up: "
                            + retries.get() + " of " + requests.get() + " requests)", e);
                }
                if (!hasProgress || e instanceof StatusException) {
                    pause(delay(failures, e));
                }
            }
        }
    }

    /** Logs a failure that is tried again, unless another one was logged just before. */
    private void report(String failure) {
        long now = System.nanoTime();
        long next = reportAgainAt.get();
        if (now - next >= 0 && reportAgainAt.compareAndSet(next, now + QUIET_NANOS)) {
            LOG.log(System.Logger.Level.WARNING, failure);
        }
    }

    private Duration delay(int failures, IOException failure) {
        long longest = settings.longestDelay().toNanos();
        if (failure instanceof StatusException status && !status.retryAfter().isZero()) {
            return status.retryAfter().compareTo(settings.longestDelay()) < 0 ? status.retryAfter()
                    : settings.longestDelay();
        }
        int doublings = Math.min(failures - 1, MAX_DOUBLINGS);
        long first = settings.firstDelay().toNanos();
        long most = first > longest >> doublings ? longest : first << doublings;
        return Duration.ofNanos(random.get().nextLong(most + 1));
    }

    private void pause(Duration delay) throws InterruptedIOException {
        try {
            sleeper.sleep(delay);
        } catch (InterruptedException _) {
            throw interrupted();
        }
    }

    /** Sets the thread's interrupt again. */
    static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while waiting for a server");
    }
}
