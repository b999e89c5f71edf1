// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts on a run. Those up to {@link #NO_DATA} are about the step, with TraceML's names and thresholds; the
 * others name the cause in the input pipeline.
 */
public enum Verdict {
    /** Waiting for input takes at least 10 % of the step; critical from 20 %, information from 5 %. */
    INPUT_BOUND("input_wait", "input"),
    /** Copying to the device takes at least 10 % of the step, by the device's clock; critical from 20 %. */
    H2D_BOUND("h2d", "h2d"),
    /** Unaccounted time takes at least 10 % of the step; critical from 20 %. */
    RESIDUAL_HEAVY("residual_proxy", "residual"),
    /** Computing takes at least 90 % of the step, and nothing else 10 %. */
    COMPUTE_BOUND("compute", "compute"),
    /** One rank's input delays the others. */
    INPUT_STRAGGLER("input_wait", "input"),
    /** One rank's copies delay the others. */
    H2D_STRAGGLER("h2d", "h2d"),
    /** One rank's computing delays the others. */
    COMPUTE_STRAGGLER("forward", "forward"),
    /** One rank delays the others, and no single phase explains it. */
    STRAGGLER("backward", "sync"),
    /** Nothing stands out. */
    BALANCED,
    /** Too few steps for a verdict. */
    WARMUP,
    /** Some ranks, or some clocks, are missing. */
    INCOMPLETE_DATA,
    /** There are no steps. */
    NO_DATA,

    /** The trainer waits for a stream whose source has nothing. */
    SOURCE_EMPTY,
    /** The trainer waits for a stream whose source has more than was read. */
    SOURCE_SLOW,
    /** At least half of reading time is waiting for storage. */
    STORAGE,
    /** At least half of reading time is waiting for page faults of mapped memory. */
    PAGE_FAULT,
    /** Waiting for bytes of remote files that were not in the cache takes at least 5 % of the step. */
    DOWNLOAD,
    /** At most half of the bytes that were fetched of remote files were read. */
    OVERFETCHED,
    /** Storage delivered at least twice the bytes that went into batches. */
    READ_AMPLIFIED,
    /** Decoding is the largest part of the wait, and it uses the CPU. */
    DECODE,
    /** Transforming is the largest part of the wait. */
    TRANSFORM,
    /** A few samples take a large part of a step's time, for which the trainer waits. */
    SLOW_SAMPLES,
    /** Collating is the largest part of the wait. */
    COLLATE,
    /** Planning is the largest part of the wait. */
    PLAN,
    /** Batches wait for slots while the trainer waits for batches. */
    SLOT_STARVED,
    /** Later batches are ready while the next in order is not. */
    ORDER_BLOCKED,
    /** Workers are runnable but have no core. */
    CPU_OVERSUBSCRIBED,
    /** The JVM's pauses take at least 5 % of the steps. */
    GC_STALL,
    /** The first batch of a run or an epoch takes more than ten median steps. */
    COLD_START,
    /** Steps longer than twice the median take at least 5 % of the time. */
    TAIL_STALL,
    /** Copies run at less than half of the measured rate. */
    H2D_SLOW,
    /** Copies start from memory that is not page-locked. */
    UNPINNED,
    /** By the device's clock, the trainer's stream works for less than 70 % of the step. */
    DEVICE_IDLE,
    /** The GPU is busy for less than 70 % of the time while the trainer computes; a warning below 30 %. */
    GPU_IDLE,
    /** Heat, power or hardware hold the GPU's clocks down. */
    GPU_THROTTLED,
    /** Other processes compute on the GPU. */
    GPU_SHARED,
    /** The PCIe link runs below what device and slot can, while the GPU works. */
    LINK_DEGRADED,
    /** Memory, open files or threads grow with the steps. */
    MEMORY_CREEP,
    /** The control group used up its processor time in at least 5 % of its periods. */
    CPU_THROTTLED,
    /** A step takes longer than in earlier runs like this, by more than their noise. */
    SLOWER_THAN_BEFORE,
    /** The loader is ahead of the trainer, with capacity to spare. */
    LOADER_AHEAD;

    /** TraceML's names of the metric and of the part of the step that the verdict is about; null without one. */
    final @Nullable String metric;
    final @Nullable String part;

    Verdict() {
        this(null, null);
    }

    Verdict(@Nullable String metric, @Nullable String part) {
        this.metric = metric;
        this.part = part;
    }

    boolean isOfStraggler() {
        return name().endsWith("STRAGGLER");
    }

    /**
     * {@return whether it is a verdict on the step, like those up to {@link #NO_DATA}; the others are on the input
     * pipeline}
     */
    public boolean isOfStep() {
        return compareTo(NO_DATA) <= 0;
    }

    /** {@return the name in reports, for example {@code INPUT-BOUND}; two nouns are separated by a space} */
    public String label() {
        return switch (this) {
            case NO_DATA, INCOMPLETE_DATA, INPUT_STRAGGLER, H2D_STRAGGLER, COMPUTE_STRAGGLER ->
                name().replace('_', ' ');
            default -> name().replace('_', '-');
        };
    }

    /**
     * {@return the verdict with a name, in either spelling}
     *
     * @param name for example {@code input-bound}
     * @throws IllegalArgumentException if no verdict has it
     */
    public static Verdict of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_').replace(' ', '_'));
    }
}
