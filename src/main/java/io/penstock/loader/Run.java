package io.penstock.loader;

import io.penstock.sampling.BatchSampler;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A stretch of batches delivered one after another, from a start position until it ends or the loader is moved
 * elsewhere. Batch {@code n} of the run has the sequence number {@code base + n}.
 */
final class Run {

    final BatchSampler batches;
    final long base;
    /** The first epoch of which the run has nothing, and the first number that is never asked for. */
    private final long endEpoch;
    private final long endNumber;

    /** Written by the workers for every batch, while the trainer reads the fields above. */
    private final AtomicLongArray claimed = new AtomicLongArray(CacheLine.SLOTS);
    private volatile boolean cancelled;

    Run(BatchSampler batches, long base, long endEpoch, long endNumber) {
        this.batches = batches;
        this.base = base;
        this.endEpoch = endEpoch;
        this.endNumber = endNumber;
    }

    /** Whether the run has a batch of that number. */
    boolean has(long number) {
        return number < endNumber && (endEpoch == Long.MAX_VALUE || batches.epochOf(number) < endEpoch);
    }

    /** Claims the next sequence for the caller to fill; -1 if none is left. */
    long claim() {
        if (cancelled) {
            return -1;
        }
        long n = claimed.getAndIncrement(CacheLine.MIDDLE);
        return has(n) ? base + n : -1;
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }
}
