// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Objects;
import java.util.function.LongUnaryOperator;

/**
 * Ranks that take the same number of samples a step, and about the same work: what {@link Sampler#workBalanced} makes.
 * A step is as slow as its slowest rank.
 *
 * <pre>
 *   LongUnaryOperator work = sample -&gt; 4096 * length(sample) + length(sample) * length(sample);
 *   Sampler even = Sampler.workBalanced(Sampler.shuffled(size, 1), work, WorkBalance.of(64, 16), 1);
 * </pre>
 *
 * <p>Nothing is communicated: each rank computes the same plan. The samples of a window of steps are dealt out, the
 * most costly first, each to the rank and step with the least work that has room. Where a single sample costs more than
 * a rank's mean, no deal within a window is even; {@link #alike} then makes each step of samples that cost about the
 * same. A step is then no random draw of the data: its samples are alike, and only the steps are shuffled.
 *
 * @param ranks of the run, 1 to 2^24
 * @param batchSize samples a rank takes a step, 1 to 2^24
 * @param steps dealt out together, at least 1; a window of {@code ranks × batchSize × steps} samples, at most 2^24
 * @param isAlike whether a step has samples of about the same cost
 */
public record WorkBalance(int ranks, int batchSize, int steps, boolean isAlike) {

    static final int MAX_WINDOW = 1 << 24;
    private static final int STEPS = 16;

    /**
     * How even a run is.
     *
     * @param steps that were looked at
     * @param mean the slowest rank's work over the mean of the ranks, the mean over the steps; 1 is even
     * @param worst the same, of the least even step
     */
    public record Evenness(long steps, double mean, double worst) {
    }

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is outside its range
     */
    public WorkBalance {
        if (ranks < 1 || batchSize < 1 || steps < 1 || (long) ranks * batchSize > MAX_WINDOW
                || (long) ranks * batchSize * steps > MAX_WINDOW) {
            throw new IllegalArgumentException("work balance: " + steps + " steps of " + ranks + " ranks with "
                    + batchSize + " samples each, expected at least 1 of each, and at most " + MAX_WINDOW
                    + " samples in all");
        }
    }

    /**
     * {@return windows of 16 steps, or as many as fit}
     *
     * @param ranks of the run
     * @param batchSize samples a rank takes a step
     * @throws IllegalArgumentException if a number is below 1, or a step has more than 2^24 samples
     */
    public static WorkBalance of(int ranks, int batchSize) {
        long step = Math.max(1, (long) ranks * batchSize);
        return new WorkBalance(ranks, batchSize, Math.clamp(MAX_WINDOW / step, 1, STEPS), false);
    }

    /**
     * {@return the same, with windows of another number of steps}
     *
     * @param count steps dealt out together
     * @throws IllegalArgumentException if a window would have more than 2^24 samples
     */
    public WorkBalance over(int count) {
        return new WorkBalance(ranks, batchSize, count, isAlike);
    }

    /** {@return the same, where each step has samples of about the same cost} */
    public WorkBalance alike() {
        return new WorkBalance(ranks, batchSize, steps, true);
    }

    /** Samples of a step, over all ranks. */
    int stepSize() {
        return ranks * batchSize;
    }

    int window() {
        return stepSize() * steps;
    }

    /**
     * Measures how even the first steps of an epoch are, for any order: what is gained by balancing it.
     *
     * @param order of an epoch
     * @param costs the cost of each sample, not negative
     * @param mostSteps looks at no more whole steps than this
     * @return the measure; of no step if the epoch has no whole one
     */
    public Evenness measure(Order order, LongUnaryOperator costs, long mostSteps) {
        Objects.requireNonNull(costs, "costs");
        long count = Math.min(mostSteps, order.size() / stepSize());
        long[] samples = new long[batchSize];
        var sum = new EvennessSum(ranks);
        for (long step = 0; step < count; step++) {
            for (int rank = 0; rank < ranks; rank++) {
                order.fill(step * stepSize() + rank, ranks, batchSize, samples);
                long work = 0;
                for (long sample : samples) {
                    work += costs.applyAsLong(sample);
                }
                sum.add(work);
            }
            sum.endStep();
        }
        return sum.evenness();
    }

    /** Sums up how even steps are, one after the other. */
    static final class EvennessSum {

        private final int ranks;
        private long steps;
        private double sum;
        private double worst;
        private long total;
        private long slowest;

        EvennessSum(int ranks) {
            this.ranks = ranks;
        }

        /** Adds the work of one rank in this step. */
        void add(long work) {
            total += work;
            slowest = Math.max(slowest, work);
        }

        void endStep() {
            double over = total == 0 ? 1 : slowest * (double) ranks / total;
            sum += over;
            worst = Math.max(worst, over);
            steps++;
            total = 0;
            slowest = 0;
        }

        /** Returns the evenness of the steps that have ended. */
        Evenness evenness() {
            return new Evenness(steps, steps == 0 ? 1 : sum / steps, steps == 0 ? 1 : worst);
        }
    }
}
