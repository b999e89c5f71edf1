// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Locale;

/**
 * What a batch's critical path did while the trainer waited for it. Causes exclude each other and add up to the wait.
 */
public enum Cause {
    /** No worker had started it: the loader was just opened or repositioned, or its workers were asleep. */
    START,
    /** Its worker waited for a host slot, or the complete batch waited for a device slot. */
    SLOT,
    /** Waiting for samples of a stream whose source had nothing. */
    SOURCE_EMPTY,
    /** Waiting for samples of a stream whose source had more than was read. */
    SOURCE_SLOW,
    /** Determining its samples. */
    PLAN,
    /** Waiting for bytes of remote files that were not in the cache. */
    DOWNLOAD,
    /** Reading: the thread was blocked until storage answered. */
    READ_BLOCKED,
    /** Reading: the thread ran. */
    READ_CPU,
    /** Decompressing or decoding samples, such as JPEG to pixels. */
    DECODE,
    /** Applying sample maps. */
    TRANSFORM,
    /** Copying samples into the slot. */
    COLLATE,
    /** Its worker, or the trainer once the batch was there, was runnable, but another thread had the core. */
    CPU,
    /** A later batch was complete, and only the order kept it from the trainer. */
    ORDER,
    /** Copying to the device. */
    COPY,
    /** The JVM was paused for garbage collection. */
    GC,
    /** Complete but not yet with the trainer: threads waking up. */
    HANDOVER,
    /** Not accounted for. */
    OTHER;

    /** {@return the name in the summary file and in reports: the constant's name in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * {@return the cause with a label}
     *
     * @param label the cause's {@link #label}
     * @throws IllegalArgumentException if no cause has it
     */
    public static Cause of(String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }
}
