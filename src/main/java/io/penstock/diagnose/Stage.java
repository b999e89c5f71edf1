package io.penstock.diagnose;

import java.util.Locale;

/** The stages that a batch goes through. */
public enum Stage {
    /** A worker waits for a free host slot: backpressure, not work. */
    SLOT,
    /** Working out which samples make the batch. */
    PLAN,
    /** Bringing bytes in, where that is a step of its own. */
    READ,
    /** Decoding samples. */
    DECODE,
    /** Maps of samples. */
    TRANSFORM,
    /** Copying samples into the slot. */
    COLLATE,
    /** Made, and waiting for the batches before it, or a device slot: backpressure, not work. */
    ORDER,
    /** Enqueuing the copy to the device. */
    SUBMIT,
    /** The copy, by the device's clock. */
    COPY;

    /**
     * The name in the summary file.
     *
     * @return the constant's name in lower case
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a thread works, rather than waits. */
    boolean isWork() {
        return this != SLOT && this != ORDER;
    }
}
