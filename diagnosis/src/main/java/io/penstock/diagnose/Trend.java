// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

/**
 * The slope of a series of measurements by least squares, with its interval. Measurements that follow each other are
 * alike, so they count as fewer: n (1 − r) / (1 + r), where r is the correlation of a residual with the next one
 * (Bartlett 1946; Wilks, <i>Statistical Methods in the Atmospheric Sciences</i>, section 5.2.4).
 *
 * @param slope by unit of x
 * @param low lower end of its 95 % interval; negative infinity of too few measurements
 * @param high upper end
 * @param lastHalf the slope of the last half of the measurements
 */
record Trend(double slope, double low, double high, double lastHalf) {

    /** Below this, the interval would say more than the measurements do. */
    private static final double LEAST_FREEDOM = 3;

    static Trend of(double[] x, double[] y) {
        double[] line = fit(x, y, 0);
        double squares = 0;
        double products = 0;
        double before = 0;
        for (int i = 0; i < x.length; i++) {
            double residual = y[i] - line[0] - line[1] * x[i];
            squares += residual * residual;
            products += i == 0 ? 0 : residual * before;
            before = residual;
        }
        double likeness = squares == 0 ? 0 : Math.clamp(products / squares, 0, 0.999);
        double freedom = x.length * (1 - likeness) / (1 + likeness) - 2;
        if (!(freedom >= LEAST_FREEDOM)) {
            return new Trend(line[1], Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, Double.NaN);
        }
        // Student's t for 95 %, within 2 % from 3 degrees of freedom on.
        double t = 1.96 + 2.4 / freedom + 3.8 / (freedom * freedom);
        double width = t * Math.sqrt(squares / (x.length - 2) / line[2] * x.length / (freedom + 2));
        return new Trend(line[1], line[1] - width, line[1] + width, fit(x, y, x.length / 2)[1]);
    }

    /** The line through the measurements from an index on: where it meets 0, its slope, the squares of x. */
    private static double[] fit(double[] x, double[] y, int from) {
        double meanX = 0;
        double meanY = 0;
        int count = x.length - from;
        for (int i = from; i < x.length; i++) {
            meanX += x[i] / count;
            meanY += y[i] / count;
        }
        double squares = 0;
        double products = 0;
        for (int i = from; i < x.length; i++) {
            squares += (x[i] - meanX) * (x[i] - meanX);
            products += (x[i] - meanX) * (y[i] - meanY);
        }
        double slope = products / squares;
        return new double[] {meanY - slope * meanX, slope, squares};
    }
}
