// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.function.LongUnaryOperator;

/**
 * Batches of as many samples as fit in a token budget. {@link BudgetEpoch} derives their ends from the lengths of an
 * epoch's samples in order, as far as requested.
 */
sealed class BudgetBatches extends CountedBatches permits BudgetBatches.Arriving {

    final TokenBudget budget;
    final LongUnaryOperator lengths;
    final RecentValues<BudgetEpoch> epochs;

    BudgetBatches(Settings settings, TokenBudget budget, LongUnaryOperator lengths) {
        this(settings, budget, lengths, epochs(settings, budget, lengths, Supply.STORED));
    }

    private BudgetBatches(Settings settings, TokenBudget budget, LongUnaryOperator lengths,
            RecentValues<BudgetEpoch> epochs) {
        super(settings);
        this.budget = budget;
        this.lengths = lengths;
        this.epochs = epochs;
    }

    private static RecentValues<BudgetEpoch> epochs(Settings settings, TokenBudget budget, LongUnaryOperator lengths,
            Supply supply) {
        return new RecentValues<>(epoch -> new BudgetEpoch(epoch, settings.orders().of(epoch),
                epoch == settings.startEpoch() ? settings.startPosition() : 0, settings.shard(), budget, lengths,
                settings.dropsLast(), supply));
    }

    /** Batches end at the same positions on every rank. */
    @Override
    public BatchSampler ofRank(int rank) {
        return new BudgetBatches(ofOther(rank), budget, lengths, epochs);
    }

    @Override
    BatchSampler with(Settings changed) {
        return new BudgetBatches(changed, budget, lengths);
    }

    @Override
    long begin(long epoch, long index) {
        return index == 0 ? origin(epoch) : epochs.of(epoch).end(index - 1);
    }

    @Override
    int count(long epoch, long index) {
        checkNotBarren(epoch);
        int rows = rows(epoch, index);
        epochs.of(epoch).check(index);
        return rows;
    }

    private int rows(long epoch, long index) {
        return (int) ((epochs.of(epoch).end(index) - begin(epoch, index)) / shard.worldSize());
    }

    @Override
    public int countOf(long number) {
        long epoch = epochOf(number);
        return rows(epoch, number - firstBatchOf(epoch));
    }

    @Override
    boolean has(long epoch, long index) {
        return epochs.of(epoch).has(index);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return epochs.of(epoch).count();
    }

    @Override
    String noBatch(long firstEpoch, long lastEpoch) {
        return "no batch in epochs " + firstEpoch + " to " + lastEpoch + ", each of " + size + " samples: " + shard
                + ", " + budget + settings.lastDropped()
                + "; use a smaller budget, or keep the last batch";
    }

    @Override
    public int batchSize() {
        return budget.maxSamples();
    }

    /** The batches of a stream, whose samples arrive one after another, in one endless epoch. */
    static final class Arriving extends BudgetBatches {

        Arriving(Settings settings, TokenBudget budget, LongUnaryOperator lengths) {
            this(settings, budget, lengths, epochs(settings, budget, lengths, Supply.ARRIVING));
        }

        private Arriving(Settings settings, TokenBudget budget, LongUnaryOperator lengths,
                RecentValues<BudgetEpoch> epochs) {
            super(settings, budget, lengths, epochs);
        }

        private BudgetEpoch epoch() {
            return epochs.of(startEpoch);
        }

        @Override
        public BatchSampler ofRank(int rank) {
            return new Arriving(ofOther(rank), budget, lengths, epochs);
        }

        @Override
        BatchSampler with(Settings changed) {
            return new Arriving(changed, budget, lengths);
        }

        @Override
        boolean isLast(long epoch, long index) {
            return false;
        }

        @Override
        public long batchesInEpoch(long epoch) {
            checkStarted(epoch);
            return size;
        }

        @Override
        public long epochOf(long number, long endEpoch) {
            checkNumber(number);
            return epoch().lacks(number) ? Math.min(endEpoch, startEpoch + 1) : startEpoch;
        }

        @Override
        public long awaited(long number) {
            return epoch().awaited(number);
        }

        @Override
        public void arrived(long position) {
            epoch().arrived(position);
        }

        @Override
        public void ended(long position) {
            epoch().ended(position);
        }
    }
}
