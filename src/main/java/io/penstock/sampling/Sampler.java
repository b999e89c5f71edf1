// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * Orders the samples of a dataset for each epoch, as a pure function: it has no mutable state, so any thread may
 * request any epoch at any time, and repeating a request gives the same order.
 *
 * <p>A sampler covers the whole dataset and is independent of ranks, workers and batches; {@link BatchSampler} divides
 * its order among them.
 */
public interface Sampler {

    /** The most samples, positions or epochs: every sum of two of them fits a {@code long}. */
    long MAX_SIZE = 1L << 62;

    /** {@return the number of samples in an epoch, counting repeats; at least 1} */
    long size();

    /**
     * {@return the number of samples in the dataset, at least 1; an order's samples are below this} By default it is
     * {@link #size}.
     */
    default long datasetSize() {
        return size();
    }

    /**
     * The order of an epoch. Cheap: it visits no sample.
     *
     * @param epoch from 0
     * @return that epoch's order, of this sampler's size
     */
    Order epoch(long epoch);

    /** {@return the seed of the orders; 0 if they are not random} */
    default long seed() {
        return 0;
    }

    /**
     * {@return the loader's default augmentation seed: {@link #seed}, or that of a base order if this sampler combines
     * others without a seed of its own; 0 if nothing is random}
     */
    default long augmentationSeed() {
        return seed();
    }

    /**
     * {@return the number of epochs, numbered from 0: 2^62, or fewer if an order counts its draws through all epochs}
     */
    default long epochs() {
        return MAX_SIZE;
    }

    /**
     * {@return one line that identifies the orders: kind, size, and all other inputs, for example {@code feistel-8
     * size=1000 seed=42}} Two samplers with equal fingerprints give equal orders.
     */
    String fingerprint();

    /**
     * {@return a sampler in stored order, the same in every epoch}
     *
     * @param size the number of samples in the dataset, 1 to 2^62
     * @throws IllegalArgumentException if the size is outside its range
     */
    static Sampler sequential(long size) {
        return new SequentialSampler(size);
    }

    /**
     * {@return a sampler of every sample once per epoch, in a new {@link Permutation} each epoch}
     *
     * @param size the number of samples in the dataset, 1 to 2^62
     * @param seed any 64 bits
     * @throws IllegalArgumentException if the size is outside its range
     */
    static Sampler shuffled(long size, long seed) {
        return new ComputedSampler(size, size, seed, "feistel-8 size=" + size + " seed=" + seed,
                epoch -> new Permutation(size, seed, epoch));
    }

    /**
     * {@return a sampler of every sample once per epoch, with the samples of a block close together: for storage that
     * reads neighbors faster} Blocks are shuffled, then samples within windows of that order, as in a shuffle buffer
     * of the window's size. Any position is still computed on its own, and a state is a position.
     *
     * <p>A position costs a binary search among the blocks; an epoch keeps 12 bytes a block.
     *
     * @param blockStarts the start of each block, ascending from 0, then the dataset's size: the shards of a
     *     WebDataset, for example
     * @param window samples shuffled together, 1 or more; the dataset's size or more shuffles everything
     * @param seed any 64 bits
     * @throws IllegalArgumentException if a block is empty or a number is outside its range
     */
    static Sampler blockShuffled(long[] blockStarts, long window, long seed) {
        return BlockShuffledSampler.of(blockStarts, window, seed);
    }

    /**
     * {@return a sampler of chosen samples only}
     *
     * @param samples the chosen samples; may repeat
     * @param datasetSize the number of samples in the dataset
     * @param order the order of the choice: a sampler of that many samples, for example shuffled
     * @throws IllegalArgumentException if the order has another number of samples
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    static Sampler subset(long[] samples, long datasetSize, Sampler order) {
        return new SubsetSampler(samples, datasetSize, order);
    }

    /**
     * Draws with replacement and equal probabilities.
     *
     * @param datasetSize the number of samples in the dataset, 1 to 2^62
     * @param size draws in an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a size is outside its range
     */
    static Sampler withReplacement(long datasetSize, long size, long seed) {
        return new UniformSampler(datasetSize, size, seed);
    }

    /**
     * Draws with replacement and probabilities proportional to weights. Keeps 12 bytes a sample.
     *
     * @param weights one for each sample: finite, not negative, not all 0
     * @param size draws in an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a weight or the size is outside its range
     */
    static Sampler weighted(double[] weights, long size, long seed) {
        return new WeightedSampler(weights, size, seed);
    }

    /**
     * Draws without replacement: each sample at most once per epoch, each draw with probabilities proportional to the
     * weights of the remaining samples. An epoch is sorted when it starts, and keeps 4 bytes a sample.
     *
     * @param weights one for each sample: finite, not negative; a sample of weight 0 is never drawn
     * @param size draws in an epoch, at most the number of samples with a positive weight
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a weight or the size is outside its range
     */
    static Sampler weightedWithoutReplacement(double[] weights, long size, long seed) {
        return WeightedOnceSampler.of(weights, size, seed);
    }

    /**
     * {@return a sampler of every sample once per epoch, shuffled within its class, with each class spread evenly: any
     * stretch of the epoch has the classes in the dataset's proportions} Keeps 12 bytes a sample.
     *
     * @param classes the class of each sample: numbers from 0, each with at least one sample
     * @param seed any 64 bits
     * @throws IllegalArgumentException if a class is negative or has no sample
     */
    static Sampler stratified(int[] classes, long seed) {
        return StratifiedSampler.of(classes, seed);
    }

    /**
     * {@return a sampler of groups of samples that are all of one bucket, such as pictures of one size, so that each
     * batch has one shape} Within a bucket samples are shuffled, and so are the groups of all buckets. A batch has one
     * bucket if it has as many samples as a group, or they divide a group, over all ranks; a run that resumes with
     * other batches must begin where an epoch or a group does. Keeps 12 bytes a sample.
     *
     * @param buckets the bucket of each sample, from 0; a bucket may be empty
     * @param group samples of a group: those of all ranks in a step, or several times that
     * @param rest what becomes of a bucket's samples that do not fill a group: {@link TailPolicy#PAD} fills it with
     *     samples of the bucket again, so that each sample comes at least once an epoch; {@link TailPolicy#DROP} leaves
     *     them out, others in each epoch
     * @param seed any 64 bits
     * @throws IllegalArgumentException if a bucket is negative, a number is outside its range, or no group is full
     */
    static Sampler bucketed(int[] buckets, long group, TailPolicy rest, long seed) {
        return BucketedSampler.of(buckets, group, rest, seed);
    }

    /**
     * Draws every class equally often, whatever its number of samples, so samples of small classes repeat more. Keeps 4
     * bytes a sample.
     *
     * @param classes the class of each sample: numbers from 0, each with at least one sample
     * @param size draws in an epoch, 1 to 2^62
     * @param seed any 64 bits
     * @return the sampler
     * @throws IllegalArgumentException if a class is negative or has no sample, or the size is outside its range
     */
    static Sampler balanced(int[] classes, long size, long seed) {
        return BalancedSampler.of(classes, size, seed);
    }

    /**
     * Reorders a base order so that samples of similar length are together and batches need little padding. Each window
     * of the base order is sorted by length, stably, and cut into groups, which are then shuffled. Each sample's
     * frequency and window stay the same. The order is independent of ranks and batch size, and a state is a position.
     * {@code docs/spec/batching.md} specifies it for ports.
     *
     * <p>The first access to a window sorts it; the last few windows are kept, 8 bytes a position.
     *
     * @param base the base order, for example shuffled
     * @param lengths the length of each sample of the dataset, below 2^38. It is called here once for each sample, and
     *     again by any thread that sorts a window, so it should be as cheap as a store's index
     * @param window positions sorted together, 1 to 2^24
     * @param group samples of similar length that stay together, 1 or more: the samples of all ranks in a step, or
     *     several times that with a token budget; a small part of the window
     * @param seed any 64 bits; it determines the order of groups, together with the epoch
     * @return the sampler
     * @throws IllegalArgumentException if a number is outside its range; names the sample of a bad length
     */
    static Sampler lengthBucketed(Sampler base, LongUnaryOperator lengths, long window, long group, long seed) {
        return LengthBucketedSampler.of(base, lengths, window, group, seed);
    }

    /**
     * Reorders a base order so that the ranks of a run have about the same work in each step, without communication.
     * Each window of the base order is dealt out as a {@link WorkBalance} says. Each sample's frequency and window stay
     * the same, every rank takes as many samples as before, and a state is a position. A run that resumes with other
     * ranks or another batch size goes on with exactly the next sample of this order, which is even for the ranks that
     * it was made for. {@code docs/spec/batching.md} specifies it for ports.
     *
     * <p>The first access to a window sorts it, in O(n log n); the last few windows are kept, 8 bytes a position.
     *
     * @param base the base order, for example shuffled
     * @param costs the work of each sample of the dataset, in any unit, 0 to 2^38 - 1: for attention
     *     {@code a · length + b · length²}. It is called here once for each sample, and again by any thread that deals
     *     a window, so it should be as cheap as a store's index
     * @param balance the ranks, and what is dealt out together
     * @param seed any 64 bits; it determines which hand goes to which rank and step, together with the epoch
     * @return the sampler
     * @throws IllegalArgumentException if a cost is outside its range; names the sample
     */
    static Sampler workBalanced(Sampler base, LongUnaryOperator costs, WorkBalance balance, long seed) {
        return WorkBalancedSampler.of(base, costs, balance, seed);
    }

    /** The order of a stream, whose records arrive one after the other. What edits need to know of it is computed. */
    interface Arriving extends Sampler {

        /**
         * {@return the place in the whole stream of a record, if it is in a full window and no lane has ended before}
         *
         * @param sample the record's index
         */
        long placeOf(long sample);

        /** {@return the weights of the sources that the stream mixes; empty if it mixes none} */
        List<Double> weights();

        /**
         * {@return the first place of the whole stream before which a run has read all records that it has to read
         * again}
         *
         * @param place where the run is
         * @param lanes where its lanes are; empty at the start
         */
        long unreadFrom(long place, List<LaneState> lanes);
    }

    /**
     * Where a run over a stream continues in one of its lanes: at the start of its current shuffle window. A lane is a
     * group of the stream's partitions that is read independently of the others.
     *
     * @param lane the lane's number, from 0
     * @param place how many of the lane's places precede the state's position; {@link #BY_POSITION} if that follows
     *     from the position, because no lane has ended yet
     * @param after how many places from the state's position on come before the lane's next one, if no lane ends; 0 if
     *     that follows from the position
     * @param from how many records of the lane precede the window
     * @param turn the partition of the lane whose record is the window's first, from 0
     * @param cursors where each partition of the lane continues, in the source's own words; empty before a run has read
     *     anything
     * @param log which partitions had ended in the window, and if the stream is live, which were set aside; empty if
     *     none
     */
    record LaneState(int lane, long place, int after, long from, int turn, List<String> cursors, String log) {

        /** In place of a number of places: the lanes have taken turns so far. */
        public static final long BY_POSITION = -1;

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if one is negative, or there is no such partition
         */
        public LaneState {
            cursors = List.copyOf(cursors);
            Objects.requireNonNull(log, "log");
            if (lane < 0 || place < BY_POSITION || after < 0 || from < 0 || from > MAX_SIZE || turn < 0
                    || turn >= cursors.size()) {
                throw new IllegalArgumentException("lane " + lane + " at place " + place + " after " + after
                        + " others, from record " + from + ", turn " + turn + " of " + cursors.size() + " partitions");
            }
        }

        /**
         * A window of a lane whose place follows from the position.
         *
         * @param lane the lane's number, from 0
         * @param from how many records of the lane precede the window
         * @param turn the partition of the lane whose record is the window's first, from 0
         * @param cursors where each partition of the lane continues
         * @param log the turn log; empty if none
         * @throws IllegalArgumentException if a number is negative, or there is no such partition
         */
        public LaneState(int lane, long from, int turn, List<String> cursors, String log) {
            this(lane, BY_POSITION, 0, from, turn, cursors, log);
        }

        /**
         * {@return the same window for another position}
         *
         * @param newPlace how many of the lane's places precede it
         * @param newAfter how many places from it on come before the lane's next one
         */
        public LaneState at(long newPlace, int newAfter) {
            return new LaneState(lane, newPlace, newAfter, from, turn, cursors, log);
        }
    }
}
