package io.penstock.diagnose;

import java.util.Locale;

/**
 * What a batch's critical path was doing while the trainer waited for it. The causes of a wait exclude each other and
 * add up to it.
 */
public enum Cause {
    /** No worker had begun with it: the loader was just opened or moved, or its workers were asleep. */
    START,
    /** Its worker waited for a host slot, or it waited, made, for a device slot. */
    SLOT,
    /** Working out which samples make it. */
    PLAN,
    /** Reading: the thread stood still until storage answered. */
    READ_BLOCKED,
    /** Reading: the thread ran. */
    READ_CPU,
    /** Decoding samples. */
    DECODE,
    /** Maps of samples. */
    TRANSFORM,
    /** Copying samples into the slot. */
    COLLATE,
    /** Its worker, or the trainer once it was there, could run, and another thread had the core. */
    CPU,
    /** A later batch stood made, and order alone kept it from the trainer. */
    ORDER,
    /** On the way to the device. */
    COPY,
    /** The JVM stood still to collect garbage. */
    GC,
    /** Made, and not yet in the trainer's hands: threads waking up. */
    HANDOVER,
    /** Not accounted for. */
    OTHER;

    /**
     * The name in the summary file and in reports.
     *
     * @return the constant's name in lower case
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The cause of a label.
     *
     * @param label what {@link #label} gives
     * @return the cause
     * @throws IllegalArgumentException if there is none
     */
    public static Cause of(String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }
}
