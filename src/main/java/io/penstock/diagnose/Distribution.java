package io.penstock.diagnose;

import java.util.Arrays;

/**
 * How a quantity spreads over the steps of a run. All in one unit, which the component that holds it names.
 *
 * @param count how many values
 * @param mean their mean; NaN if there are none, as everything else here
 * @param p50 the least value that half of all do not exceed
 * @param p95 the same for 95 %
 * @param p99 the same for 99 %
 * @param max the greatest
 */
public record Distribution(long count, double mean, double p50, double p95, double p99, double max) {

    /** Of no values. */
    public static final Distribution NONE =
            new Distribution(0, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);

    /**
     * Of values, in any order.
     *
     * @param values the values
     * @return their distribution
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
