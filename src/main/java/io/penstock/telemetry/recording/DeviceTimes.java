// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.Phase;

/**
 * What a device's clock says of a batch. The copy thread writes it alone, reuses it for every batch, and lends it to
 * the {@linkplain LoaderProbe probe} for the duration of a call. What is {@code NOT_MEASURED} was not measured.
 */
public final class DeviceTimes {

    /** The batch's number since the loader opened, from 0. */
    public long sequence;
    /** The copy. */
    public long copyNanos;
    /** The loader's stages behind it. */
    public long stageNanos;
    /** From the trainer's stream being ready for the batch to the begin of its copy; 0 if that had begun. */
    public long lateNanos;
    /** From the trainer's stream being ready for the batch to the batch's being ready. */
    public long exposedNanos;
    /** From then until the trainer's stream had done what it was given before the batch was closed. */
    public long computeNanos;
    /** From the trainer's stream being ready for the batch before to its being ready for this one. */
    public long previousStepNanos;
    /** Whether the trainer marked phases; then {@link #phaseNanos} is set. */
    public boolean isMarked;
    /** How long each phase took, by its ordinal. */
    public final long[] phaseNanos = new long[Phase.values().length];

    /** Sets everything that only a trainer with a stream has to not measured. */
    public void withoutStream() {
        lateNanos = NOT_MEASURED;
        exposedNanos = NOT_MEASURED;
        computeNanos = NOT_MEASURED;
        previousStepNanos = NOT_MEASURED;
        isMarked = false;
    }
}
