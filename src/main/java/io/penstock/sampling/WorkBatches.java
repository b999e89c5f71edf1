// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Arrays;

/**
 * Batches of about the same work: those that {@link WorkBins} dealt, of which each step takes the next one for each
 * rank. Where a step begins is found by counting the batches of windows in order, as far as requested.
 */
final class WorkBatches extends CountedBatches {

    private final WorkBudget budget;
    private final RecentValues<Epoch> epochs;

    private WorkBatches(Settings settings, WorkBudget budget, RecentValues<Epoch> epochs) {
        super(settings);
        this.budget = budget;
        this.epochs = epochs;
    }

    static WorkBatches of(Settings settings, WorkBudget budget) {
        if (settings.shard().tail() == TailPolicy.DROP) {
            throw new IllegalArgumentException("batches by work: found tail policy DROP, expected PAD or EXACT: no"
                    + " sample is left out");
        }
        if (settings.dropsLast()) {
            throw new IllegalArgumentException("batches by work: found the last batch dropped if it is not full,"
                    + " expected to keep it: batches have different numbers of samples");
        }
        if (!(settings.orders().of(settings.startEpoch()) instanceof WorkBins)) {
            throw new IllegalArgumentException("batches by work: found the order " + settings.sampler().fingerprint()
                    + ", expected the one that was dealt to them, without edits");
        }
        var batches = new WorkBatches(settings, budget, new RecentValues<>(epoch -> new Epoch(
                (WorkBins) settings.orders().of(epoch), epoch == settings.startEpoch() ? settings.startPosition() : 0,
                settings.shard().worldSize())));
        batches.epochs.of(settings.startEpoch());       // fails if no batch begins at the position
        return batches;
    }

    @Override
    BatchSampler with(Settings changed) {
        return of(changed, budget);
    }

    /** The batches of a step are the same on every rank. */
    @Override
    public BatchSampler ofRank(int rank) {
        return new WorkBatches(ofOther(rank), budget, epochs);
    }

    @Override
    long begin(long epoch, long index) {
        return epochs.of(epoch).begin(index * shard.worldSize());
    }

    @Override
    int count(long epoch, long index) {
        return epochs.of(epoch).samples(index * shard.worldSize() + shard.rank());
    }

    @Override
    public long rowsOf(long number) {
        long epoch = epochOf(number);
        long first = (number - firstBatchOf(epoch)) * shard.worldSize();
        long rows = 0;
        for (int rank = 0; rank < shard.worldSize(); rank++) {
            rows += epochs.of(epoch).samples(first + rank);
        }
        return rows;
    }

    @Override
    public boolean isRankByRank() {
        return true;
    }

    /** Behind the last batch, those from the start on come again. */
    @Override
    public void rows(long epoch, long place, int stride, long[] samples, long[] positions) {
        Order order = order(epoch);
        long origin = origin(epoch);
        for (int i = 0; i < samples.length; i++) {
            long at = place + (long) i * stride;
            long again = at < size ? at : origin + (at - size) % (size - origin);
            samples[i] = order.at(again);
            positions[i] = at < size ? at : size + again;
        }
    }

    @Override
    public long positionsOf(long number) {
        long after = positionAfter(number);
        return (after == 0 ? size : after) - positionOf(number);
    }

    @Override
    boolean has(long epoch, long index) {
        return epochs.of(epoch).has(index);
    }

    @Override
    public void plan(long number, BatchPlan into) {
        if (into.samples().length < batchSize()) {
            throw new IllegalArgumentException("plan of " + into.samples().length + " samples, expected room for "
                    + batchSize());
        }
        long epoch = epochOf(number);
        long index = number - firstBatchOf(epoch);
        Epoch of = epochs.of(epoch);
        long bin = index * shard.worldSize() + shard.rank();
        boolean isSurplus = !of.hasBin(bin);
        int count = of.fill(bin, into.samples());
        into.set(number, epoch, index, (isSurplus ? size : 0) + of.begin(of.existing(bin)), 1, count,
                isSurplus && shard.tail() == TailPolicy.EXACT ? 0 : count);
    }

    @Override
    public long batchesInEpoch(long epoch) {
        checkStarted(epoch);
        return epochs.of(budget.isCounted() && epoch > startEpoch ? startEpoch + 1 : epoch).steps();
    }

    @Override
    public long epochOf(long number, long endEpoch) {
        if (!budget.isCounted()) {
            return super.epochOf(number, endEpoch);
        }
        checkNumber(number);
        long later = number - batchesInEpoch(startEpoch);
        if (later < 0) {
            return Math.min(endEpoch, startEpoch);
        }
        // An order may have no epoch at the end.
        return startEpoch + 1 >= endEpoch ? endEpoch
                : Math.min(endEpoch, startEpoch + 1 + later / batchesInEpoch(startEpoch + 1));
    }

    @Override
    public long firstBatchOf(long epoch) {
        checkStarted(epoch);
        return !budget.isCounted() ? super.firstBatchOf(epoch) : epoch == startEpoch ? 0 : batchesInEpoch(startEpoch)
                + Math.multiplyExact(epoch - startEpoch - 1, batchesInEpoch(startEpoch + 1));
    }

    /** Does not occur: every epoch has a batch. */
    @Override
    String noBatch(long firstEpoch, long lastEpoch) {
        return "no batch in epochs " + firstEpoch + " to " + lastEpoch;
    }

    @Override
    public int batchSize() {
        return budget.maxSamples();
    }

    /** The batches of an epoch from a position on, which is where one begins, counted from there. */
    private static final class Epoch {

        private static final int FIRST_WINDOWS = 16;

        private final WorkBins order;
        private final int world;
        private final int firstWindow;
        /** Batches of the first window before the position. */
        private final int skipped;
        /** The batches before each known window, and behind the last; the array grows before {@link #known} does. */
        private volatile long[] before = new long[FIRST_WINDOWS];
        private volatile int known;

        Epoch(WorkBins order, long origin, int world) {
            this.order = order;
            this.world = world;
            this.firstWindow = (int) (origin / order.windowSamples());
            int inWindow = (int) (origin % order.windowSamples());
            int found = inWindow == 0 ? -1 : Arrays.binarySearch(order.window(firstWindow).ends(), inWindow);
            if (inWindow > 0 && found < 0) {
                throw new IllegalArgumentException("position " + origin + " is within a batch by work, expected one"
                        + " where a batch begins");
            }
            skipped = found + 1;
        }

        /** The windows of this run. */
        private int windows() {
            return (int) (order.windowCount() - firstWindow);
        }

        /** Counts windows until a batch is in one of them, or there is no other. */
        private void find(long bin) {
            if (total() <= bin && known < windows()) {
                count(bin);
            }
        }

        /** The batches of the known windows. */
        private long total() {
            int windows = known;                        // before the array, which is long enough for it
            return before[windows];
        }

        private synchronized void count(long bin) {
            while (before[known] <= bin && known < windows()) {
                int bins = order.bins(firstWindow + known) - (known == 0 ? skipped : 0);
                if (known + 1 == before.length) {
                    before = Arrays.copyOf(before, 2 * before.length);
                }
                before[known + 1] = before[known] + bins;
                known = known + 1;
            }
        }

        boolean hasBin(long bin) {
            find(bin);
            return bin < total();
        }

        boolean has(long step) {
            return step <= (Long.MAX_VALUE - world) / world && hasBin(step * world);
        }

        long steps() {
            find(Long.MAX_VALUE - 1);
            return Math.ceilDiv(total(), (long) world);
        }

        /** The batch that a rank takes: behind the last one those from the first on again. */
        long existing(long bin) {
            return hasBin(bin) ? bin : bin % total();
        }

        private int windowOf(long bin) {
            int windows = known;
            int found = Arrays.binarySearch(before, 0, windows + 1, bin);
            return found < 0 ? -found - 2 : found;
        }

        private int inWindow(int window, long bin) {
            return (int) (bin - before[window]) + (window == 0 ? skipped : 0);
        }

        long begin(long bin) {
            find(bin);
            int window = windowOf(bin);
            return (long) (firstWindow + window) * order.windowSamples()
                    + order.window(firstWindow + window).begin(inWindow(window, bin));
        }

        int samples(long bin) {
            long taken = existing(bin);
            int window = windowOf(taken);
            WorkBins.Window of = order.window(firstWindow + window);
            int at = inWindow(window, taken);
            return of.ends()[at] - of.begin(at);
        }

        int fill(long bin, long[] into) {
            long taken = existing(bin);
            int window = windowOf(taken);
            WorkBins.Window of = order.window(firstWindow + window);
            int at = inWindow(window, taken);
            int count = of.ends()[at] - of.begin(at);
            System.arraycopy(of.samples(), of.begin(at), into, 0, count);
            return count;
        }
    }
}
