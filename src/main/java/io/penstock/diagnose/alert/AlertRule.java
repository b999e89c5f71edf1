// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.alert;

import java.util.Locale;
import java.util.Objects;

/**
 * A condition on a loader's output, judged by the mean over consecutive periods of a number of steps. Between the
 * threshold and the clear threshold it neither fires nor clears, so an oscillating value is reported only once.
 *
 * @param name its name in callbacks and logs
 * @param quantity the quantity
 * @param threshold fires below it, or for {@link Quantity#WAIT_SHARE} above it
 * @param clearThreshold clears beyond it, on the good side of the threshold
 * @param steps batches per period
 */
public record AlertRule(String name, Quantity quantity, double threshold, double clearThreshold, long steps) {

    /** Default distance from a threshold to its clear threshold: a tenth. */
    private static final double HYSTERESIS = 0.1;

    /** The quantities that rules judge. */
    public enum Quantity {
        /** The share of time that the trainer did not wait for a batch, 0 to 1; low is bad. */
        UTILIZATION,
        /** Samples per second; low is bad. */
        SAMPLES_PER_SECOND,
        /** The share of time that the trainer waited for a batch, 0 to 1; high is bad. */
        WAIT_SHARE;

        boolean isHighBad() {
            return this == WAIT_SHARE;
        }

    /** The name as text: {@code wait share}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * Checks the rule.
     *
     * @throws IllegalArgumentException if there are no steps, a share is not 0 to 1, or it would clear where it fires
     */
    public AlertRule {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(quantity, "quantity");
        double most = quantity == Quantity.SAMPLES_PER_SECOND ? Double.MAX_VALUE : 1;
        if (steps < 1 || !(threshold >= 0 && threshold <= most && clearThreshold >= 0 && clearThreshold <= most)) {
            throw new IllegalArgumentException("alert '" + name + "': found " + steps + " steps and thresholds "
                    + threshold + " and " + clearThreshold + ", expected at least 1 step and 0 to " + most);
        }
        if (quantity.isHighBad() ? clearThreshold > threshold : clearThreshold < threshold) {
            throw new IllegalArgumentException("alert '" + name + "': found clear threshold " + clearThreshold
                    + ", expected one that does not fire the alert at " + threshold);
        }
    }

    /**
     * Fires when the share of time without waiting falls below a threshold; clears a tenth above it, at most at 1.
     *
     * @param threshold 0 to 1
     * @param steps batches per period
     * @return the rule
     */
    public static AlertRule utilizationBelow(double threshold, long steps) {
        return new AlertRule("utilization below " + threshold, Quantity.UTILIZATION, threshold,
                Math.max(threshold, Math.min(1, threshold * (1 + HYSTERESIS))), steps);
    }

    /**
     * Fires when throughput falls below a threshold, even to 0; clears a tenth above it.
     *
     * @param samplesPerSecond at least 0
     * @param steps batches per period
     * @return the rule
     */
    public static AlertRule throughputBelow(double samplesPerSecond, long steps) {
        return new AlertRule("throughput below " + samplesPerSecond, Quantity.SAMPLES_PER_SECOND, samplesPerSecond,
                samplesPerSecond * (1 + HYSTERESIS), steps);
    }

    /**
     * Fires when the share of time spent waiting exceeds a threshold; clears a tenth below it.
     *
     * @param threshold 0 to 1
     * @param steps batches per period
     * @return the rule
     */
    public static AlertRule waitAbove(double threshold, long steps) {
        return new AlertRule("wait above " + threshold, Quantity.WAIT_SHARE, threshold, threshold * (1 - HYSTERESIS),
                steps);
    }

    boolean fires(double value) {
        return quantity.isHighBad() ? value > threshold : value < threshold;
    }

    boolean clears(double value) {
        return quantity.isHighBad() ? value <= clearThreshold : value >= clearThreshold;
    }
}
