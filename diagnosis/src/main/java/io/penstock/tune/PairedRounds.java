// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.util.Arrays;

/**
 * The ratio of two settings' throughput, from rounds in which they took turns.
 *
 * <p>Both settings of a round ran in the same phase of the machine, so the ratio within a round varies less than the
 * rates, and drift cancels. The estimate is the Hodges-Lehmann estimator: the median of all pairwise averages of the
 * log ratios. The interval belongs to Wilcoxon's signed-rank test, with its exact distribution (Hollander, Wolfe and
 * Chicken, Nonparametric Statistical Methods, 3rd edition, 3.2 to 3.3). It assumes only that the noise of a ratio is
 * symmetric: one stalled round hardly moves it.
 *
 * @param ratio the estimate, 1 if equally fast; NaN without rounds
 * @param low the true ratio lies below it with probability at most alpha; 0 with too few rounds
 * @param high the true ratio lies above it likewise; infinite with too few rounds
 * @param rounds number of rounds compared
 */
public record PairedRounds(double ratio, double low, double high, int rounds) {

    /**
     * Compares two settings by their throughput in the rounds that both have; {@code alpha} is the risk at each end of
     * the interval. Returns the first relative to the other.
     */
    static PairedRounds of(double[] rates, double[] others, double alpha) {
        int n = Math.min(rates.length, others.length);
        if (n == 0) {
            return new PairedRounds(Double.NaN, 0, Double.POSITIVE_INFINITY, 0);
        }
        double[] logs = new double[n];
        for (int i = 0; i < n; i++) {
            logs[i] = Math.log(Math.max(rates[i], Double.MIN_NORMAL) / Math.max(others[i], Double.MIN_NORMAL));
        }
        double[] averages = new double[n * (n + 1) / 2];
        int at = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                averages[at++] = (logs[i] + logs[j]) / 2;
            }
        }
        Arrays.sort(averages);
        int outside = countOutside(n, alpha);
        double low = outside == 0 ? 0 : Math.exp(averages[outside - 1]);
        double high = outside == 0 ? Double.POSITIVE_INFINITY : Math.exp(averages[averages.length - outside]);
        return new PairedRounds(Math.exp(median(averages)), low, high, n);
    }

    /** The largest k for which the signed-rank sum of n differences is below k with probability at most alpha. */
    static int countOutside(int n, double alpha) {
        double[] ways = new double[n * (n + 1) / 2 + 1];
        ways[0] = 1;
        for (int rank = 1; rank <= n; rank++) {
            for (int sum = ways.length - 1; sum >= rank; sum--) {
                ways[sum] += ways[sum - rank];
            }
        }
        double allowed = alpha * Math.pow(2, n);
        double below = 0;
        int k = 0;
        while (k < ways.length && below + ways[k] <= allowed) {
            below += ways[k++];
        }
        return k;
    }

    static double median(double[] sorted) {
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}
