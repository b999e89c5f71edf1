// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.loader.slots.Run;
import io.penstock.sampling.BatchSampler;
import java.util.concurrent.atomic.AtomicLong;

/** The batches that a sampler plans, from where it starts until the loader's last epoch is over. */
final class PlannedRun extends Run {

    final BatchSampler batches;
    /** The first epoch of which the run has nothing, and the first number that is never asked for. */
    private final long endEpoch;
    private final long endNumber;
    /** Batches below this number are of epochs that the run has, whichever they are. */
    private final long certainNumber;
    /** The first batch that was not read ahead. */
    private final AtomicLong ahead = new AtomicLong();

    PlannedRun(BatchSampler batches, long base, long endEpoch, long endNumber) {
        super(base);
        this.batches = batches;
        this.endEpoch = endEpoch;
        this.endNumber = endNumber;
        long epochs = Math.max(0, endEpoch - batches.startState().epoch());
        this.certainNumber = Math.min(endNumber, epochs / BatchSampler.MOST_EMPTY_EPOCHS - 1);
    }

    @Override
    public boolean has(long number) {
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

    /**
     * Claims the next batches for the caller to read ahead: none before {@code from}, and none if the first is behind
     * {@code last} or the run is over.
     *
     * @return the first of {@code count} numbers, of which the run need not have all; -1 if there are none
     */
    long claimAhead(long from, long last, long count) {
        while (!isCancelled()) {
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
}
