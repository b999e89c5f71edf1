// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Arrays;

/**
 * The distribution of a quantity over a run's steps. The component that holds it names the unit.
 *
 * @param count number of values
 * @param mean their mean; NaN without values, like all that follow
 * @param p50 the median: the smallest value that at least half of all do not exceed
 * @param p95 the same for 95 %
 * @param p99 the same for 99 %
 * @param max the maximum
 */
public record Distribution(long count, double mean, double p50, double p95, double p99, double max) {

    /** The distribution of no values. */
    public static final Distribution NONE =
            new Distribution(0, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

    /**
     * {@return the distribution of values}
     *
     * @param values the values
     */
    public static Distribution of(double[] values) {
        if (values.length == 0) {
            return NONE;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Distribution(sorted.length, Arrays.stream(sorted).average().orElseThrow(), quantile(sorted, 0.5),
                quantile(sorted, 0.95), quantile(sorted, 0.99), sorted[sorted.length - 1]);
    }

    private static double quantile(double[] sorted, double share) {
        return sorted[(int) Math.max(0, Math.ceil(share * sorted.length) - 1)];
    }
}
