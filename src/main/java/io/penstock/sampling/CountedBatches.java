// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;

/** Batches whose number differs from epoch to epoch: epochs are counted in order, as far as requested. */
abstract sealed class CountedBatches extends BatchSampler permits BudgetBatches, WorkBatches {

    /** The number of batches in each known epoch from the start epoch on. */
    private volatile PrefixSums counted = PrefixSums.of(new long[1]);
    /** Whether the last known epochs reached the limit of epochs without batches. */
    private volatile boolean barren;

    CountedBatches(Settings settings) {
        super(settings);
    }

    /** Whether an epoch has so many batches and one more, looking no further than needed. */
    abstract boolean has(long epoch, long index);

    /** Says that epochs have no batch, and what may be done. */
    abstract String noBatch(long firstEpoch, long lastEpoch);

    /** Rejects an epoch that stands in for a batch that there is not, since there were too many epochs without one. */
    final void checkNotBarren(long epoch) {
        if (barren && epoch == startEpoch + counted.runs()) {
            throw new IllegalStateException(noBatch(epoch - MOST_EMPTY_EPOCHS + 1, epoch));
        }
    }

    @Override
    boolean isLast(long epoch, long index) {
        return !has(epoch, index + 1);
    }

    @Override
    public long epochOf(long number, long endEpoch) {
        checkNumber(number);
        while (true) {
            boolean ends = barren;
            PrefixSums known = counted;
            int last = known.runs();
            if (number < known.total()) {
                return Math.min(startEpoch + known.runOf(number), endEpoch);
            }
            if (startEpoch + last >= endEpoch) {
                return endEpoch;
            }
            if (ends || has(startEpoch + last, number - known.total())) {
                return startEpoch + last;
            }
            extend(last);
        }
    }

    /** Adds the epoch after the last known one, unless the limit of epochs without batches is reached. */
    private synchronized void extend(int last) {
        PrefixSums known = counted;
        if (known.runs() == last && !barren) {
            long count = batchesInEpoch(startEpoch + last);
            if (count == 0 && last + 1 >= MOST_EMPTY_EPOCHS
                    && known.start(last + 1 - MOST_EMPTY_EPOCHS) == known.total()) {
                barren = true;
            } else {
                counted = PrefixSums.ofLengths(last + 1, epoch -> epoch < last ? known.length(epoch) : count);
            }
        }
    }

    @Override
    public void requireBatch(long endEpoch) {
        long epoch = epochOf(0, endEpoch);
        boolean none = barren && counted.total() == 0;
        if (none || epoch >= endEpoch && startEpoch < endEpoch) {
            throw new IllegalArgumentException(noBatch(startEpoch, Math.min(epoch, endEpoch - 1)));
        }
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        while (epoch - startEpoch > counted.runs()) {
            if (barren) {
                throw new IllegalStateException(noBatch(startEpoch + counted.runs() + 1 - MOST_EMPTY_EPOCHS,
                        startEpoch + counted.runs()));
            }
            extend(counted.runs());
        }
        return counted.start((int) (epoch - startEpoch));
    }
}
