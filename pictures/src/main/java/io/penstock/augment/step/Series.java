// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import java.util.stream.IntStream;

/** Functions by their series, in products and sums of binary64: kernels compute the same bits. */
public final class Series {

    private static final double RADIANS = Math.PI / 180;
    private static final double LOG2_E = 1.4426950408889634;
    private static final double LN_2 = 0.6931471805599453;
    /** ln 2 in two parts; small whole numbers times the first are exact. */
    private static final double LN_2_HIGH = 0x1.62e42feep-1;
    private static final double LN_2_LOW = 0x1.a39ef35793c76p-33;
    private static final double ROOT_2 = 1.4142135623730951;
    private static final double LEAST_EXPONENT = -700;
    private static final int EXP_TERMS = 13;
    private static final double[] INVERSES = IntStream.rangeClosed(0, EXP_TERMS).mapToDouble(n -> 1.0 / n).toArray();

    /** The sine of degrees; exact for multiples of 90. */
    public static double sine(double degrees) {
        double quarters = Math.rint(degrees / 90);
        double x = (degrees - 90 * quarters) * RADIANS;
        return switch ((int) ((long) quarters & 3)) {
            case 0 -> x * alternating(x * x, 19);
            case 1 -> alternating(x * x, 20);
            case 2 -> -(x * alternating(x * x, 19));
            default -> -alternating(x * x, 20);
        };
    }

    static double cosine(double degrees) {
        return sine(degrees + 90);
    }

    /** Returns {@code 1 - z / (2 · 3) (1 - z / (4 · 5) (1 - …))} for an odd last k, from {@code 1 · 2} for an even. */
    private static double alternating(double z, int last) {
        double sum = 1;
        for (int k = last; k > 1; k -= 2) {
            sum = 1 - z * (1.0 / (k * (k - 1))) * sum;
        }
        return sum;
    }

    /** The exponential function of a number below 700; 0 below -700. */
    public static double exp(double x) {
        if (!(x > LEAST_EXPONENT)) {
            return 0;
        }
        double k = Math.rint(x * LOG2_E);
        double r = x - k * LN_2_HIGH - k * LN_2_LOW;
        double sum = 1;
        for (int n = EXP_TERMS; n > 0; n--) {
            sum = 1 + r * INVERSES[n] * sum;
        }
        return Math.scalb(sum, (int) k);
    }

    /** The natural logarithm of a positive number. */
    public static double log(double x) {
        int k = Math.getExponent(x);
        double m = Math.scalb(x, -k);
        if (m > ROOT_2) {
            m *= 0.5;
            k++;
        }
        double s = (m - 1) / (m + 1);
        double z = s * s;
        double sum = 0;
        for (int n = 23; n > 0; n -= 2) {
            sum = 1.0 / n + z * sum;
        }
        return 2 * s * sum + k * LN_2;
    }
}
