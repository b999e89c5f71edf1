package io.penstock.sampling;

import io.penstock.internal.PrefixSums;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongUnaryOperator;

/**
 * Batches of as many samples as fit in a token budget. {@link BudgetEpoch} derives their ends from the lengths of an
 * epoch's samples in order, as far as requested.
 */
final class BudgetBatches extends BatchSampler {

    /** Workers straddle at most two epochs unless an epoch is shorter than the prefetch depth. */
    private static final int SLOTS = 8;

    private final TokenBudget budget;
    private final LongUnaryOperator lengths;
    private final AtomicReferenceArray<BudgetEpoch> epochs = new AtomicReferenceArray<>(SLOTS);
    /** The number of batches in each known epoch from the start epoch on. */
    private volatile PrefixSums epochBatches = PrefixSums.of(new long[1]);
    /** Whether the last known epochs reached the limit of epochs without batches. */
    private volatile boolean barren;

    BudgetBatches(Sampler sampler, OrderCache orders, TokenBudget budget, LongUnaryOperator lengths, Shard shard,
            boolean dropLast, String dataset, long startEpoch, long startPosition) {
        super(sampler, orders, shard, dropLast, dataset, startEpoch, startPosition);
        this.budget = budget;
        this.lengths = lengths;
    }

    @Override
    BatchSampler ofDataset(String fingerprint) {
        return new BudgetBatches(sampler, orders, budget, lengths, shard, dropLast, fingerprint, startEpoch,
                startPosition);
    }

    @Override
    BatchSampler from(long epoch, long position) {
        return new BudgetBatches(sampler, orders, budget, lengths, shard, dropLast, dataset, epoch, position);
    }

    private BudgetEpoch of(long epoch) {
        int slot = (int) (epoch & (SLOTS - 1));
        while (true) {
            BudgetEpoch found = epochs.get(slot);
            if (found != null && found.epoch() == epoch) {
                return found;
            }
            var made = new BudgetEpoch(epoch, orders.of(epoch), origin(epoch), shard, budget, lengths, dropLast);
            if (epochs.compareAndSet(slot, found, made)) {
                return made;
            }
        }
    }

    @Override
    long begin(long epoch, long index) {
        return index == 0 ? origin(epoch) : of(epoch).end(index - 1);
    }

    @Override
    int count(long epoch, long index) {
        if (barren && epoch == startEpoch + epochBatches.runs()) {
            throw new IllegalStateException(noBatch(epoch - MOST_EMPTY_EPOCHS + 1, epoch));
        }
        long end = of(epoch).end(index);
        of(epoch).check(index);
        return (int) ((end - begin(epoch, index)) / shard.worldSize());
    }

    @Override
    boolean isLast(long epoch, long index) {
        return !of(epoch).has(index + 1);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return of(epoch).count();
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
            if (ends || of(startEpoch + last).has(number - known.total())) {
                return startEpoch + last;
            }
            extend(last);
        }
    }

    /** Adds epochs after the last known one, unless the limit of epochs without batches is reached. */
    private synchronized void extend(int last) {
        PrefixSums known = epochBatches;
        if (known.runs() == last && !barren) {
            long count = of(startEpoch + last).count();
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
                + ", " + budget + (dropLast ? ", last batch dropped" : "")
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
}
