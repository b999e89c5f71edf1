package io.penstock.sampling;

import java.util.function.LongUnaryOperator;

/**
 * Orders the samples of a dataset, epoch by epoch, as a pure function: no state moves, so any thread may ask for any
 * epoch at any time, and asking again gives the same order.
 *
 * <p>A sampler knows the whole dataset and nothing of ranks, workers or batches; {@link BatchSampler} deals its order
 * out.
 */
public interface Sampler {

    /**
     * How many samples an epoch has, each counted as often as it comes.
     *
     * @return at least 1
     */
    long size();

    /**
     * How many samples the dataset has that is ordered: what orders give is below this.
     *
     * @return at least 1; {@link #size} for a sampler that gives each sample once
     */
    default long datasetSize() {
        return size();
    }

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
     * The seed that a loader draws augmentations by, unless it is given one: {@link #seed}, but of an order that is
     * put together from others without chance of its own, one of theirs.
     *
     * @return the seed, 0 where chance has no part
     */
    default long augmentationSeed() {
        return seed();
    }

    /**
     * How many epochs have an order: epochs are numbered from 0.
     *
     * @return 2^62, or fewer where an order counts its draws through all epochs
     */
    default long epochs() {
        return Positions.MAX_SIZE;
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

    /**
     * Every sample once an epoch, blocks of neighbors near each other: for storage that reads neighbors faster. The
     * blocks are shuffled, and then the samples within windows of that order, as they would be in a shuffle buffer of
     * the window's size; but any position is answered on its own, and a state is a position.
     *
     * <p>A position costs a binary search among the blocks, of which an epoch keeps 12 bytes each.
     *
     * @param blockStarts where each block begins, ascending from 0, and the dataset's size at the end: the shards of a
     *     WebDataset, for example
     * @param window samples that are shuffled among each other, 1 or more; what is at least the size shuffles all
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a block is empty or a number is outside its range
     */
    static Sampler blockShuffled(long[] blockStarts, long window, long seed) {
        return new BlockShuffledSampler(blockStarts, window, seed);
    }

    /**
     * Chosen samples only.
     *
     * @param samples the choice; a sample may be in it more than once
     * @param datasetSize how many samples the dataset has
     * @param order the order of the choice: a sampler of as many samples, for example shuffled
     * @return the sampler
     * @throws IllegalArgumentException if the order is of another number of samples
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    static Sampler subset(long[] samples, long datasetSize, Sampler order) {
        return new SubsetSampler(samples, datasetSize, order);
    }

    /**
     * Draws with replacement, every sample as probable as any other.
     *
     * @param datasetSize how many samples the dataset has, 1 to 2^62
     * @param size draws of an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a size is outside its range
     */
    static Sampler withReplacement(long datasetSize, long size, long seed) {
        return new UniformSampler(datasetSize, size, seed);
    }

    /**
     * Draws with replacement, each sample with a probability in proportion to its weight. Keeps 12 bytes a sample.
     *
     * @param weights one a sample: finite, not negative, not all 0
     * @param size draws of an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a weight or the size is outside its range
     */
    static Sampler weighted(double[] weights, long size, long seed) {
        return new WeightedSampler(weights, size, seed);
    }

    /**
     * Draws without replacement: each sample at most once an epoch, and the next one always with a probability in
     * proportion to its weight among those that are left. An epoch is sorted when it begins, and keeps 4 bytes a
     * sample.
     *
     * @param weights one a sample: finite, not negative; one of weight 0 is never drawn
     * @param size draws of an epoch, at most as many as there are samples of a positive weight
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a weight or the size is outside its range
     */
    static Sampler weightedWithoutReplacement(double[] weights, long size, long seed) {
        return new WeightedOnceSampler(weights, size, seed);
    }

    /**
     * Every sample once an epoch, shuffled within its class, with each class spread evenly over the epoch: any stretch
     * of it has the classes in the dataset's proportions. Keeps 12 bytes a sample.
     *
     * @param classes the class of each sample: numbers from 0, none without a sample
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a class is negative or has no sample
     */
    static Sampler stratified(int[] classes, long seed) {
        return new StratifiedSampler(classes, seed);
    }

    /**
     * Every class as often as any other, however many samples it has: those of a small class come more often. Keeps 4
     * bytes a sample.
     *
     * @param classes the class of each sample: numbers from 0, none without a sample
     * @param size draws of an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a class is negative or has no sample, or the size is outside its range
     */
    static Sampler balanced(int[] classes, long size, long seed) {
        return new BalancedSampler(classes, size, seed);
    }

    /**
     * Another order, with samples of like lengths brought together, so that batches need little padding. Within each
     * window of the other order, samples are sorted by length, those of equal length in that order, and cut into
     * groups; the groups are then shuffled. What comes how often stays the same, no sample leaves its window, and the
     * order is independent of ranks and batch size, as any: a state is a position. {@code docs/spec/batching.md} fixes
     * it for ports.
     *
     * <p>The first position of a window costs sorting it; the last few windows are kept, 8 bytes a position.
     *
     * @param base the order to begin with, for example shuffled
     * @param lengths the length of each sample of the dataset, below 2^38: asked for all of them once, here, and again
     *     when a window is sorted, by any thread; so it should be cheap, as the index of a store is
     * @param window positions that are looked ahead, 1 to 2^24
     * @param group samples of like lengths that stay together, 1 or more: what all ranks take in a step, or several
     *     times that where batches are by a token budget; and a small part of the window
     * @param seed any 64 bits; with the epoch, it decides the order of groups
     * @return the sampler
     * @throws IllegalArgumentException if a number is outside its range; names the sample if it is a length
     */
    static Sampler lengthBucketed(Sampler base, LongUnaryOperator lengths, long window, long group, long seed) {
        return new LengthBucketedSampler(base, lengths, window, group, seed);
    }
}
