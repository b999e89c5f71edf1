// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.Phase;
import org.jspecify.annotations.Nullable;

/** Marks on the device where the phases of a step begin. */
@FunctionalInterface
public interface PhaseMarks {

    /** Marks nothing. */
    PhaseMarks NONE = (_, _) -> { };

    /** As {@link io.penstock.telemetry.Accounts#began}. */
    void mark(long sequence, @Nullable Phase phase);
}
