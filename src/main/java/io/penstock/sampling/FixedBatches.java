package io.penstock.sampling;

/** Batches of a fixed number of samples: their starts are arithmetic. */
final class FixedBatches extends BatchSampler {

    private final int batchSize;
    private final long batchesInStartEpoch;
    private final long batchesInFullEpoch;

    FixedBatches(Sampler sampler, OrderCache orders, int batchSize, Shard shard, boolean dropLast, String dataset,
            long startEpoch, long startPosition) {
        super(sampler, orders, shard, dropLast, dataset, startEpoch, startPosition);
        this.batchSize = batchSize;
        batchesInFullEpoch = batches(size);
        batchesInStartEpoch = batches(size - startPosition);
    }

    private long batches(long remaining) {
        long samples = shard.samplesPerRank(remaining);
        return dropLast ? samples / batchSize : Math.ceilDiv(samples, (long) batchSize);
    }

    @Override
    BatchSampler ofDataset(String fingerprint) {
        return new FixedBatches(sampler, orders, batchSize, shard, dropLast, fingerprint, startEpoch, startPosition);
    }

    @Override
    BatchSampler from(long epoch, long position) {
        return new FixedBatches(sampler, orders, batchSize, shard, dropLast, dataset, epoch, position);
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
