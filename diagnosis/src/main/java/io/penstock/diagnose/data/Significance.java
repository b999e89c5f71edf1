// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

/** Converts test statistics to standard deviations of a normal distribution with the same tail. */
final class Significance {

    /**
     * Student's t, at least 0, with at least 1 degree of freedom: Wallace, "Bounds on normal approximations to
     * Student's and the chi-square distributions" (1959).
     */
    static double ofStudent(double t, double freedom) {
        return (8 * freedom + 1) / (8 * freedom + 3) * Math.sqrt(freedom * Math.log1p(t * t / freedom));
    }

    /**
     * A ratio of variances, at least 0, with the degrees of freedom of numerator and denominator: Paulson, "An
     * approximate normalization of the analysis of variance distribution" (1942).
     */
    static double ofFisher(double f, double upper, double lower) {
        double root = Math.cbrt(f);
        return ((1 - 2 / (9 * lower)) * root - (1 - 2 / (9 * upper)))
                / Math.sqrt(2 / (9 * lower) * root * root + 2 / (9 * upper));
    }
}
