// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.workers;

import io.penstock.loader.slots.HostSlot;
import io.penstock.telemetry.recording.Filling;

/**
 * Makes batches, on one thread: whatever a loader's batches come from, a slot is filled by {@link #make}. Every thread
 * that fills has a maker of its own, and any batch may be made by any of them.
 */
public interface BatchMaker extends AutoCloseable {

    /**
     * A batch is this maker's to make; its slot may not be free yet. May begin to bring in what the batch needs. Fails
     * never: what is wrong with a batch is for {@link #make} to say.
     *
     * @param sequence the batch's number in the loader's life
     * @param now what the clock says
     */
    void claimed(long sequence, long now);

    /**
     * Makes a batch: writes the slot's plan and its slab. What is thrown is the trainer's to hear at the batch's turn.
     *
     * @param sequence the batch's number in the loader's life
     * @param slot a free slot, of the calling thread alone
     * @param told what is told of the batch: epoch, first, plannedAt and the times of the stages are set here
     */
    void make(long sequence, HostSlot slot, Filling told);

    /** Ends {@link #make} with the sample that it is at, now and until {@link #goOn}. Called by any thread. */
    void stop();

    /** Forgets that it was told to stop: another run begins. */
    void goOn();

    /** Frees what making takes. Only when the thread makes nothing any more; calling it again does nothing. */
    @Override
    void close();
}
