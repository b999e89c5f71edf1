// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * An interval to draw a number from, uniformly.
 *
 * @param low the least number
 * @param high the greatest, at least {@code low}
 */
public record Range(double low, double high) {

    /**
     * Checks the order.
     *
     * @throws IllegalArgumentException if a bound is not finite or {@code low} exceeds {@code high}
     */
    public Range {
        if (!Double.isFinite(low) || !Double.isFinite(high) || low > high) {
            throw new IllegalArgumentException("a range from " + low + " to " + high);
        }
    }

    /**
     * A range.
     *
     * @param low the least number
     * @param high the greatest, at least {@code low}
     * @return the range
     * @throws IllegalArgumentException if a bound is not finite or {@code low} exceeds {@code high}
     */
    public static Range of(double low, double high) {
        return new Range(low, high);
    }

    /**
     * Checks that the bounds are positive: a range of areas or ratios.
     *
     * @param what the range's name, for the message
     * @throws IllegalArgumentException if one is not
     */
    public void checkPositive(String what) {
        if (low <= 0) {
            throw new IllegalArgumentException(what + " " + this + ", expected positive numbers");
        }
    }

    /** For example {@code 0.08..1.0}. */
    @Override
    public String toString() {
        return low + ".." + high;
    }
}
