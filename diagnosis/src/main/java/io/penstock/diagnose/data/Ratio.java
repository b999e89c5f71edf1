// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import java.util.function.IntToDoubleFunction;

/**
 * A ratio of two sums over the replicates with its standard error, from the replicates' spread: the linearized ratio
 * estimator for cluster samples (Cochran, "Sampling Techniques", 3rd ed., 1977, section 6.3), without the
 * finite-population correction.
 */
record Ratio(double value, double error, int replicates) {

    static Ratio of(long[] upper, long[] lower) {
        return of(replicate -> upper[replicate], replicate -> lower[replicate]);
    }

    static Ratio mean(Moments moments, int channel) {
        return of(r -> moments.mean[moments.index(r, channel)] * moments.count[moments.index(r, channel)],
                r -> moments.count[moments.index(r, channel)]);
    }

    static Ratio variance(Moments moments, int channel) {
        double mean = mean(moments, channel).value;
        return of(r -> {
            int i = moments.index(r, channel);
            return moments.squares[i] + moments.count[i] * square(moments.mean[i] - mean);
        }, r -> moments.count[moments.index(r, channel)]);
    }

    private static Ratio of(IntToDoubleFunction upper, IntToDoubleFunction lower) {
        double upperSum = 0;
        double lowerSum = 0;
        int replicates = 0;
        for (int r = 0; r < DataProfile.REPLICATES; r++) {
            upperSum += upper.applyAsDouble(r);
            lowerSum += lower.applyAsDouble(r);
            replicates += lower.applyAsDouble(r) > 0 ? 1 : 0;
        }
        double value = upperSum / lowerSum;
        double residuals = 0;
        for (int r = 0; r < DataProfile.REPLICATES; r++) {
            residuals += square(upper.applyAsDouble(r) - value * lower.applyAsDouble(r));
        }
        double error = Math.sqrt(residuals * replicates / Math.max(1, replicates - 1)) / lowerSum;
        return new Ratio(value, error, replicates);
    }

    /**
     * The distance from another ratio, in standard deviations of a normal distribution with the same tail: Welch's
     * test, its t converted to z.
     */
    double zFrom(Ratio other) {
        double difference = value - other.value;
        double ours = error * error;
        double theirs = other.error * other.error;
        double variance = ours + theirs;
        if (difference == 0 || !(variance > 0)) {
            return difference == 0 ? 0 : Math.copySign(Double.POSITIVE_INFINITY, difference);
        }
        double freedom = variance * variance
                / (ours * ours / (replicates - 1) + theirs * theirs / (other.replicates - 1));
        return Math.copySign(Significance.ofStudent(Math.abs(difference) / Math.sqrt(variance), freedom), difference);
    }

    private static double square(double x) {
        return x * x;
    }
}
