// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Batches of a fixed number of samples: their starts are arithmetic. */
final class FixedBatches extends BatchSampler {

    private final int batchSize;
    private final long batchesInStartEpoch;
    private final long batchesInFullEpoch;

    FixedBatches(Settings settings, int batchSize) {
        super(settings);
        this.batchSize = batchSize;
        batchesInFullEpoch = batches(size);
        batchesInStartEpoch = batches(size - settings.startPosition());
        if (batchesInFullEpoch == 0) {
            throw new IllegalArgumentException("no batch in an epoch of " + size + " samples: " + why());
        }
    }

    private String why() {
        long samples = shard.samplesPerRank(size);
        int ranks = shard.worldSize();
        return samples == 0 ? ranks + " ranks would have none each; use fewer ranks or another tail policy"
                : "a batch of " + batchSize + " is not full" + (ranks == 1 ? "" : " with the " + samples
                        + " of each of " + ranks + " ranks") + ", and the last batch is dropped if it is not; use a"
                        + " smaller batch" + (ranks == 1 ? "" : " or fewer ranks") + ", or keep the last batch";
    }

    private long batches(long remaining) {
        long samples = shard.samplesPerRank(remaining);
        return settings.dropsLast() ? samples / batchSize : Math.ceilDiv(samples, (long) batchSize);
    }

    @Override
    BatchSampler with(Settings changed) {
        return fixed(changed, batchSize);
    }

    @Override
    long begin(long epoch, long index) {
        return origin(epoch) + index * batchSize * shard.worldSize();
    }

    @Override
    int count(long epoch, long index) {
        return (int) Math.min(batchSize, shard.samplesPerRank(size - origin(epoch)) - index * batchSize);
    }

    @Override
    boolean isLast(long epoch, long index) {
        return index + 1 == batchesInEpoch(epoch);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return epoch == startEpoch ? batchesInStartEpoch : batchesInFullEpoch;
    }

    @Override
    public long epochOf(long number, long endEpoch) {
        checkNumber(number);
        long epoch = number < batchesInStartEpoch ? startEpoch
                : startEpoch + 1 + (number - batchesInStartEpoch) / batchesInFullEpoch;
        return Math.min(epoch, endEpoch);
    }

    /** Every whole epoch has a batch. */
    @Override
    public void requireBatch(long endEpoch) {
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        return epoch == startEpoch
                ? 0
                : batchesInStartEpoch + (epoch - startEpoch - 1) * batchesInFullEpoch;
    }

    @Override
    public int batchSize() {
        return batchSize;
    }
}
