package io.penstock.loader;

import io.penstock.os.CacheLine;
import io.penstock.sampling.BatchSampler;
import io.penstock.telemetry.EpochBounds;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A stretch of batches delivered one after another, from a start position until it ends or the loader is moved
 * elsewhere. Batch {@code n} of the run has the sequence number {@code base + n}.
 */
final class Run implements EpochBounds {

    final BatchSampler batches;
    final long base;
    /** The first epoch of which the run has nothing, and the first number that is never asked for. */
    private final long endEpoch;
    private final long endNumber;
    /** Batches below this number are of epochs that the run has, whichever they are. */
    private final long certainNumber;

    /** Written by the workers for every batch, while the trainer reads the fields above. */
    private final AtomicLongArray claimed = new AtomicLongArray(CacheLine.SLOTS);
    /** The first batch that was not read ahead. */
    private final AtomicLong ahead = new AtomicLong();
    private volatile boolean cancelled;

    Run(BatchSampler batches, long base, long endEpoch, long endNumber) {
        this.batches = batches;
        this.base = base;
        this.endEpoch = endEpoch;
        this.endNumber = endNumber;
        long epochs = Math.max(0, endEpoch - batches.startState().epoch());
        this.certainNumber = Math.min(endNumber, epochs / BatchSampler.MOST_EMPTY_EPOCHS - 1);
    }

    /** Whether the run has a batch of that number. */
    boolean has(long number) {
        return number < certainNumber || number < endNumber && batches.epochOf(number, endEpoch) < endEpoch;
    }

    /** The epoch of a batch; behind the last one, the first epoch of which the run has nothing. */
    long epochOf(long number) {
        return batches.epochOf(number, Math.max(endEpoch, batches.startState().epoch()));
    }

    @Override
    public boolean isFirst(long sequence) {
        long n = sequence - base;
        return n == 0 || epochOf(n) != epochOf(n - 1);
    }

    /** The sequence that is claimed next, if the run has one; others may claim it meanwhile. */
    long nextToClaim() {
        return base + claimed.get(CacheLine.MIDDLE);
    }

    /** Whether there is a batch of a sequence to be claimed. */
    boolean isOpenAt(long sequence) {
        return !cancelled && has(sequence - base);
    }

    /** Claims the sequence that was next to be claimed, unless somebody else has, or the run has none. */
    boolean claim(long sequence) {
        long n = sequence - base;
        return isOpenAt(sequence) && claimed.compareAndSet(CacheLine.MIDDLE, n, n + 1);
    }

    /** Claims the next sequence for the caller to fill; -1 if none is left. */
    long claim() {
        if (cancelled) {
            return -1;
        }
        long n = claimed.getAndIncrement(CacheLine.MIDDLE);
        return has(n) ? base + n : -1;
    }

    /**
     * Claims the next batches for the caller to read ahead: none before {@code from}, and none if the first is behind
     * {@code last} or the run is over.
     *
     * @return the first of {@code count} numbers, of which the run need not have all; -1 if there are none
     */
    long claimAhead(long from, long last, long count) {
        while (!cancelled) {
            long next = ahead.get();
            long first = Math.max(next, from);
            if (first > last || !has(first)) {
                return -1;
            }
            if (ahead.compareAndSet(next, first + count)) {
                return first;
            }
        }
        return -1;
    }

    void cancel() {
        cancelled = true;
    }

    boolean isCancelled() {
        return cancelled;
    }
}
