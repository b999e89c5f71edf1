package io.penstock.sampling;

import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * Groups a sampler's order into the batches of one rank, from a start position on, first through the rest of the start
 * epoch and then through whole epochs without end: batches of equally many samples, or of as many as fit in a
 * {@link TokenBudget}.
 *
 * <p>Batch {@code n} is a pure function of {@code n}, so workers compute their plans in parallel, in any order, and
 * agree. No batch spans two epochs, and the batches number {@code n} of all ranks cover a range of positions without a
 * gap. The rank takes every W-th of them, as PyTorch's {@code DistributedSampler} has it; {@link TailPolicy} says what
 * becomes of a tail that the ranks do not divide, and {@code dropLast} whether a last batch that is not full is given.
 * {@code docs/spec/sharding.md} and {@code docs/spec/batching.md} fix all of it for ports.
 *
 * <p>Immutable, and safe for any number of threads.
 */
public abstract sealed class BatchSampler permits FixedBatches, BudgetBatches {

    /** A run has no batch any more once so many epochs one behind the other have none. */
    public static final int MOST_EMPTY_EPOCHS = 64;

    final Sampler sampler;
    final OrderCache orders;
    final Shard shard;
    final boolean dropLast;
    final String dataset;
    final long size;
    final long startEpoch;
    final long startPosition;

    BatchSampler(Sampler sampler, OrderCache orders, Shard shard, boolean dropLast, String dataset, long startEpoch,
            long startPosition) {
        this.sampler = sampler;
        this.orders = orders;
        this.shard = shard;
        this.dropLast = dropLast;
        this.dataset = dataset;
        this.startEpoch = startEpoch;
        this.startPosition = startPosition;
        size = sampler.size();
    }

    /**
     * The batches of one rank, from the first sample of epoch 0, of equally many samples.
     *
     * @param sampler the order
     * @param batchSize samples a rank takes a step, at least 1
     * @param shard the rank's part
     * @param dropLast whether a last batch of fewer than {@code batchSize} samples is left out; this goes before
     *        {@link TailPolicy#EXACT}, which then holds for the batches that are given
     * @return the batch sampler
     * @throws IllegalArgumentException if the batch size is below 1, or an epoch has not a single batch
     */
    public static BatchSampler of(Sampler sampler, int batchSize, Shard shard, boolean dropLast) {
        Objects.requireNonNull(shard, "shard");
        if (batchSize < 1) {
            throw new IllegalArgumentException("batch size " + batchSize + ", expected 1 or more samples");
        }
        Positions.checkSize(sampler.size());
        BatchSampler result = new FixedBatches(sampler, new OrderCache(sampler), batchSize, shard, dropLast, "", 0, 0);
        if (result.batchesInEpoch(0) == 0) {
            throw new IllegalArgumentException("no batch in an epoch of " + sampler.size() + " samples: " + shard
                    + ", batch size " + batchSize + (dropLast ? ", last batch dropped" : "")
                    + "; fewer ranks, a smaller batch or another tail policy would leave some");
        }
        return result;
    }

    /**
     * The batches of one rank, from the first sample of epoch 0, each of as many samples as fit in a budget on every
     * rank: the ranks take equally many batches, and of each batch equally many samples, without asking each other.
     *
     * <p>Where batches end is found by going through the lengths of an epoch's samples in order, once on every rank,
     * as far as batches are asked for; 8 bytes a batch are kept. With {@code dropLast} an epoch may have no batch: it
     * is passed over. {@link #requireBatch} refuses a run whose epochs all are such.
     *
     * @param sampler the order
     * @param budget what a batch has room for
     * @param lengths the length of each sample of the dataset, as it is counted against the budget; asked by any thread
     * @param shard the rank's part
     * @param dropLast whether the last batch of an epoch is left out if it has fewer than the most samples
     * @return the batch sampler
     * @throws IllegalArgumentException if a sample does not fit in the budget alone, which is named; all of the dataset
     *     are looked at, unless the sampler leaves some out; or if the ranks are more than an epoch has samples for
     */
    public static BatchSampler of(Sampler sampler, TokenBudget budget, LongUnaryOperator lengths, Shard shard,
            boolean dropLast) {
        Objects.requireNonNull(shard, "shard");
        Objects.requireNonNull(lengths, "lengths");
        Positions.checkSize(sampler.size());
        if (sampler.size() == sampler.datasetSize()) {
            budget.checkAll(lengths, sampler.size());
        }
        if (shard.samplesPerRank(sampler.size()) == 0) {
            throw new IllegalArgumentException("no batch in an epoch of " + sampler.size() + " samples: " + shard
                    + "; fewer ranks or another tail policy would leave some");
        }
        return new BudgetBatches(sampler, new OrderCache(sampler), budget, lengths, shard, dropLast, "", 0, 0);
    }

    /** The same batches, with another text for the dataset. */
    abstract BatchSampler ofDataset(String fingerprint);

    /** The batches from a place on that exists. */
    abstract BatchSampler from(long epoch, long position);

    /** Where in its epoch a batch begins, all ranks together: the position of rank 0's first sample. */
    abstract long begin(long epoch, long index);

    /** How many samples a batch has. */
    abstract int count(long epoch, long index);

    /** Whether this run takes no more from an epoch than batches 0 to {@code index}. */
    abstract boolean isLast(long epoch, long index);

    /**
     * The same batches, with states that name the dataset they belong to.
     *
     * @param fingerprint what tells the dataset from another, such as its digest
     * @return a batch sampler that writes it into states and refuses a state that has another
     */
    public BatchSampler withDataset(String fingerprint) {
        return ofDataset(Objects.requireNonNull(fingerprint, "fingerprint"));
    }

    /**
     * The batches from a place on. Rank r of W takes positions {@code position + r}, {@code position + r + W}, …, and
     * the tail policy applies to what is left of the epoch.
     *
     * @param epoch the epoch to start in, from 0
     * @param position the position in it, from 0 up to, not including, the epoch's size
     * @return a batch sampler whose batch 0 is there
     * @throws IllegalArgumentException if there is no such place
     */
    public BatchSampler startingAt(long epoch, long position) {
        if (epoch < 0 || epoch >= sampler.epochs()) {
            throw new IllegalArgumentException("epoch " + epoch + ", expected 0 to " + (sampler.epochs() - 1));
        }
        if (position < 0 || position >= size) {
            throw new IllegalArgumentException("position " + position + ", expected 0 to " + (size - 1));
        }
        return from(epoch, position);
    }

    /**
     * The batches that follow a state, which may come from a run with other ranks, workers, batch size or budget.
     *
     * @param state what was given before
     * @return a batch sampler whose batch 0 starts with the next sample
     * @throws StateMismatchException if the state is of another dataset or order, or at a place that this order lacks
     */
    public BatchSampler resume(LoaderState state) {
        List<String> differences = state.differences(startState());
        if (state.epoch() >= sampler.epochs()) {
            differences.add("epoch: the state has " + state.epoch() + ", this run has epochs 0 to "
                    + (sampler.epochs() - 1));
        }
        if (state.position() >= size) {
            differences.add("position: the state has " + state.position() + ", this run has positions 0 to "
                    + (size - 1));
        }
        if (!differences.isEmpty()) {
            throw new StateMismatchException(differences);
        }
        return startingAt(state.epoch(), state.position());
    }

    /**
     * Works out a batch.
     *
     * @param number the batch's number in this run, from 0
     * @param into the plan to fill, with room for a batch
     * @throws IndexOutOfBoundsException if the number is negative
     * @throws IllegalArgumentException if the plan is too small
     * @throws IllegalStateException if a sample does not fit in the budget alone, which is named; or if none of many
     *     epochs has a batch, as {@link #requireBatch} says it
     */
    public void plan(long number, BatchPlan into) {
        long[] samples = into.samples();
        if (samples.length < batchSize()) {
            throw new IllegalArgumentException("plan of " + samples.length + " samples, expected room for "
                    + batchSize());
        }
        long epoch = epochOf(number);
        long index = number - firstBatchOf(epoch);
        int count = count(epoch, index);
        int world = shard.worldSize();
        long first = begin(epoch, index) + shard.rank();
        int inside = first < size ? (int) Math.min(count, Math.ceilDiv(size - first, (long) world)) : 0;
        Order order = orders.of(epoch);
        if (inside > 0) {
            order.fill(first, world, inside, samples);
        }
        for (int i = inside; i < count; i++) {
            samples[i] = order.at((first + (long) i * world) % size);
        }
        int valid = shard.tail() == TailPolicy.EXACT ? inside : count;
        into.set(number, epoch, index, first, world, count, valid);
    }

    /**
     * How many batches this run takes from an epoch: the rest of it in the epoch that the run starts in. With a token
     * budget, epochs differ, and one that was not gone through is gone through now.
     *
     * @param epoch an epoch, not before the one the run starts in
     * @return the number of batches, the same on every rank; 0 where too little is left of the start epoch, or where
     *     all of an epoch fits in a budget's last batch, which is dropped
     * @throws IllegalArgumentException if the run starts after that epoch
     */
    public abstract long batchesInEpoch(long epoch);

    /**
     * The epoch a batch belongs to. Epochs without batches are passed over.
     *
     * @param number the batch's number in this run, from 0
     * @return the epoch
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public long epochOf(long number) {
        return epochOf(number, Long.MAX_VALUE);
    }

    /**
     * The epoch a batch belongs to, as far as an epoch: of those from there on, none is looked at.
     *
     * @param number the batch's number in this run, from 0
     * @param endEpoch the first epoch that does not matter
     * @return the epoch; {@code endEpoch} if the batch is of none before
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public abstract long epochOf(long number, long endEpoch);

    /**
     * Refuses a run without batches. That can only be with a token budget and {@code dropLast}, where an epoch that
     * fits in one batch has none: none of the run's epochs has a batch, or none of the first
     * {@value #MOST_EMPTY_EPOCHS}.
     *
     * @param endEpoch the first epoch that the run does not go through; {@link Long#MAX_VALUE} if it has no end
     * @throws IllegalArgumentException if there is no batch
     */
    public abstract void requireBatch(long endEpoch);

    /**
     * A batch's number in its epoch, as {@link BatchPlan#indexInEpoch()} counts it.
     *
     * @param number the batch's number in this run, from 0
     * @return from 0
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public long indexInEpoch(long number) {
        return number - firstBatchOf(epochOf(number));
    }

    /**
     * The first batch that this run takes from an epoch, or from one behind it if it has none. With a token budget, all
     * epochs before are gone through that were not.
     *
     * @param epoch an epoch, not before the one the run starts in
     * @return that batch's number in this run
     * @throws IllegalArgumentException if the run starts after that epoch
     * @throws IllegalStateException if the run ends before it for want of batches
     */
    public abstract long firstBatchOf(long epoch);

    /**
     * The state before the first batch.
     *
     * @return the start position
     */
    public LoaderState startState() {
        return new LoaderState(startEpoch, startPosition, sampler.seed(), sampler.fingerprint(), dataset);
    }

    /**
     * The state once every rank has been given its batch {@code number}. It is the same on every rank.
     *
     * @param number the batch's number in this run, from 0
     * @return where the next run starts; after the last batch of an epoch, the head of the next epoch
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public LoaderState stateAfter(long number) {
        long epoch = epochOf(number);
        long index = number - firstBatchOf(epoch);
        boolean epochDone = isLast(epoch, index);
        return new LoaderState(epochDone ? epoch + 1 : epoch, epochDone ? 0 : begin(epoch, index + 1),
                sampler.seed(), sampler.fingerprint(), dataset);
    }

    /**
     * The most samples that a rank takes a step.
     *
     * @return the largest {@link BatchPlan#count()} that plans have
     */
    public abstract int batchSize();

    /**
     * The rank's part.
     *
     * @return the shard this was made with
     */
    public Shard shard() {
        return shard;
    }

    /**
     * Where the order comes from.
     *
     * @return the sampler this was made with
     */
    public Sampler sampler() {
        return sampler;
    }

    /**
     * Whether a last batch that is not full is left out.
     *
     * @return the setting this was made with
     */
    public boolean dropLast() {
        return dropLast;
    }

    final long origin(long epoch) {
        return epoch == startEpoch ? startPosition : 0;
    }

    final void checkStarted(long epoch) {
        if (epoch < startEpoch) {
            throw new IllegalArgumentException("epoch " + epoch + ", expected " + startEpoch + " or later");
        }
    }

    static void checkNumber(long number) {
        if (number < 0) {
            throw new IndexOutOfBoundsException("batch " + number + ", expected 0 or more");
        }
    }
}
