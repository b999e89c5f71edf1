// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * An order in which the samples of each window of another order are dealt to batches of about the same work. The
 * batches follow one another; where each ends is kept with the window.
 */
final class WorkBins implements Order {

    /** Separates these permutations from any others: "WORKBINS". */
    private static final long TAG = 0x574F524B42494E53L;
    /** One more group for each so many that were too few. */
    private static final int GROWTH = 8;

    /**
     * The batches of a window.
     *
     * @param samples of all batches, one batch after the other
     * @param ends where each batch ends in them
     */
    record Window(long[] samples, int[] ends) {
        int begin(int bin) {
            return bin == 0 ? 0 : ends[bin - 1];
        }
    }

    private final Order base;
    private final WorkBudget budget;
    private final long key;
    private final int windowSamples;
    private final RecentValues<Window> windows = new RecentValues<>(this::dealt);

    private WorkBins(Order base, WorkBudget budget, long key) {
        this.base = base;
        this.budget = budget;
        this.key = key;
        this.windowSamples = budget.window();
    }

    /** The sampler with such orders. Fails if a sample is above a limit, whether the order has it or not. */
    static Sampler sampler(Sampler base, WorkBudget budget) {
        long samples = base.datasetSize();
        String limits = budget.limits().stream().map(limit -> (limit.isPadded() ? "padded " : "sum ") + limit.unit()
                + "=" + limit.most() + (limit.multipleOf() > 1 ? "/" + limit.multipleOf() : "") + ":"
                + Sha256.hex(samples, limit::size) + " ").collect(Collectors.joining());
        String fingerprint = "work-packed group=" + budget.group() + " batch=" + budget.batchSize() + " steps="
                + budget.steps() + " samples=" + budget.maxSamples() + " " + limits + "costs="
                + Sha256.hex(samples, budget::cost) + " of " + base.fingerprint();
        return new ComputedSampler(base.size(), samples, base.seed(), base.epochs(), fingerprint,
                epoch -> of(base, budget, epoch));
    }

    static WorkBins of(Sampler base, WorkBudget budget, long epoch) {
        return new WorkBins(base.epoch(epoch), budget, SplitMix64.key(base.seed(), epoch, TAG));
    }

    int windowSamples() {
        return windowSamples;
    }

    long windowCount() {
        return Math.ceilDiv(size(), (long) windowSamples);
    }

    /** Returns how many batches a window has; deals it only if it has to. */
    int bins(long number) {
        return budget.isCounted()
                ? fewestBins(budget, (int) Math.min(windowSamples, size() - number * windowSamples), 0)
                : window(number).ends().length;
    }

    /** As many as the mean and the limits need at least, in whole groups, but no more than there are samples. */
    private static int fewestBins(WorkBudget budget, int samples, long ofLimits) {
        long fewest = Math.max(ofLimits, Math.max(Math.ceilDiv(samples, budget.batchSize()),
                Math.ceilDiv(samples, budget.maxSamples())));
        return (int) Math.min(samples, Math.ceilDiv(fewest, (long) budget.group()) * budget.group());
    }

    Window window(long number) {
        return windows.of(number);
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public long at(long position) {
        Positions.check(position, size());
        return windows.of(position / windowSamples).samples[(int) (position % windowSamples)];
    }

    private Window dealt(long number) {
        long begin = number * windowSamples;
        long[] samples = new long[(int) Math.min(windowSamples, size() - begin)];
        base.fill(begin, 1, samples.length, samples);
        var deal = new Deal(budget, samples);
        int bins = deal.fewestBins();
        while (!deal.into(bins)) {
            bins = Math.min(samples.length, bins + Math.max(1, bins / (GROWTH * budget.group())) * budget.group());
        }
        return arranged(number, deal, bins);
    }

    /** Groups of batches of about the same work, shuffled, and behind them what is left: those of the least work. */
    private Window arranged(long number, Deal deal, int bins) {
        int group = budget.group();
        int whole = bins / group;
        int[] sorted = deal.byWork(bins);
        int[] places = new int[bins];
        Permutation groups = whole == 0 ? null : new Permutation(whole, key, number);
        for (int i = 0; i < bins; i++) {
            int like = i / group;
            int place = groups != null && like < whole ? (int) groups.at(like) : like;
            int size = like < whole ? group : bins - whole * group;
            places[place * group + (i % group + like) % size] = sorted[i];
        }
        return deal.window(places);
    }

    /** The samples of a window, the most costly first, and the bins that they are dealt to. */
    private static final class Deal {

        private final WorkBudget budget;
        private final WorkBudget.Limit[] limits;
        private final long[] samples;
        private final long[] costs;
        /** Of each limit: the size of each sample, and the least of those from it on. */
        private final long[][] sizes;
        private final long[][] least;
        private final int[] binOf;

        private int bins;
        private int[] counts = new int[0];
        private long[] work = new long[0];
        private long[][] sums = new long[0][];
        private long[][] greatest = new long[0][];
        private int[] passed = new int[0];

        Deal(WorkBudget budget, long[] inOrder) {
            this.budget = budget;
            CostlyFirst sorted = CostlyFirst.of(inOrder, budget.costs());
            int count = inOrder.length;
            samples = sorted.samples();
            costs = sorted.costs();
            limits = budget.limits().toArray(WorkBudget.Limit[]::new);
            sizes = new long[limits.length][count];
            least = new long[limits.length][count + 1];
            for (int l = 0; l < limits.length; l++) {
                least[l][count] = 0;
                for (int i = count - 1; i >= 0; i--) {
                    sizes[l][i] = limits[l].size(samples[i]);
                    least[l][i] = i == count - 1 ? sizes[l][i] : Math.min(least[l][i + 1], sizes[l][i]);
                }
            }
            binOf = new int[count];
        }

        int fewestBins() {
            long fewest = 0;
            for (int l = 0; l < limits.length; l++) {
                long sum = 0;
                for (long size : sizes[l]) {
                    sum += size;
                }
                fewest = Math.max(fewest, Math.ceilDiv(sum, limits[l].most()));
            }
            return WorkBins.fewestBins(budget, samples.length, fewest);
        }

        /** Deals all samples to so many bins; false if one does not fit. Each fits in a bin of its own. */
        boolean into(int count) {
            bins = count;
            counts = new int[count];
            work = new long[count];
            sums = new long[limits.length][count];
            greatest = new long[limits.length][count];
            IntHeap open = open(count);
            passed = new int[count];
            for (int i = 0; i < samples.length; i++) {
                int passedOver = 0;
                while (!open.isEmpty() && !fits(open.top(), i)) {
                    int bin = open.pop();
                    if (mayFit(bin, i + 1)) {
                        passed[passedOver++] = bin;
                    }
                }
                if (open.isEmpty()) {
                    return false;
                }
                int bin = open.top();
                add(bin, i);
                if (mayFit(bin, i + 1)) {
                    open.sink();
                } else {
                    open.pop();
                }
                while (passedOver > 0) {
                    open.push(passed[--passedOver]);
                }
            }
            return true;
        }

        private boolean fits(int bin, int sample) {
            if (counts[bin] == budget.maxSamples()) {
                return false;
            }
            for (int l = 0; l < limits.length; l++) {
                if (!hasRoom(bin, l, sizes[l][sample])) {
                    return false;
                }
            }
            return true;
        }

        /** Whether a sample from one on may fit: the least size of each limit does. */
        private boolean mayFit(int bin, int from) {
            if (counts[bin] == budget.maxSamples()) {
                return false;
            }
            for (int l = 0; l < limits.length; l++) {
                if (!hasRoom(bin, l, least[l][from])) {
                    return false;
                }
            }
            return true;
        }

        private boolean hasRoom(int bin, int limit, long size) {
            return limits[limit].holds(counts[bin] + 1, sums[limit][bin] + size,
                    Math.max(greatest[limit][bin], size));
        }

        private void add(int bin, int sample) {
            binOf[sample] = bin;
            counts[bin]++;
            work[bin] += costs[sample];
            for (int l = 0; l < limits.length; l++) {
                sums[l][bin] += sizes[l][sample];
                greatest[l][bin] = Math.max(greatest[l][bin], sizes[l][sample]);
            }
        }

        /** The bins that are not full: the least work first, an empty one before others of no work, then by number. */
        private IntHeap open(int count) {
            var heap = new IntHeap(count) {
                @Override
                boolean isBefore(int a, int b) {
                    return work[a] != work[b] ? work[a] < work[b] : counts[a] != counts[b] ? counts[a] < counts[b]
                            : a < b;
                }
            };
            for (int bin = 0; bin < count; bin++) {
                heap.append(bin);
            }
            return heap;
        }

        /** The bins with the most work first, equal ones by number. */
        int[] byWork(int count) {
            Integer[] sorted = new Integer[count];
            Arrays.setAll(sorted, bin -> bin);
            Arrays.sort(sorted, (a, b) -> Long.compare(work[b], work[a]));
            int[] result = new int[count];
            Arrays.setAll(result, i -> sorted[i]);
            return result;
        }

        /** The samples of bins in an order, of each as they were dealt. */
        Window window(int[] order) {
            int[] ends = new int[bins];
            int[] next = new int[bins];
            int at = 0;
            for (int place = 0; place < bins; place++) {
                next[order[place]] = at;
                at += counts[order[place]];
                ends[place] = at;
            }
            long[] arranged = new long[samples.length];
            for (int i = 0; i < samples.length; i++) {
                arranged[next[binOf[i]]++] = samples[i];
            }
            return new Window(arranged, ends);
        }
    }
}
