// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.loader.slots.HostSlot;
import io.penstock.telemetry.recording.Filling;

/** Builds batches, on one thread. Each filling thread has its own maker; any of them may build any batch. */
interface BatchMaker extends AutoCloseable {

    /**
     * Announces that this maker will build a batch, whose slot may not be free yet. May prefetch what the batch needs.
     * Never throws: {@link #make} reports errors.
     */
    void claimed(long sequence, long now);

    /**
     * Builds a batch: writes the plan and slab of a free slot, and to {@code filled} its epoch, first, plannedAt and
     * the stages' times. The trainer gets what it throws at the batch's turn.
     */
    void make(long sequence, HostSlot slot, Filling filled);

    /** Ends {@link #make} after its current sample, now and until {@link #resume}. Called by any thread. */
    void stop();

    /** Withdraws {@link #stop}: another run begins. */
    void resume();

    /** Frees the maker's memory. Call only when the thread builds nothing any more; repeating it has no effect. */
    @Override
    void close();
}
