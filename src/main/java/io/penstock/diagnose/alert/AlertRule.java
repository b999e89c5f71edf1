package io.penstock.diagnose.alert;

import java.util.Locale;
import java.util.Objects;

/**
 * A condition on what a loader gives, over so many steps. It is judged at the end of every such stretch, by the mean
 * over it. Between the threshold and the one to clear lies what neither fires nor clears, so that a value that wavers
 * about the threshold is told once and not at every turn.
 *
 * @param name what callbacks and logs call it
 * @param measure what is judged
 * @param threshold fires below it, or for {@link Measure#WAIT_SHARE} above it
 * @param clearThreshold clears beyond it, on the good side of the threshold
 * @param steps over how many batches
 */
public record AlertRule(String name, Measure measure, double threshold, double clearThreshold, long steps) {

    /** A tenth: from a threshold to where it clears, if nothing else is said. */
    private static final double HYSTERESIS = 0.1;

    /** What a rule is about. */
    public enum Measure {
        /** The share of time that the trainer did not wait for a batch, 0 to 1; low is bad. */
        UTILISATION,
        /** Samples a second; low is bad. */
        SAMPLES_PER_SECOND,
        /** The share of time that the trainer waited for a batch, 0 to 1; high is bad. */
        WAIT_SHARE;

        boolean isHighBad() {
            return this == WAIT_SHARE;
        }

        /** For people: {@code wait share}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if there are no steps, a share is not 0 to 1, or it would clear where it fires
     */
    public AlertRule {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(measure, "measure");
        double most = measure == Measure.SAMPLES_PER_SECOND ? Double.MAX_VALUE : 1;
        if (steps < 1 || !(threshold >= 0 && threshold <= most && clearThreshold >= 0 && clearThreshold <= most)) {
            throw new IllegalArgumentException("alert '" + name + "': found " + steps + " steps and thresholds "
                    + threshold + " and " + clearThreshold + ", expected at least 1 step and 0 to " + most);
        }
        if (measure.isHighBad() ? clearThreshold > threshold : clearThreshold < threshold) {
            throw new IllegalArgumentException("alert '" + name + "': found clear threshold " + clearThreshold
                    + ", expected one that does not fire the alert at " + threshold);
        }
    }

    /**
     * Fires when the share of time without waiting is below a threshold; clears a tenth above it, at most at 1.
     *
     * @param threshold 0 to 1
     * @param steps over how many batches
     * @return the rule
     */
    public static AlertRule utilisationBelow(double threshold, long steps) {
        return new AlertRule("utilisation below " + threshold, Measure.UTILISATION, threshold,
                Math.max(threshold, Math.min(1, threshold * (1 + HYSTERESIS))), steps);
    }

    /**
     * Fires when fewer samples a second are given; clears a tenth above. Also where none come at all.
     *
     * @param samplesPerSecond at least 0
     * @param steps over how many batches
     * @return the rule
     */
    public static AlertRule throughputBelow(double samplesPerSecond, long steps) {
        return new AlertRule("throughput below " + samplesPerSecond, Measure.SAMPLES_PER_SECOND, samplesPerSecond,
                samplesPerSecond * (1 + HYSTERESIS), steps);
    }

    /**
     * Fires when the share of time spent waiting is above a threshold; clears a tenth below it.
     *
     * @param threshold 0 to 1
     * @param steps over how many batches
     * @return the rule
     */
    public static AlertRule waitAbove(double threshold, long steps) {
        return new AlertRule("wait above " + threshold, Measure.WAIT_SHARE, threshold, threshold * (1 - HYSTERESIS),
                steps);
    }

    boolean fires(double value) {
        return measure.isHighBad() ? value > threshold : value < threshold;
    }

    boolean clears(double value) {
        return measure.isHighBad() ? value <= clearThreshold : value >= clearThreshold;
    }
}
