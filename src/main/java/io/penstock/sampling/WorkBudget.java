// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * Batches of about the same work on every rank, of as many samples as it takes, each within limits of memory.
 *
 * <pre>
 *   LongUnaryOperator work = sample -&gt; 4096 * length(sample) + length(sample) * length(sample);
 *   WorkBudget budget = WorkBudget.of(64, 16, work).limit(WorkBudget.Limit.sum("tokens", 65_536, lengths));
 *   BatchSampler batches = BatchSampler.of(Sampler.shuffled(size, 1), budget, shard);
 * </pre>
 *
 * <p>The samples of a window are dealt to batches, the most costly first, each to the batch with the least work in
 * which it fits. If one fits in none, there are more batches. The batches do not depend on the ranks of the run: each
 * step takes the next ones, one for each rank, so a run that resumes with other ranks goes on exactly, and evenly. A
 * rank that takes several batches a step, as micro-batches, has even ones. {@link WorkBalance} instead gives each rank
 * the same number of samples.
 *
 * @param costs the work of each sample of the dataset, in any unit, 0 to 2^38 - 1; called by any thread
 * @param group batches that are of about the same work where not all of a window are, because single samples cost more
 *     than a batch should; the ranks of the run, 1 to 2^24
 * @param batchSize samples of a batch on average, at least 1; fewer if limits need it
 * @param steps groups of batches that are dealt out together, at least 1; a window of {@code group × batchSize × steps}
 *     samples, at most 2^24
 * @param maxSamples the most samples in a batch, at least 1
 * @param limits what a batch has room for
 */
public record WorkBudget(LongUnaryOperator costs, int group, int batchSize, int steps, int maxSamples,
        List<Limit> limits) {

    private static final int STEPS = 16;
    private static final int MEAN_TO_MOST = 4;

    /**
     * What a batch has room for: tokens, pixels, bytes.
     *
     * @param unit what is counted, for messages and fingerprints: letters, digits, {@code _} or {@code -}
     * @param most the most in a batch, 1 to 2^40
     * @param sizes the size of each sample of the dataset, not negative; called by any thread
     * @param isPadded whether a batch has its number of samples times the greatest size, instead of their sum
     * @param multipleOf rounds the greatest size up to a multiple of this, if it is padded; at least 1
     */
    public record Limit(String unit, long most, LongUnaryOperator sizes, boolean isPadded, int multipleOf) {

        private static final long MAX_MOST = 1L << 40;

        /**
         * Checks the ranges.
         *
         * @throws IllegalArgumentException if a number is outside its range, or the unit has other characters
         */
        public Limit {
            Objects.requireNonNull(sizes, "sizes");
            if (!unit.matches("[A-Za-z0-9_-]+")) {
                throw new IllegalArgumentException("limit of '" + unit + "', expected a unit of letters, digits, _, -");
            }
            if (most < 1 || most > MAX_MOST || multipleOf < 1) {
                throw new IllegalArgumentException("limit of " + most + " " + unit + ", multiple of " + multipleOf
                        + ", expected 1 to " + MAX_MOST + ", and a multiple of at least 1");
            }
        }

        /**
         * A limit of the sum of sizes.
         *
         * @param unit what is counted
         * @param most the most in a batch
         * @param sizes the size of each sample
         * @return the limit
         */
        public static Limit sum(String unit, long most, LongUnaryOperator sizes) {
            return new Limit(unit, most, sizes, false, 1);
        }

        /**
         * A limit of what a batch has after padding to its longest sample.
         *
         * @param unit what is counted
         * @param most the most in a batch
         * @param sizes the size of each sample
         * @return the limit
         */
        public static Limit padded(String unit, long most, LongUnaryOperator sizes) {
            return new Limit(unit, most, sizes, true, 1);
        }

        /** Whether so many samples fit in a batch. */
        boolean holds(int samples, long sum, long greatest) {
            return isPadded ? Math.ceilDiv(greatest, (long) multipleOf) * multipleOf <= most / samples : sum <= most;
        }

        /** The size of a sample, that fits in a batch of its own. */
        long size(long sample) {
            long size = sizes.applyAsLong(sample);
            if (size < 0 || size > most || !holds(1, size, size)) {
                throw new IllegalArgumentException("sample " + sample + " has " + size + " " + unit + (multipleOf > 1
                        ? ", padded to a multiple of " + multipleOf : "") + ": expected 0 to the limit of " + most
                        + " in a batch (raise the limit, truncate samples, or leave this one out)");
            }
            return size;
        }
    }

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is outside its range
     */
    public WorkBudget {
        Objects.requireNonNull(costs, "costs");
        limits = List.copyOf(limits);
        if (group < 1 || batchSize < 1 || steps < 1 || (long) group * batchSize > WorkBalance.MAX_WINDOW
                || (long) group * batchSize * steps > WorkBalance.MAX_WINDOW || maxSamples < 1) {
            throw new IllegalArgumentException("work budget: " + steps + " steps of " + group + " batches with "
                    + batchSize + " samples each, at most " + maxSamples + ", expected at least 1 of each, and at most "
                    + WorkBalance.MAX_WINDOW + " samples in all");
        }
    }

    /**
     * {@return a budget without limits but 4 times the mean number of samples, with windows of 16 steps, or as many as
     * fit}
     *
     * @param ranks of the run
     * @param batchSize samples of a batch on average
     * @param costs the work of each sample
     * @throws IllegalArgumentException if a number is below 1, or a step has more than 2^24 samples
     */
    public static WorkBudget of(int ranks, int batchSize, LongUnaryOperator costs) {
        long step = Math.max(1, (long) ranks * batchSize);
        return new WorkBudget(costs, ranks, batchSize, Math.clamp(WorkBalance.MAX_WINDOW / step, 1, STEPS),
                (int) Math.min(WorkBalance.MAX_WINDOW, MEAN_TO_MOST * (long) batchSize), List.of());
    }

    /**
     * {@return the same, with windows of another number of steps}
     *
     * @param count groups of batches dealt out together
     * @throws IllegalArgumentException if a window would have more than 2^24 samples
     */
    public WorkBudget over(int count) {
        return new WorkBudget(costs, group, batchSize, count, maxSamples, limits);
    }

    /**
     * {@return the same, with another limit of samples}
     *
     * @param samples the most samples in a batch
     */
    public WorkBudget maxSamples(int samples) {
        return new WorkBudget(costs, group, batchSize, steps, samples, limits);
    }

    /**
     * {@return the same, with one more limit}
     *
     * @param limit what a batch has room for
     */
    public WorkBudget limit(Limit limit) {
        List<Limit> all = new ArrayList<>(limits);
        all.add(limit);
        return new WorkBudget(costs, group, batchSize, steps, maxSamples, all);
    }

    /**
     * Measures how even the first steps of a run are.
     *
     * @param batches of any rank
     * @param mostSteps looks at no more steps than this, and only at whole ones of the first epoch
     * @return the measure
     */
    public WorkBalance.Evenness measure(BatchSampler batches, long mostSteps) {
        int ranks = batches.shard().worldSize();
        List<BatchSampler> all = IntStream.range(0, ranks).mapToObj(batches::ofRank).toList();
        BatchPlan plan = new BatchPlan(batches.batchSize());
        var sum = new WorkBalance.EvennessSum(ranks);
        for (long step = 0; step < mostSteps
                && batches.epochOf(step, batches.startEpoch() + 1) == batches.startEpoch(); step++) {
            for (BatchSampler rank : all) {
                rank.plan(step, plan);
                if (plan.firstPosition() >= batches.sampler().size()) {
                    return sum.evenness();
                }
                long work = 0;
                for (int row = 0; row < plan.count(); row++) {
                    work += costs.applyAsLong(plan.sample(row));
                }
                sum.add(work);
            }
            sum.endStep();
        }
        return sum.evenness();
    }

    /** Whether a window's number of batches follows from its number of samples: all whole epochs have as many. */
    boolean isCounted() {
        return limits.isEmpty();
    }

    int window() {
        return group * batchSize * steps;
    }

    long cost(long sample) {
        return CostlyFirst.cost(costs, sample);
    }
}
