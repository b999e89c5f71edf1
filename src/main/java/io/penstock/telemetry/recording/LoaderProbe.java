// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;

/**
 * Receives the events of a loader's batches as they happen. A loader has one probe and calls it in this order:
 *
 * <pre>
 *   a filling thread       awaitsSlot ─▶ claimed ─▶ planned ─▶ filled
 *   the ring's reader                                          reached ─▶ submitted ─▶ arrived    (if it copies)
 *   the trainer's thread   requested ───────────────────────────────────────────────▶ taken ─▶ closed
 * </pre>
 *
 * <p>The calls are part of every step: a probe returns within nanoseconds, allocates nothing, never waits and never
 * throws. Methods do nothing by default. Times are nanoseconds of the loader's clock; a batch's {@code sequence} is its
 * number since the loader opened, from 0.
 */
public interface LoaderProbe extends AutoCloseable {

    /** The epoch boundaries among a loader's batches. */
    @FunctionalInterface
    interface EpochBounds {

        /** {@return whether a batch is the first of its epoch, or the first after the loader was opened or moved} */
        boolean isFirst(long sequence);
    }

    /** Ignores all events. */
    LoaderProbe NONE = new LoaderProbe() { };

    /** A filling thread has no free slot. May be called several times before {@link #claimed}. */
    default void awaitsSlot(int worker) {
    }

    /**
     * A filling thread has a batch to make and a free slot for it. After {@link #awaitsSlot} the sequence may be
     * {@link Filling#NOTHING}: nothing is left to make. Of the thread's batch, sequence, claimedAt and slotAt are set.
     */
    default void claimed(Filling batch) {
    }

    /** The batch's samples are known and about to be read; plannedAt is set too. Not called if planning failed. */
    default void planned(Filling batch) {
    }

    /** The batch is complete or has failed, and is about to be published. Everything is set. */
    default void filled(Filling batch) {
    }

    /** The batch's turn has come: its slot is about to be copied or lent. */
    default void reached(long sequence) {
    }

    /** The batch's copy of some bytes was enqueued, between two times. Called by the copy thread. */
    default void submitted(long sequence, long bytes, long beginAt, long endAt) {
    }

    /** The batch's copy was seen complete. Called by the copy thread. */
    default void arrived(long sequence) {
    }

    /** The device's clock was read for an earlier batch. Called by the copy thread. */
    default void clocked(DeviceTimes times) {
    }

    /** The trainer asks for a batch: {@link #taken} or {@link #notTaken} follows, on the same thread. */
    default void requested(long sequence, EpochBounds epochs) {
    }

    /**
     * The trainer has the batch. The times are {@link BatchAccount#NOT_MEASURED} if it was ready at the request. Some
     * samples may replace unreadable ones.
     */
    default void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
    }

    /** The trainer's request failed or was canceled, after a wait or {@link BatchAccount#NOT_MEASURED} without one. */
    default void notTaken(long waitNanos) {
    }

    /** A batch was returned. Called by the thread that has it. */
    default void closed(long sequence) {
    }

    /** Stops reporting. Call only when no thread calls the probe any more. Repeating it has no effect. */
    @Override
    default void close() {
    }
}
