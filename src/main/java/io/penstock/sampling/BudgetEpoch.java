// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Finds the batch ends of one epoch from its first position on, as far as requested. A batch grows by one sample on
 * every rank while it fits in the budget on every rank, so its end is the same for all.
 *
 * <p>Assumes that lengths are a pure function. Reading a known end takes two volatile reads; one thread at a time finds
 * more, and some beyond the requested one.
 */
final class BudgetEpoch {

    private static final int SAMPLES_AT_ONCE = 1024;
    private static final int BATCHES_AHEAD = 16;
    private static final int FIRST_ENDS = 64;

    private final long epoch;
    private final Order order;
    private final TokenBudget budget;
    private final LongUnaryOperator lengths;
    private final boolean dropLast;
    private final int world;
    private final Shard shard;
    /** The end of the positions that exist. Of a stream, known once it has ended, before the last batch is. */
    private volatile long size;
    /** The end of the positions that ranks take; surplus positions are at or past the epoch's size. */
    private long limit;
    private final Supply supply;

    /**
     * The ends of the first {@link #known} batches; of a stream, only of the latest of these. The array's length is a
     * power of two, and it grows before {@link #known} does. If a batch is impossible because a single sample exceeds
     * the budget, the complement of its end is stored.
     */
    private volatile long[] ends = new long[FIRST_ENDS];
    private volatile long known;
    private volatile boolean complete;

    // State of the thread that finds more ends.
    private long next;
    /** The positions whose samples are there. */
    private long arrived;
    private int count;
    private long longest;
    private final long @Nullable [] sums;
    /** The length of each rank's next sample, read once: reading one may fail, and then none may be added. */
    private final long[] added;
    private final long[] samples = new long[SAMPLES_AT_ONCE];
    private long samplesFrom;
    private int sampleCount;

    BudgetEpoch(long epoch, Order order, long origin, Shard shard, TokenBudget budget, LongUnaryOperator lengths,
            boolean dropLast, Supply supply) {
        this.epoch = epoch;
        this.order = order;
        this.budget = budget;
        this.lengths = lengths;
        this.dropLast = dropLast;
        this.shard = shard;
        this.world = shard.worldSize();
        this.size = order.size();
        this.limit = origin + shard.samplesPerRank(size - origin) * world;
        this.next = origin;
        this.supply = supply;
        this.arrived = supply.arrivedFrom(origin);
        this.sums = budget.cost() == TokenBudget.Cost.SUM ? new long[world] : null;
        this.added = new long[world];
    }

    /** Whether the epoch has a batch of that index, even an impossible one, which {@link #check} reports. */
    boolean has(long index) {
        if (index >= known && !complete) {
            find(index);
        }
        return index < known;
    }

    /** The first position whose sample must arrive before a batch, or its absence, is known; -1 if it is known. */
    synchronized long awaited(long index) {
        return has(index) || complete ? -1 : next;
    }

    /** Called when all samples before a position have arrived. */
    synchronized void arrived(long position) {
        arrived = Math.max(arrived, position);
    }

    /** Called when the stream has ended: no position from this one on has a sample. */
    synchronized void ended(long position) {
        size = position;
        limit = next + shard.samplesPerRank(position - next) * world;
        arrived = Math.max(arrived, limit);
    }

    /** Whether it is known that there is no such batch. */
    boolean lacks(long index) {
        return complete && index >= known;
    }

    /** Throws if an existing batch holds a sample that alone exceeds the budget. */
    void check(long index) {
        long end = stored(index);
        for (int rank = 0; end < 0 && rank < world; rank++) {
            long sample = order.at(existing(~end - world + rank, rank));
            if (!budget.fits(lengths.applyAsLong(sample))) {
                throw new IllegalStateException(budget.misfit(sample, lengths.applyAsLong(sample)));
            }
        }
    }

    long end(long index) {
        if (!has(index)) {
            throw new IndexOutOfBoundsException("batch " + index + " of epoch " + epoch + ", which has " + known);
        }
        long end = stored(index);
        return end < 0 ? ~end : end;
    }

    private long stored(long index) {
        long[] known = ends;
        return known[(int) (index & known.length - 1)];
    }

    long count() {
        has(Long.MAX_VALUE);
        return known;
    }

    private synchronized void find(long index) {
        while (!complete && (index >= known || known < index + BATCHES_AHEAD)) {
            if (next == limit) {
                if (count == budget.maxSamples() || count > 0 && !dropLast) {
                    publish(next);
                }
                complete = true;
            } else if (next + world > arrived) {
                return;
            } else if (take()) {
                count++;
                next += world;
            } else if (count > 0) {
                publish(next);
            } else {
                next += world;                          // an impossible batch of one sample
                publish(~next);
            }
        }
    }

    /** Adds one sample on each rank, if they fit. */
    private boolean take() {
        if (count == budget.maxSamples()) {
            return false;
        }
        long most = longest;
        long room = budget.tokens() / (count + 1);          // for each of that many samples
        for (int rank = 0; rank < world; rank++) {
            long length = length(next + rank, rank);
            added[rank] = length;
            most = Math.max(most, length);
            boolean fits = sums == null ? budget.alone(most) <= room : sums[rank] + length <= budget.tokens();
            if (length < 0 || !fits) {
                return false;
            }
        }
        longest = most;
        for (int rank = 0; sums != null && rank < world; rank++) {
            sums[rank] += added[rank];
        }
        return true;
    }

    private void publish(long end) {
        if (known == ends.length && known < supply.mostBatches()) {
            ends = Arrays.copyOf(ends, Math.multiplyExact(ends.length, 2));
        }
        ends[(int) (known & ends.length - 1)] = end;
        known = known + 1;
        count = 0;
        longest = 0;
        if (sums != null) {
            Arrays.fill(sums, 0);
        }
    }

    /** Returns the length of the sample that a rank takes at a position, or -1 if it alone exceeds the budget. */
    private long length(long position, int rank) {
        long length = lengths.applyAsLong(sample(existing(position, rank)));
        return budget.fits(length) ? length : -1;
    }

    /** The position whose sample a rank takes at one that may be surplus. */
    private long existing(long position, int rank) {
        return position < size ? position : supply.existing(position, rank, size);
    }

    private long sample(long position) {
        if (position < samplesFrom || position >= samplesFrom + sampleCount) {
            // With summed lengths, ranks are scanned twice: this goes back to the batch's next position.
            samplesFrom = position;
            sampleCount = (int) Math.min(SAMPLES_AT_ONCE, Math.min(size, arrived) - position);
            order.fill(position, 1, sampleCount, samples);
        }
        return samples[(int) (position - samplesFrom)];
    }
}
