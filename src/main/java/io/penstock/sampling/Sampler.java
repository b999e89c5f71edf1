package io.penstock.sampling;

/**
 * Orders the samples of a dataset, epoch by epoch, as a pure function: no state moves, so any thread may ask for any
 * epoch at any time, and asking again gives the same order.
 *
 * <p>A sampler knows the whole dataset and nothing of ranks, workers or batches; {@link BatchSampler} deals its order
 * out.
 */
public interface Sampler {

    /**
     * How many samples an epoch has.
     *
     * @return at least 1
     */
    long size();

    /**
     * The order of an epoch. Cheap: no sample is visited.
     *
     * @param epoch from 0
     * @return that epoch's order, of this sampler's size
     */
    Order epoch(long epoch);

    /**
     * The seed that the orders derive from.
     *
     * @return the seed, 0 where chance has no part
     */
    default long seed() {
        return 0;
    }

    /**
     * What tells this sampler's orders from another's, in words a person can compare: kind, size, and whatever else
     * takes part. Two samplers with equal fingerprints give equal orders.
     *
     * @return one line, for example {@code feistel-8 size=1000 seed=42}
     */
    String fingerprint();

    /**
     * Samples in the order they are stored, the same every epoch.
     *
     * @param size how many samples the dataset has, 1 to 2^62
     * @return the sampler
     * @throws IllegalArgumentException if the size is outside its range
     */
    static Sampler sequential(long size) {
        return new SequentialSampler(size);
    }

    /**
     * Every sample once an epoch, in an order that a {@link Permutation} draws anew each epoch.
     *
     * @param size how many samples the dataset has, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if the size is outside its range
     */
    static Sampler shuffled(long size, long seed) {
        return new ShuffledSampler(size, seed);
    }
}
