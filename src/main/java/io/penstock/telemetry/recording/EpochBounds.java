// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

/** The epoch boundaries among a loader's batches. */
@FunctionalInterface
public interface EpochBounds {

    /** {@return whether a batch is the first of its epoch, or the first after the loader was opened or moved} */
    boolean isFirst(long sequence);
}
