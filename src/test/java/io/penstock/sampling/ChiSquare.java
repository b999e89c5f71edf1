// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Chi-square tests at a significance of 1e-6. */
final class ChiSquare {

    /** The normal quantile of 1e-6, one-sided. */
    private static final double Z = 4.7534;

    private ChiSquare() {
    }

    /** Asserts that counts could come of the expected ones; those that are expected to be 0 are. */
    static void assertFollows(String what, long[] counts, double[] expected) {
        double statistic = 0;
        int degrees = -1;
        for (int i = 0; i < counts.length; i++) {
            if (expected[i] == 0) {
                assertTrue(counts[i] == 0, what + ": " + counts[i] + " of what cannot be");
            } else {
                double deviation = counts[i] - expected[i];
                statistic += deviation * deviation / expected[i];
                degrees++;
            }
        }
        // Wilson and Hilferty's cube-root approximation (1931).
        double root = 1 - 2.0 / (9 * degrees) + Z * Math.sqrt(2.0 / (9 * degrees));
        double limit = degrees * root * root * root;
        double found = statistic;
        assertTrue(found < limit, () -> what + ": chi-square " + found + " above " + limit);
    }
}
