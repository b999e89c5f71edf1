// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.alert;

import org.jspecify.annotations.Nullable;

/** The state of one rule over time. Not thread-safe. */
final class AlertState {

    record Progress(long atNanos, long batches, long samples, long waitNanos) {
    }

    private final AlertRule rule;
    private final long longestNanos;
    /** Where the current period began; null before the first batch, whose wait includes opening. */
    private @Nullable Progress begin;
    private boolean fired;

    AlertState(AlertRule rule, long longestNanos) {
        this.rule = rule;
        this.longestNanos = longestNanos;
    }

    /** Judges the period if it is complete; returns an alert if the rule's state changed, or null. */
    @Nullable Alert accept(Progress now) {
        if (begin == null) {
            begin = now.batches > 0 ? now : null;
            return null;
        }
        long steps = now.batches - begin.batches;
        double nanos = now.atNanos - begin.atNanos;
        boolean isLong = nanos >= longestNanos;
        if (nanos <= 0 || steps < rule.steps() && !isLong) {
            return null;
        }
        double waitShare = Math.clamp((now.waitNanos - begin.waitNanos) / nanos, 0, 1);
        double value = switch (rule.quantity()) {
            case WAIT_SHARE -> waitShare;
            case UTILIZATION -> 1 - waitShare;
            case SAMPLES_PER_SECOND -> (now.samples - begin.samples) * 1e9 / nanos;
        };
        if (steps == 0 && rule.quantity() != AlertRule.Quantity.SAMPLES_PER_SECOND) {
            return null;                                // a wait is known only when it ends
        }
        begin = now;
        if (fired ? rule.clears(value) : rule.fires(value)) {
            fired = !fired;
            return new Alert(rule, fired ? Alert.State.FIRED : Alert.State.CLEARED, value, now.batches, steps);
        }
        return null;
    }
}
