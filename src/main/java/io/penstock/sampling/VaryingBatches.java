// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;

/**
 * Batches of a fixed number of samples of an edited run, whose epochs have different sizes. Epochs that edits name are
 * counted one by one; behind them all have one size, and the rest is arithmetic.
 */
final class VaryingBatches extends BatchSampler {

    private final int batchSize;
    private final EditedSampler sampler;
    /** The number of batches in each counted epoch, from the start epoch on. */
    private volatile PrefixSums counted = PrefixSums.of(new long[1]);

    VaryingBatches(Settings settings, int batchSize) {
        super(settings);
        this.batchSize = batchSize;
        this.sampler = (EditedSampler) settings.sampler();
    }

    @Override
    BatchSampler with(Settings changed) {
        return fixed(changed, batchSize);
    }

    private long batches(long samplesLeft) {
        long samples = shard.samplesPerRank(samplesLeft);
        return settings.dropsLast() ? samples / batchSize : Math.ceilDiv(samples, (long) batchSize);
    }

    @Override
    long begin(long epoch, long index) {
        return origin(epoch) + index * batchSize * shard.worldSize();
    }

    @Override
    int count(long epoch, long index) {
        return (int) Math.min(batchSize, shard.samplesPerRank(sizeOf(epoch) - origin(epoch)) - index * batchSize);
    }

    @Override
    boolean isLast(long epoch, long index) {
        return index + 1 == batchesInEpoch(epoch);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return epoch >= sampler.endEpoch() ? 0 : batches(sizeOf(epoch) - origin(epoch));
    }

    /** Returns how many epochs from the start epoch on are counted one by one. */
    private long varying() {
        return Math.max(sampler.alikeFrom(), startEpoch + 1) - startEpoch;
    }

    private PrefixSums count(int epochs) {
        PrefixSums known = counted;
        if (known.runs() < epochs) {
            PrefixSums before = known;
            known = PrefixSums.ofLengths(epochs, i -> i < before.runs() ? before.length(i)
                    : batchesInEpoch(startEpoch + i));
            counted = known;
        }
        return known;
    }

    /** Returns the batches of every epoch behind those that are counted. */
    private long batchesInLater() {
        return batchesInEpoch(startEpoch + varying());
    }

    @Override
    public long epochOf(long number, long endEpoch) {
        checkNumber(number);
        long end = Math.min(endEpoch, sampler.endEpoch());
        for (int epochs = 1;; epochs = (int) Math.min(2L * epochs, Math.min(varying(), end - startEpoch))) {
            PrefixSums known = count(Math.max(epochs, counted.runs()));
            if (number < known.total()) {
                return Math.min(startEpoch + known.runOf(number), endEpoch);
            }
            if (startEpoch + known.runs() >= end) {
                return limited(number, endEpoch);
            }
            if (known.runs() >= varying()) {
                long later = batchesInLater();
                return later == 0 ? limited(number, endEpoch)
                        : Math.min(endEpoch, startEpoch + known.runs() + (number - known.total()) / later);
            }
        }
    }

    private static long limited(long number, long endEpoch) {
        if (endEpoch == Long.MAX_VALUE) {
            throw new IndexOutOfBoundsException("batch " + number + ", the run ends before it");
        }
        return endEpoch;
    }

    @Override
    public void requireBatch(long endEpoch) {
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        long one = Math.min(epoch - startEpoch, varying());
        long before = one == 0 ? 0 : count(Math.toIntExact(Math.max(one, counted.runs()))).start((int) one);
        long later = epoch - startEpoch - one;
        return later == 0 ? before : before + Math.multiplyExact(later, batchesInLater());
    }

    @Override
    public int batchSize() {
        return batchSize;
    }
}
