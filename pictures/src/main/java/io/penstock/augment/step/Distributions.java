// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Range;
import java.util.random.RandomGenerator;

/**
 * Numbers of distributions that are not uniform, drawn in binary64 with {@link StrictMath}, so that they are the same
 * on every machine. {@code docs/spec/augment.md} has each operation.
 */
public final class Distributions {

    /** Coefficients of the inverse normal distribution by Peter J. Acklam, whose relative error is below 1.2e-9. */
    private static final double[] A = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
            1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
    private static final double[] B = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
            6.680131188771972e+01, -1.328068155288572e+01, 1};
    private static final double[] C = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
            -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
    private static final double[] D = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
            3.754408661907416e+00, 1};
    private static final double TAIL = 0.02425;

    /** Draws from a range by one word. */
    static double uniform(RandomGenerator random, Range range) {
        return range.low() + (range.high() - range.low()) * random.nextDouble();
    }

    /** Draws from a range of positive numbers by one word, uniformly on a logarithmic scale. */
    static double logUniform(RandomGenerator random, Range range) {
        double lowest = StrictMath.log(range.low());
        return StrictMath.exp(lowest + (StrictMath.log(range.high()) - lowest) * random.nextDouble());
    }

    /** Draws a share between 0 and 1: Beta(a, a), as the ratio of two gamma numbers. */
    public static double beta(RandomGenerator random, double a) {
        double first = logGamma(random, a);
        double second = logGamma(random, a);
        return 1 / (1 + StrictMath.exp(second - first));
    }

    /** Draws shares that sum to 1, Dirichlet with equal parameters, into an array from an index on. */
    static void dirichlet(RandomGenerator random, double a, double[] shares, int at, int count) {
        double greatest = Double.NEGATIVE_INFINITY;
        for (int i = at; i < at + count; i++) {
            shares[i] = logGamma(random, a);
            greatest = Math.max(greatest, shares[i]);
        }
        double sum = 0;
        for (int i = at; i < at + count; i++) {
            shares[i] = StrictMath.exp(shares[i] - greatest);
            sum += shares[i];
        }
        for (int i = at; i < at + count; i++) {
            shares[i] /= sum;
        }
    }

    /**
     * Draws the logarithm of a gamma number, which does not underflow for a small shape. By Marsaglia and Tsang, "A
     * Simple Method for Generating Gamma Variables" (2000).
     */
    static double logGamma(RandomGenerator random, double shape) {
        double boost = 0;
        double enlarged = shape;
        if (shape < 1) {
            boost = StrictMath.log(1 - random.nextDouble()) / shape;
            enlarged = shape + 1;
        }
        double d = enlarged - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = normal(random);
            double t = 1 + c * x;
            if (t > 0) {
                double v = t * t * t;
                double logV = StrictMath.log(v);
                if (StrictMath.log(1 - random.nextDouble()) < 0.5 * x * x + d - d * v + d * logV) {
                    return StrictMath.log(d) + logV + boost;
                }
            }
        }
    }

    /** Draws a normal number by Marsaglia's polar method. */
    static double normal(RandomGenerator random) {
        while (true) {
            double a = 2 * random.nextDouble() - 1;
            double b = 2 * random.nextDouble() - 1;
            double square = a * a + b * b;
            if (square > 0 && square < 1) {
                return a * Math.sqrt(-2 * StrictMath.log(square) / square);
            }
        }
    }

    /** Returns the normal number in the middle of each of {@code n} equally probable parts, as f32. */
    static float[] normalTable(int n) {
        float[] table = new float[n];
        for (int i = 0; i < n / 2; i++) {
            table[n - 1 - i] = (float) -inverseNormal((i + 0.5) / n);
            table[i] = -table[n - 1 - i];
        }
        return table;
    }

    /** Returns the number that a normal one is below with a probability of at most 0.5. */
    static double inverseNormal(double probability) {
        if (probability < TAIL) {
            double q = Math.sqrt(-2 * StrictMath.log(probability));
            return polynomial(C, q) / polynomial(D, q);
        }
        double q = probability - 0.5;
        return polynomial(A, q * q) * q / polynomial(B, q * q);
    }

    private static double polynomial(double[] coefficients, double x) {
        double value = 0;
        for (double coefficient : coefficients) {
            value = value * x + coefficient;
        }
        return value;
    }
}
