// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;
import java.util.function.LongUnaryOperator;

/**
 * Batches of as many samples as fit in a token budget. {@link BudgetEpoch} derives their ends from the lengths of an
 * epoch's samples in order, as far as requested.
 */
sealed class BudgetBatches extends BatchSampler permits BudgetBatches.Arriving {

    final TokenBudget budget;
    final LongUnaryOperator lengths;
    final RecentValues<BudgetEpoch> epochs;
    /** The number of batches in each known epoch from the start epoch on. */
    private volatile PrefixSums epochBatches = PrefixSums.of(new long[1]);
    /** Whether the last known epochs reached the limit of epochs without batches. */
    private volatile boolean barren;

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
        if (barren && epoch == startEpoch + epochBatches.runs()) {
            throw new IllegalStateException(noBatch(epoch - MOST_EMPTY_EPOCHS + 1, epoch));
        }
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
    boolean isLast(long epoch, long index) {
        return !epochs.of(epoch).has(index + 1);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return epochs.of(epoch).count();
    }

    @Override
    public long epochOf(long number, long endEpoch) {
        checkNumber(number);
        while (true) {
            boolean ends = barren;
            PrefixSums known = epochBatches;
            int last = known.runs();
            if (number < known.total()) {
                return Math.min(startEpoch + known.runOf(number), endEpoch);
            }
            if (startEpoch + last >= endEpoch) {
                return endEpoch;
            }
            if (ends || epochs.of(startEpoch + last).has(number - known.total())) {
                return startEpoch + last;
            }
            extend(last);
        }
    }

    /** Adds epochs after the last known one, unless the limit of epochs without batches is reached. */
    private synchronized void extend(int last) {
        PrefixSums known = epochBatches;
        if (known.runs() == last && !barren) {
            long count = epochs.of(startEpoch + last).count();
            if (count == 0 && last + 1 >= MOST_EMPTY_EPOCHS
                    && known.start(last + 1 - MOST_EMPTY_EPOCHS) == known.total()) {
                barren = true;
            } else {
                epochBatches = PrefixSums.ofLengths(last + 1, epoch -> epoch < last ? known.length(epoch) : count);
            }
        }
    }

    private String noBatch(long firstEpoch, long lastEpoch) {
        return "no batch in epochs " + firstEpoch + " to " + lastEpoch + ", each of " + size + " samples: " + shard
                + ", " + budget + settings.lastDropped()
                + "; use a smaller budget, or keep the last batch";
    }

    @Override
    public void requireBatch(long endEpoch) {
        long epoch = epochOf(0, endEpoch);
        boolean none = barren && epochBatches.total() == 0;
        if (none || epoch >= endEpoch && startEpoch < endEpoch) {
            throw new IllegalArgumentException(noBatch(startEpoch, Math.min(epoch, endEpoch - 1)));
        }
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        while (epoch - startEpoch > epochBatches.runs()) {
            if (barren) {
                throw new IllegalStateException(noBatch(startEpoch + epochBatches.runs() + 1 - MOST_EMPTY_EPOCHS,
                        startEpoch + epochBatches.runs()));
            }
            extend(epochBatches.runs());
        }
        return epochBatches.start((int) (epoch - startEpoch));
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
