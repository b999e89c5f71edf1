// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.sampling.Sampler.LaneState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Groups a sampler's order into the batches of one rank: first the rest of the start epoch from the start position,
 * then whole epochs without end. Batches hold a fixed number of samples, or as many as fit in a {@link TokenBudget}.
 *
 * <p>Batch {@code n} is a pure function of {@code n}, so workers plan in parallel, in any order. No batch spans two
 * epochs, and the batches {@code n} of all ranks cover a gapless range of positions. Each of W ranks takes every W-th
 * position, like PyTorch's {@code DistributedSampler}. {@link TailPolicy} handles a tail that the ranks do not divide;
 * {@link #droppingLast} drops an incomplete last batch. {@code docs/spec/sharding.md} and {@code docs/spec/batching.md}
 * specify all of it for ports.
 *
 * <p>Immutable and thread-safe.
 */
public abstract sealed class BatchSampler permits FixedBatches, VaryingBatches, CountedBatches {

    /** A run ends after this many consecutive epochs without a batch. */
    public static final int MOST_EMPTY_EPOCHS = 64;

    /**
     * What decides the batches, besides their size. The start is a place of an {@link EditedOrder} if there are edits.
     */
    record Settings(Sampler sampler, OrderCache orders, Shard shard, boolean dropsLast, String dataset,
            long startEpoch, long startPosition, List<LaneState> lanes, String chain) {

        static Settings of(Sampler sampler, Shard shard) {
            Positions.checkSize(sampler.size());
            return new Settings(sampler, new OrderCache(sampler), Objects.requireNonNull(shard, "shard"), false, "", 0,
                    0, List.of(), "");
        }

        Settings withShard(Shard of) {
            return new Settings(sampler, orders, of, dropsLast, dataset, startEpoch, startPosition, lanes, chain);
        }

        Settings withoutLast() {
            return new Settings(sampler, orders, shard, true, dataset, startEpoch, startPosition, lanes, chain);
        }

        Settings withDataset(String fingerprint) {
            return new Settings(sampler, orders, shard, dropsLast, fingerprint, startEpoch, startPosition, lanes,
                    chain);
        }

        Settings withChain(String delivered) {
            return new Settings(sampler, orders, shard, dropsLast, dataset, startEpoch, startPosition, lanes,
                    delivered);
        }

        /** A run that starts at a position, or a place of an edited order, and has delivered nothing before. */
        Settings from(long epoch, long position, List<LaneState> startLanes) {
            return new Settings(sampler, orders, shard, dropsLast, dataset, epoch, position, startLanes, "");
        }

        /** A run with another order, from its beginning. */
        Settings withSampler(Sampler other) {
            return new Settings(other, new OrderCache(other), shard, dropsLast, dataset, 0, 0, List.of(), "");
        }

        String lastDropped() {
            return dropsLast ? ", last batch dropped" : "";
        }
    }

    final Settings settings;
    /** The order of an edited run; null if the run was not edited. */
    private final @Nullable EditedSampler edited;
    final Shard shard;
    final long size;
    final long startEpoch;

    BatchSampler(Settings settings) {
        this.settings = settings;
        this.edited = settings.sampler instanceof EditedSampler of ? of : null;
        this.shard = settings.shard;
        this.size = settings.sampler.size();
        this.startEpoch = settings.startEpoch;
    }

    /**
     * {@return the batches of one rank, from the first sample of epoch 0, with a fixed number of samples}
     *
     * @param sampler the order
     * @param batchSize samples per rank and step, at least 1
     * @param shard the rank's part
     * @throws IllegalArgumentException if the batch size is below 1, or an epoch has no batch
     */
    public static BatchSampler of(Sampler sampler, int batchSize, Shard shard) {
        if (batchSize < 1) {
            throw new IllegalArgumentException("batch size " + batchSize + ", expected 1 or more samples");
        }
        return fixed(Settings.of(sampler, shard), batchSize);
    }

    static BatchSampler fixed(Settings settings, int batchSize) {
        return settings.sampler instanceof EditedSampler ? new VaryingBatches(settings, batchSize)
                : new FixedBatches(settings, batchSize);
    }

    /**
     * {@return the batches of one rank, from the first sample of epoch 0, each with as many samples as fit in a budget
     * on every rank} Without communication, all ranks take the same number of batches, and the same number of samples
     * in each.
     *
     * <p>Every rank scans the lengths of an epoch's samples in order, once and only as far as requested, to find where
     * batches end; it keeps 8 bytes a batch.
     *
     * @param sampler the order
     * @param budget the capacity of a batch
     * @param lengths the length of each sample of the dataset, in the budget's tokens; called by any thread
     * @param shard the rank's part
     * @throws IllegalArgumentException if a single sample exceeds the budget (the message names it; all samples of the
     *     dataset are checked unless the sampler leaves some out), or if an epoch has fewer samples than there are
     *     ranks
     */
    public static BatchSampler of(Sampler sampler, TokenBudget budget, LongUnaryOperator lengths, Shard shard) {
        Objects.requireNonNull(lengths, "lengths");
        Settings settings = Settings.of(sampler, shard);
        if (sampler.size() == sampler.datasetSize()) {
            budget.checkAll(lengths, sampler.size());
        }
        if (shard.samplesPerRank(sampler.size()) == 0) {
            throw new IllegalArgumentException("no batch in an epoch of " + sampler.size() + " samples: " + shard
                    + "; use fewer ranks or another tail policy");
        }
        return new BudgetBatches(settings, budget, lengths);
    }

    /**
     * {@return the batches of one rank, from the first sample of epoch 0, each of about the same work and within
     * limits, with as many samples as that takes} Without communication, all ranks take the same number of batches.
     * Batch {@code n} of rank r of W is number {@code n · W + r} of those that the order is dealt to, which do not
     * depend on the ranks. The {@link #sampler} of these batches is the dealt order. Under {@link TailPolicy#EXACT} a
     * rank for which no batch is left in the last step gets one without weight.
     *
     * <p>Each window is dealt when it is first needed, in O(n log n); the last few are kept. How many batches an epoch
     * has is known once all of its windows were dealt.
     *
     * @param sampler the order
     * @param budget the work and the limits of a batch
     * @param shard the rank's part; its tail policy is not {@link TailPolicy#DROP}
     * @throws IllegalArgumentException if a cost is outside its range, or a single sample exceeds a limit (the message
     *     names it; all samples of the dataset are checked)
     */
    public static BatchSampler of(Sampler sampler, WorkBudget budget, Shard shard) {
        return WorkBatches.of(Settings.of(WorkBins.sampler(sampler, budget), shard), budget);
    }

    /**
     * The batches of one rank over a stream, whose samples arrive one after another. Each batch has as many samples as
     * fit in a budget on every rank. A sample that alone exceeds the budget is an error at its batch. Keeps 1 MiB.
     *
     * @param sampler the order, of one epoch
     * @param budget the capacity of a batch
     * @param lengths the length of a sample that has arrived, of any rank, in the budget's tokens; called by any thread
     * @param shard the rank's part
     * @return the batch sampler; call {@link #arrived} as samples arrive
     */
    public static BatchSampler arriving(Sampler sampler, TokenBudget budget, LongUnaryOperator lengths, Shard shard) {
        return new BudgetBatches.Arriving(Settings.of(sampler, shard), budget,
                Objects.requireNonNull(lengths, "lengths"));
    }

    /** Returns batches of the same size with other settings. */
    abstract BatchSampler with(Settings changed);

    /** Returns the position in the epoch of rank 0's first sample in a batch. */
    abstract long begin(long epoch, long index);

    abstract int count(long epoch, long index);

    /** Whether this run takes only batches 0 to {@code index} from an epoch. */
    abstract boolean isLast(long epoch, long index);

    /**
     * {@return the same batches, without an incomplete last one in each epoch: one of fewer samples than
     * {@link #batchSize}} This takes precedence over {@link TailPolicy#EXACT}, which then applies to the remaining
     * batches.
     *
     * <p>With a token budget, an epoch may then have no batch and is skipped. {@link #requireBatch} rejects a run in
     * which all epochs are empty.
     *
     * @throws IllegalArgumentException if batches have a fixed size, and an epoch has none
     */
    public BatchSampler droppingLast() {
        return with(settings.withoutLast());
    }

    /**
     * The batches of another rank of as many. What is known of the order and of budgets is shared.
     *
     * @param rank the other rank, from 0
     * @return its batch sampler, at the same place
     * @throws IllegalArgumentException if the rank is outside the world size
     */
    public BatchSampler ofRank(int rank) {
        return with(ofOther(rank));
    }

    final Settings ofOther(int rank) {
        return settings.withShard(new Shard(rank, shard.worldSize(), shard.tail()));
    }

    /**
     * The same batches, with states that identify their dataset.
     *
     * @param fingerprint identifies the dataset, such as its digest
     * @return a batch sampler that writes it into states and rejects states with another
     */
    public BatchSampler withDataset(String fingerprint) {
        return with(settings.withDataset(Objects.requireNonNull(fingerprint, "fingerprint")));
    }

    /**
     * {@return the batches from a position on} Rank r of W takes positions {@code position + r},
     * {@code position + r + W}, …, and the tail policy applies to the rest of the epoch.
     *
     * @param epoch the epoch to start in, from 0
     * @param position the position in the epoch, from 0 up to, not including, the epoch's size
     * @throws IllegalArgumentException if there is no such position
     */
    public BatchSampler startingAt(long epoch, long position) {
        return startingAt(epoch, position, List.of());
    }

    /**
     * {@return the batches from a position of a stream on} As {@link #startingAt(long, long)}.
     *
     * @param epoch the epoch to start in, from 0
     * @param position the position in the epoch, from 0 up to, not including, the epoch's size
     * @param lanes where each lane of the stream continues; empty for a dataset with an index
     * @throws IllegalArgumentException if there is no such position
     * @throws IllegalStateException if edits leave out all samples of very many epochs
     */
    public BatchSampler startingAt(long epoch, long position, List<LaneState> lanes) {
        if (epoch < 0 || epoch >= settings.sampler.epochs()) {
            throw new IllegalArgumentException("epoch " + epoch + ", expected 0 to " + (settings.sampler.epochs() - 1));
        }
        if (edited != null) {
            return startingAt(edited, epoch, position, lanes);
        }
        if (position < 0 || position >= size) {
            throw new IllegalArgumentException("position " + position + ", expected 0 to " + (size - 1));
        }
        return with(settings.from(epoch, position, lanes));
    }

    /** Returns the order as the program gave it, without edits. */
    private Sampler base() {
        return edited == null ? settings.sampler : edited.base();
    }

    /** Whether the samples are those of a stream. */
    private boolean isArriving() {
        return base() instanceof Sampler.Arriving;
    }

    private EditedOrder editedOrder(long epoch) {
        return (EditedOrder) order(epoch);
    }

    /**
     * Starts at the next position that is given, in a later epoch if none is left in this one. A stream stays in its
     * epoch: its lanes have not read on.
     */
    private BatchSampler startingAt(EditedSampler sampler, long epoch, long position, List<LaneState> lanes) {
        EditedOrder order = editedOrder(epoch);
        if (position < 0 || position >= order.end()) {
            throw new IllegalArgumentException("position " + position + ", expected 0 to " + (order.end() - 1));
        }
        long in = epoch;
        long place = sampler.placeOf(order, epoch, position);
        while (!isArriving() && place == sizeOf(in)
                && in + 1 < Math.min(sampler.endEpoch(), sampler.alikeFrom() + 1)) {
            if (in - epoch == MOST_EMPTY_EPOCHS + edits().size()) {
                throw new IllegalStateException("found no sample in epochs " + epoch + " to " + in + ": the edits leave"
                        + " out all, expected some to go on with");
            }
            in++;
            place = 0;
        }
        return with(settings.from(in, place, lanes));
    }

    /**
     * {@return the batches of the same run with edits, in place of those that it may have, from its first position on}
     *
     * @param edits the edits, in the order in which they were made; none for the run without any
     * @throws IllegalArgumentException if the order cannot have them: weights of an order that is not a mixture, or of
     *     more sources than it has, steps of a stream again, or edits of a stream with a token budget
     */
    public BatchSampler edited(List<Edit> edits) {
        if (edits.isEmpty() && edits().isEmpty()) {
            return this;
        }
        if (this instanceof BudgetBatches.Arriving) {
            throw new IllegalArgumentException("found edits of a stream with a token budget, expected batches of a"
                    + " fixed size, or stores");
        }
        return with(settings.withSampler(EditedSampler.of(settings.sampler, edits)));
    }

    /** {@return the edits of the run, in the order in which they were made} */
    public List<Edit> edits() {
        return edited == null ? List.of() : edited.edits();
    }

    /** {@return the first epoch of which nothing is given: the number of epochs, unless an edit ends the run before} */
    public long endEpoch() {
        return edited == null ? settings.sampler.epochs() : edited.endEpoch();
    }

    /**
     * {@return the position of the order without edits that a position is, or stands before if it is given again}
     *
     * @param epoch its epoch
     * @param position a position of this run
     */
    public long drawAt(long epoch, long position) {
        return edited == null ? position : edited.drawAt(epoch, position);
    }

    /**
     * {@return the position from which weights can change in a run that is at a position: that one, or in a stream one
     * that no record was read behind}
     *
     * @param epoch the epoch
     * @param position a position of this run
     * @param lanes where each lane of the stream continues there
     */
    public PositionRange drawFrom(long epoch, long position, List<LaneState> lanes) {
        long draw = drawAt(epoch, position);
        long in = epoch;
        if (base() instanceof Sampler.Arriving stream) {
            long place = stream.unreadFrom(epoch * size + position, lanes);
            in = place / size;
            draw = place % size;
        } else if (draw >= size) {
            in++;
            draw = 0;
        }
        return new PositionRange(in, draw, draw + 1);
    }

    /**
     * {@return the position after all of an epoch: its size, and the number of positions that are given again}
     *
     * @param epoch the epoch
     */
    public long endOf(long epoch) {
        return edited == null ? size : editedOrder(epoch).end();
    }

    /**
     * {@return the weights of a mixture's sources at a position, as whole numbers}
     *
     * @param epoch the epoch
     * @param position the position
     * @throws IllegalArgumentException if the order is not a mixture
     */
    public double[] weights(long epoch, long position) {
        Sampler drawn = edited == null ? settings.sampler : edited.drawn();
        if (drawn instanceof Sampler.Arriving stream && !stream.weights().isEmpty()) {
            List<Double> changed = edited == null ? null : edited.lastWeights();
            List<Double> weights = changed == null ? stream.weights() : changed;
            return IntStream.range(0, stream.weights().size()).mapToDouble(source -> source < weights.size()
                    ? weights.get(source) : 0).toArray();
        }
        if (!(drawn instanceof Mixture mixture)) {
            throw new IllegalArgumentException("found the order " + drawn.fingerprint() + ", expected a mixture");
        }
        return mixture.weights(epoch, Math.min(size - 1, drawAt(epoch, position)));
    }

    /**
     * {@return whether this run's order is a mixture that has more sources than another one, of weight 0, at the end}
     *
     * @param fingerprint the fingerprint of the other one, with the same edits
     */
    public boolean extendsMixture(String fingerprint) {
        if (!(base() instanceof Mixture mixture)) {
            return false;
        }
        for (int sources = mixture.sources() - 1; sources > 0 && mixture.isUnused(sources); sources--) {
            if (fingerprint.equals(mixture.fingerprint(sources) + (edited == null ? "" : edited.suffix()))) {
                return true;
            }
        }
        return false;
    }

    /**
     * A range of positions.
     *
     * @param epoch their epoch
     * @param from the first of them
     * @param end the position after the last of them
     */
    public record PositionRange(long epoch, long from, long end) { }

    /**
     * {@return the positions that all ranks together take in some batches, in the order in which they are given}
     *
     * @param first the first batch's number in this run, from 0
     * @param last the last batch's number
     * @throws IndexOutOfBoundsException if there are no such batches
     */
    public List<PositionRange> positionsOf(long first, long last) {
        List<PositionRange> ranges = new ArrayList<>();
        for (long number = first; number <= last;) {
            long epoch = epochOf(number);
            long firstInEpoch = firstBatchOf(epoch);
            long to = Math.min(last, firstInEpoch + batchesInEpoch(epoch) - 1);
            long place = begin(epoch, number - firstInEpoch);
            long end = begin(epoch, to - firstInEpoch) + positionsOf(to);
            if (edited == null) {
                ranges.add(new PositionRange(epoch, place, end));
            } else {
                editedOrder(epoch).positions(place, end)
                        .forEach(piece -> ranges.add(new PositionRange(epoch, piece[0], piece[1])));
            }
            number = to + 1;
        }
        return ranges;
    }

    /**
     * Returns the position behind the one at the place before, in a stream: where its lanes are, which have not read
     * on.
     */
    private long behind(long epoch, long place) {
        return place == 0 ? 0 : position(epoch, place - 1) + 1;
    }

    /** Returns how many positions of an epoch are given. */
    final long sizeOf(long epoch) {
        return edited == null ? size : order(epoch).size();
    }

    /** Returns the position of an epoch at a place of its order. */
    private long position(long epoch, long place) {
        return edited == null ? place : editedOrder(epoch).position(place);
    }

    /**
     * Plans a batch.
     *
     * @param number the batch's number in this run, from 0
     * @param into the plan to fill, with room for a batch
     * @throws IndexOutOfBoundsException if the number is negative
     * @throws IllegalArgumentException if the plan is too small
     * @throws IllegalStateException if a single sample exceeds the budget (the message names it), or if too many epochs
     *     have no batch, as for {@link #requireBatch}
     */
    public void plan(long number, BatchPlan into) {
        plan(number, into, -1, Integer.MAX_VALUE, Supply.STORED);
    }

    /**
     * Plans a batch of a stream, which may end within it. A surplus sample, where the ranks do not divide what is
     * there, repeats one of the same step: the head of the epoch's order is not in memory any more.
     *
     * @param number the batch's number in this run, from 0
     * @param there how many samples exist from the batch's first position on, over all ranks
     * @param into the plan to fill, with room for a batch
     * @throws RuntimeException as {@link #plan(long, BatchPlan)}
     */
    public void plan(long number, long there, BatchPlan into) {
        plan(number, into, Math.min(sizeOf(epochOf(number)), placeOf(number) + there), countOf(number, there),
                Supply.ARRIVING);
    }

    /** Plans a batch of at most so many samples, of which those before a position exist; below 0 all of the epoch. */
    private void plan(long number, BatchPlan into, long limit, int most, Supply supply) {
        long[] samples = into.samples();
        if (samples.length < batchSize()) {
            throw new IllegalArgumentException("plan of " + samples.length + " samples, expected room for "
                    + batchSize());
        }
        long epoch = epochOf(number);
        long index = number - firstBatchOf(epoch);
        int count = Math.min(most, count(epoch, index));
        int world = shard.worldSize();
        long begin = begin(epoch, index);
        long first = begin + shard.rank();
        long end = limit < 0 ? sizeOf(epoch) : limit;
        int inside = first < end ? (int) Math.min(count, Math.ceilDiv(end - first, (long) world)) : 0;
        Order order = order(epoch);
        if (inside > 0) {
            order.fill(first, world, inside, samples);
        }
        for (int i = inside; i < count; i++) {
            long position = first + (long) i * world;
            samples[i] = order.at(supply.existing(position, shard.rank(), end));
        }
        int valid = shard.tail() == TailPolicy.EXACT ? inside : count;
        into.set(number, epoch, index, first, world, count, valid);
        if (order instanceof EditedOrder pieces) {
            into.place(pieces);
        }
    }

    /**
     * The number of batches that this run takes from an epoch; in the start epoch, from the rest of it. With a token
     * budget, epochs differ, and this scans an epoch that was not scanned yet.
     *
     * @param epoch an epoch, not before the start epoch
     * @return the number of batches, the same on every rank; 0 if too little is left of the start epoch, or if the
     *     whole epoch fits in a dropped last batch
     * @throws IllegalArgumentException if the run starts after that epoch
     */
    public abstract long batchesInEpoch(long epoch);

    /**
     * {@return the epoch of a batch} Epochs without batches are skipped.
     *
     * @param number the batch's number in this run, from 0
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public long epochOf(long number) {
        return epochOf(number, Long.MAX_VALUE);
    }

    /**
     * The epoch of a batch, looking only at epochs before a limit.
     *
     * @param number the batch's number in this run, from 0
     * @param endEpoch the limit, exclusive
     * @return the epoch; {@code endEpoch} if the batch is in none before it
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public abstract long epochOf(long number, long endEpoch);

    /**
     * Rejects a run without batches. This can only occur with a token budget and {@link #droppingLast}, where an
     * epoch that fits in one batch has none: none of the run's epochs has a batch, or none of the first
     * {@value #MOST_EMPTY_EPOCHS}.
     *
     * @param endEpoch the run's end, exclusive; {@link Long#MAX_VALUE} for an endless run
     * @throws IllegalArgumentException if there is no batch
     */
    public abstract void requireBatch(long endEpoch);

    /**
     * {@return the number in this run of the first batch from an epoch, or from a later one if it has none} With a
     * token budget, this scans all earlier epochs that were not scanned yet.
     *
     * @param epoch an epoch, not before the start epoch
     * @throws IllegalArgumentException if the run starts after that epoch
     * @throws IllegalStateException if the run ends before that epoch because it runs out of batches
     */
    public abstract long firstBatchOf(long epoch);

    /**
     * Tells which sample must arrive before a batch is known, without waiting for it.
     *
     * @param number the batch's number in this run, from 0
     * @return the sample's position in the epoch, as rank 0 takes it; -1 if the batch is known, or known not to exist
     */
    public long awaited(long number) {
        return -1;
    }

    /**
     * Called when more samples of a stream have arrived. Does nothing for other datasets.
     *
     * @param position the samples of all positions before this one have arrived
     */
    public void arrived(long position) {
    }

    /**
     * Called when a stream has ended. Does nothing for other datasets.
     *
     * @param position how many samples of the epoch it has
     */
    public void ended(long position) {
    }

    /**
     * {@return the position in its epoch of the first sample of a batch, over all ranks}
     *
     * @param number the batch's number in this run, from 0
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public long positionOf(long number) {
        long epoch = epochOf(number);
        return position(epoch, begin(epoch, number - firstBatchOf(epoch)));
    }

    /**
     * {@return the samples per rank in a batch, even of one that holds a sample above the budget}
     *
     * @param number the batch's number in this run, from 0
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public int countOf(long number) {
        long epoch = epochOf(number);
        return count(epoch, number - firstBatchOf(epoch));
    }

    /**
     * {@return the samples per rank in a batch of a stream that may end within it}
     *
     * @param number the batch's number in this run, from 0
     * @param there how many samples exist from the batch's first position on, over all ranks
     */
    public int countOf(long number, long there) {
        int count = countOf(number);
        long rows = shard.samplesPerRank(there);
        return rows >= count ? count : settings.dropsLast ? 0 : (int) rows;
    }

    /**
     * {@return the rows of a step, of all ranks together, with those that are surplus}
     *
     * @param number the batch's number in this run, from 0
     */
    public long rowsOf(long number) {
        return (long) countOf(number) * shard.worldSize();
    }

    /**
     * {@return whether the rows of a step are those of one rank behind those of another, as in batches by work, where
     * ranks have different numbers of them; otherwise the ranks take turns, row by row}
     */
    public boolean isRankByRank() {
        return false;
    }

    /**
     * {@return the positions of a batch, over all ranks, that are in its epoch}
     *
     * @param number the batch's number in this run, from 0
     */
    public long positionsOf(long number) {
        long epoch = epochOf(number);
        return Math.min((long) countOf(number) * shard.worldSize(), sizeOf(epoch)
                - begin(epoch, number - firstBatchOf(epoch)));
    }

    /**
     * {@return how many positions there are from the first to the last of a batch, over all ranks: more than
     * {@link #positionsOf} if some between them are left out}
     *
     * @param number the batch's number in this run, from 0
     */
    public long spanOf(long number) {
        long places = positionsOf(number);
        return places == 0 ? 0 : position(epochOf(number), placeOf(number) + places - 1) + 1 - positionOf(number);
    }

    /**
     * {@return how many of a batch's positions are among the first of its {@linkplain #spanOf span}}
     *
     * @param number the batch's number in this run, from 0
     * @param span positions from its first one on
     */
    public long positionsWithin(long number, long span) {
        if (span == 0 || edited == null) {
            return span;
        }
        return editedOrder(epochOf(number)).placeOf(positionOf(number) + span, size) - placeOf(number);
    }

    /**
     * {@return the position that follows a batch of a stream that ends within it}
     *
     * @param number the batch's number in this run, from 0
     * @param there how many samples exist from the batch's first position on, over all ranks
     */
    public long positionAfter(long number, long there) {
        long given = Math.min(there, (long) countOf(number, there) * shard.worldSize());
        return given == 0 ? positionOf(number) : position(epochOf(number), placeOf(number) + given - 1) + 1;
    }

    /** {@return the epoch that the run starts in} */
    public long startEpoch() {
        return startEpoch;
    }

    /** {@return the position in the start epoch that the run starts at, over all ranks} */
    public long startPosition() {
        if (isArriving()) {
            return behind(startEpoch, settings.startPosition);
        }
        return edited != null && settings.startPosition >= sizeOf(startEpoch)
                ? edited.endPosition(startEpoch) : position(startEpoch, settings.startPosition);
    }

    /**
     * The same batches, of a run that has delivered something before.
     *
     * @param chain the digest of what it has delivered; empty if none is kept
     * @return a batch sampler that writes it into the state before the first batch
     */
    public BatchSampler withChain(String chain) {
        return with(settings.withChain(chain));
    }

    /** {@return the digest of what the run has delivered before; empty if none is kept} */
    public String startChain() {
        return settings.chain;
    }

    /** {@return how many positions of the start epoch are given before the run starts} */
    public long startPlace() {
        return settings.startPosition;
    }

    /**
     * {@return how many positions of its epoch are given before a batch, over all ranks} This is its first position,
     * unless the run was edited.
     *
     * @param number the batch's number in this run, from 0
     */
    public long placeOf(long number) {
        long epoch = epochOf(number);
        return begin(epoch, number - firstBatchOf(epoch));
    }

    /**
     * {@return whether a batch is the last that this run takes from its epoch}
     *
     * @param number the batch's number in this run, from 0
     */
    public boolean isLastOfEpoch(long number) {
        long epoch = epochOf(number);
        return isLast(epoch, number - firstBatchOf(epoch));
    }

    /**
     * The samples and positions of rows of an epoch, which may be surplus.
     *
     * @param epoch the epoch
     * @param place how many positions of the epoch are given before the first row
     * @param stride the distance between rows
     * @param samples receives the samples
     * @param positions receives their positions, as many
     */
    public void rows(long epoch, long place, int stride, long[] samples, long[] positions) {
        Order order = order(epoch);
        long end = sizeOf(epoch);
        int inside = place < end ? (int) Math.min(samples.length, Math.ceilDiv(end - place, (long) stride)) : 0;
        if (inside > 0) {
            order.fill(place, stride, inside, samples);
        }
        for (int i = 0; i < samples.length; i++) {
            long at = place + (long) i * stride;
            positions[i] = position(epoch, at);
            samples[i] = i < inside ? samples[i] : order.at(at % end);
        }
    }

    /** {@return where each lane of a stream starts; empty for a dataset with an index} */
    public List<LaneState> startLanes() {
        return settings.lanes;
    }

    /** {@return the fingerprint of the dataset; empty if none was set} */
    public String dataset() {
        return settings.dataset;
    }

    /**
     * {@return the position in its epoch that follows a batch of all ranks; 0 after the last batch of the epoch, unless
     * an edit ends the run there}
     *
     * @param number the batch's number in this run, from 0
     * @throws IndexOutOfBoundsException if the number is negative
     */
    public long positionAfter(long number) {
        long epoch = epochOf(number);
        long index = number - firstBatchOf(epoch);
        if (!isLast(epoch, index)) {
            return isArriving() ? behind(epoch, begin(epoch, index + 1)) : position(epoch, begin(epoch, index + 1));
        }
        long end = edited == null ? 0 : edited.endPosition(epoch);
        return end > 0 && isArriving() ? behind(epoch, sizeOf(epoch)) : end;
    }

    /** {@return the most samples per rank and step: the greatest {@link BatchPlan#count()}} */
    public abstract int batchSize();

    /** {@return the rank's shard} */
    public Shard shard() {
        return shard;
    }

    /**
     * {@return the order of an epoch} It is cached, so planning the epoch's batches does not compute it again.
     *
     * @param epoch the epoch, from 0
     */
    public Order order(long epoch) {
        return settings.orders.of(epoch);
    }

    /** {@return the sampler that gives the order} */
    public Sampler sampler() {
        return settings.sampler;
    }

    /** {@return whether an incomplete last batch is dropped} */
    public boolean dropsLast() {
        return settings.dropsLast;
    }

    final long origin(long epoch) {
        return epoch == startEpoch ? settings.startPosition : 0;
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
