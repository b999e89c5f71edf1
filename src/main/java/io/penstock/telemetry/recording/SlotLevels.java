// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

/** The fill level of a loader's host slots, for probes. Thread-safe. */
public interface SlotLevels {

    /** {@return the number of slots, at least 1} */
    int size();

    /** {@return the number of slots without a complete batch} */
    int empty();

    /** {@return the number of complete batches from this one on: those being copied, and those that wait for it} */
    int madeFrom(long sequence);

    /** {@return whether a batch was ever completed} */
    boolean isMadeWith(long sequence);
}
