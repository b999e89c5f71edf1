package io.penstock.diagnose.alert;

/** One rule over time: fires once, clears once. Of one thread. */
final class AlertState {

    /**
     * How far a loader has come.
     *
     * @param atNanos when that was
     * @param batches batches given
     * @param samples samples in them
     * @param waitNanos time that the trainer waited for them
     */
    record Progress(long atNanos, long batches, long samples, long waitNanos) {
    }

    private final AlertRule rule;
    private final long longestNanos;
    /** Where the stretch at hand began; null before the first batch, whose time is that of opening. */
    private Progress begin;
    private boolean fired;

    AlertState(AlertRule rule, long longestNanos) {
        this.rule = rule;
        this.longestNanos = longestNanos;
    }

    /** Judges the stretch if it is complete; gives an alert if the rule's state has changed, or null. */
    Alert accept(Progress now) {
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
        double value = switch (rule.measure()) {
            case WAIT_SHARE -> waitShare;
            case UTILISATION -> 1 - waitShare;
            case SAMPLES_PER_SECOND -> (now.samples - begin.samples) * 1e9 / nanos;
        };
        if (steps == 0 && rule.measure() != AlertRule.Measure.SAMPLES_PER_SECOND) {
            return null;                                // a wait is known when it is over
        }
        begin = now;
        if (fired ? rule.clears(value) : rule.fires(value)) {
            fired = !fired;
            return new Alert(rule, fired ? Alert.State.FIRED : Alert.State.CLEARED, value, now.batches, steps);
        }
        return null;
    }
}
