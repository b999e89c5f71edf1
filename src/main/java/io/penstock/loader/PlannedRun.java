// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.Arrivals.ArrivalWait;
import io.penstock.loader.slots.Run;
import io.penstock.sampling.BatchSampler;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** The batches that a sampler plans, from where it starts until the loader's last epoch is over. */
final class PlannedRun extends Run {

    final BatchSampler batches;
    /** The first epoch without batches in this run, and the first batch number after the run. */
    private final long endEpoch;
    private final long endNumber;
    /** Batches below this number are known to be of epochs in this run. */
    private final long certainNumber;
    /** The first batch that was not read ahead. */
    private final AtomicLong ahead = new AtomicLong();
    /** The latest batch of which all samples are known to have arrived. */
    private final AtomicLong arrived = new AtomicLong(-1);

    PlannedRun(BatchSampler batches, long base, long endEpoch, long endNumber) {
        super(base);
        this.batches = batches;
        long start = batches.startEpoch();
        this.endEpoch = Math.max(endEpoch, start);
        this.endNumber = endNumber;
        this.certainNumber = !batches.edits().isEmpty() ? 0
                : Math.min(endNumber, (this.endEpoch - start) / BatchSampler.MOST_EMPTY_EPOCHS - 1);
    }

    @Override
    public boolean has(long number) {
        return number < certainNumber || number < endNumber && batches.epochOf(number, endEpoch) < endEpoch;
    }

    /**
     * Waits until all samples of a batch of arriving samples are there, or it is known that there is no such batch.
     *
     * @param isOver asked now and then: whether the result is still wanted
     * @param waited receives the waiting time
     * @return how many of the batch's samples exist, over all ranks; 0 if it has none to give, or it is over
     */
    long arrive(Arrivals arrivals, long number, BooleanSupplier isOver, ArrivalWait waited)
            throws InterruptedException {
        int world = batches.shard().worldSize();
        for (long next = batches.awaited(number); next >= 0; next = batches.awaited(number)) {
            long there = arrivals.await(batches.startEpoch(), next, world, isOver, waited);
            if (there == world) {
                batches.arrived(next + world);
            } else if (isOver.getAsBoolean()) {
                return 0;
            } else {
                batches.ended(next + there);
            }
        }
        if (!has(number)) {
            return 0;
        }
        long wanted = batches.positionsOf(number);
        long there = batches.positionsWithin(number, arrivals.await(batches.epochOf(number),
                batches.positionOf(number), batches.spanOf(number), isOver, waited));
        if (batches.countOf(number, there) == 0) {
            return 0;
        }
        if (there == wanted) {
            arrived.accumulateAndGet(number, Math::max);
        }
        return there;
    }

    /** Returns whether the samples of a batch, and of all before it, are known to be there. */
    boolean hasArrived(long number) {
        return number <= arrived.getOpaque();
    }

    /** Returns the epoch of a batch; after the last batch, the first epoch without batches in this run. */
    long epochOf(long number) {
        return batches.epochOf(number, endEpoch);
    }

    @Override
    public boolean isFirst(long sequence) {
        long n = sequence - base;
        return n == 0 || epochOf(n) != epochOf(n - 1);
    }

    /**
     * Claims the next {@code count} batches for the caller to read ahead; some of them may be after the run's end.
     * Returns the first, which is at least {@code from}; -1 if it would be after {@code last} or the run is over.
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
