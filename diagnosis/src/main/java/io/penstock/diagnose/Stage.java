// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Locale;

/** The stages of a batch. */
public enum Stage {
    /** A worker waits for a free host slot: backpressure, not work. */
    SLOT,
    /** Determining the batch's samples. */
    PLAN,
    /** Reading bytes, where that is a separate step. */
    READ,
    /** Decompressing or decoding samples, such as JPEG to pixels. */
    DECODE,
    /** Applying sample maps. */
    TRANSFORM,
    /** Copying samples into the slot. */
    COLLATE,
    /** Complete, waiting for earlier batches or a device slot: backpressure, not work. */
    ORDER,
    /** Enqueuing the copy to the device. */
    SUBMIT,
    /** The copy, by the device's clock if it is read. */
    COPY,
    /** The loader's stages on the device, by its clock; not measured without it. */
    STAGES;

    /** {@return the name in the summary file: the constant's name in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** {@return whether a thread works in it; in {@link #SLOT} and {@link #ORDER} the batch waits} */
    public boolean isWork() {
        return this != SLOT && this != ORDER;
    }
}
