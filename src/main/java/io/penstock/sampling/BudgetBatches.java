package io.penstock.sampling;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongUnaryOperator;

/**
 * Batches of as many samples as fit in a token budget. Their ends follow from the lengths of an epoch's samples in
 * order; {@link BudgetEpoch} finds them as far as they are asked for.
 */
final class BudgetBatches extends BatchSampler {

    /** Workers straddle at most two epochs unless an epoch is shorter than the prefetch depth. */
    private static final int SLOTS = 8;

    private final TokenBudget budget;
    private final LongUnaryOperator lengths;
    private final AtomicReferenceArray<BudgetEpoch> epochs = new AtomicReferenceArray<>(SLOTS);
    /** The number of the first batch of each epoch from the start epoch on, as far as epochs are known. */
    private volatile long[] firsts = {0};

    BudgetBatches(Sampler sampler, OrderCache orders, TokenBudget budget, LongUnaryOperator lengths, Shard shard,
            boolean dropLast, String dataset, long startEpoch, long startPosition) {
        super(sampler, orders, shard, dropLast, dataset, startEpoch, startPosition);
        this.budget = budget;
        this.lengths = lengths;
    }

    /** Whether the start epoch has a batch. */
    boolean hasBatch() {
        return of(startEpoch).has(0);
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
        return (int) ((of(epoch).end(index) - begin(epoch, index)) / shard.worldSize());
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
    public long epochOf(long number) {
        checkNumber(number);
        while (true) {
            long[] known = firsts;
            int last = known.length - 1;
            if (number < known[last]) {
                int found = Arrays.binarySearch(known, number);
                // Of equal numbers, the last is the epoch that has batches.
                int at = found >= 0 ? found : -found - 2;
                while (at < last && known[at + 1] == number) {
                    at++;
                }
                return startEpoch + at;
            }
            if (of(startEpoch + last).has(number - known[last])) {
                return startEpoch + last;
            }
            extend(last);
        }
    }

    /** Goes on behind the last epoch that is known. */
    private synchronized void extend(int last) {
        long[] known = firsts;
        if (known.length - 1 == last) {
            long[] more = Arrays.copyOf(known, known.length + 1);
            long count = of(startEpoch + last).count();
            if (count == 0 && origin(startEpoch + last) == 0) {
                throw new IllegalStateException("no batch in epoch " + (startEpoch + last) + " of " + size
                        + " samples: " + shard + ", " + budget + (dropLast ? ", last batch dropped" : ""));
            }
            more[last + 1] = known[last] + count;
            firsts = more;
        }
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        while (epoch - startEpoch >= firsts.length) {
            extend(firsts.length - 1);
        }
        return firsts[(int) (epoch - startEpoch)];
    }

    @Override
    public int batchSize() {
        return budget.maxSamples();
    }
}
