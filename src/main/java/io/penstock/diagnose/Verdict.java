package io.penstock.diagnose;

import java.util.Locale;

/**
 * The verdicts on a run. The first ones, up to {@link #NO_DATA}, are about the step and have the names and thresholds
 * of TraceML; the others say what within the input pipeline is behind them.
 */
public enum Verdict {
    /** Waiting for input takes at least 10 % of the step; from 20 % on, critical. From 5 % on it is worth knowing. */
    INPUT_BOUND,
    /** Copying to the device takes at least 10 % of the step, by the device's clock; from 20 % on, critical. */
    H2D_BOUND,
    /** Time that nothing accounts for takes at least 10 % of the step; from 20 % on, critical. */
    RESIDUAL_HEAVY,
    /** Computing takes at least 90 % of the step, and nothing else 10 %. */
    COMPUTE_BOUND,
    /** One rank's input holds up the others. */
    INPUT_STRAGGLER,
    /** One rank's copies hold up the others. */
    H2D_STRAGGLER,
    /** One rank's computing holds up the others. */
    COMPUTE_STRAGGLER,
    /** One rank holds up the others, and no single phase of it is behind that. */
    STRAGGLER,
    /** Nothing stands out. */
    BALANCED,
    /** Too few steps to tell. */
    WARMUP,
    /** Some ranks, or some clocks, are missing. */
    INCOMPLETE_DATA,
    /** There are no steps. */
    NO_DATA,

    /** Half of the time that reading takes, or more, is waiting for storage. */
    STORAGE,
    /** The same, under mapped memory: page faults bring the bytes in. */
    PAGE_FAULT,
    /** Storage gave at least twice the bytes that went into batches. */
    READ_AMPLIFIED,
    /** Decoding is the largest part of the wait, and it computes. */
    DECODE,
    /** Transforming is the largest part of the wait. */
    TRANSFORM,
    /** Collating is the largest part of the wait. */
    COLLATE,
    /** Planning is the largest part of the wait. */
    PLAN,
    /** Batches wait for slots while the trainer waits for batches. */
    SLOT_STARVED,
    /** Later batches stand ready while the next in order is not. */
    ORDER_BLOCKED,
    /** Workers could run, and have no core. */
    CPU_OVERSUBSCRIBED,
    /** The JVM's pauses take at least 5 % of the steps. */
    GC_STALL,
    /** The first batch of a run or an epoch takes more than ten median steps to come. */
    COLD_START,
    /** Steps of more than twice the median hold at least 5 % of the time. */
    TAIL_STALL,
    /** Copies run at less than half of the rate that was probed. */
    H2D_SLOW,
    /** Copies start from memory that is not page-locked. */
    UNPINNED,
    /** The loader is ahead of the trainer, with capacity to spare. */
    LOADER_AHEAD;

    /**
     * Whether it is a verdict on the step, rather than on the input pipeline.
     *
     * @return true for the ones up to {@link #NO_DATA}
     */
    public boolean isOfStep() {
        return compareTo(NO_DATA) <= 0;
    }

    /**
     * The name in the summary file.
     *
     * @return for example {@code INPUT_BOUND}
     */
    public String kind() {
        return name();
    }

    /**
     * The name in reports.
     *
     * @return for example {@code INPUT-BOUND}; those of two nouns with a space
     */
    public String label() {
        return switch (this) {
            case NO_DATA, INCOMPLETE_DATA, INPUT_STRAGGLER, H2D_STRAGGLER, COMPUTE_STRAGGLER ->
                name().replace('_', ' ');
            default -> name().replace('_', '-');
        };
    }

    /**
     * The verdict of a name in either spelling, as an option on the command line gives it.
     *
     * @param name for example {@code input-bound}
     * @return the verdict
     * @throws IllegalArgumentException if there is none
     */
    public static Verdict of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_').replace(' ', '_'));
    }
}
