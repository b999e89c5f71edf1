// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.workers;

import io.penstock.loader.slots.HostSlot;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.loader.slots.SpinGate;
import io.penstock.telemetry.recording.Filling;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Fills slots: claims the next sequence, waits until its slot is free, has the batch built, and publishes it. Workers
 * share nothing but the ring.
 */
public final class Worker implements AutoCloseable {

    /** Returned in place of a time if nothing was filled. */
    private static final long NOT_FILLED = Long.MIN_VALUE;
    private static final long NOTHING = Filling.NOTHING;

    private final SlotRing ring;
    private final BatchMaker maker;
    private final LoaderFailure failure;
    private final LoaderProbe probe;
    private final LongSupplier nanoTime;
    /** The sequence being filled. */
    private final AtomicLong at = new AtomicLong(NOTHING);
    private final FreeSlot freeSlot = new FreeSlot();
    /** Reports the current batch to the probe. */
    private final Filling told;
    /** Whether the last claim had to wait for its slot. */
    private boolean waited;

    /** Creates a worker for one thread. It closes the maker. */
    public Worker(int number, SlotRing ring, BatchMaker maker, LoaderFailure failure, LoaderProbe probe,
            LongSupplier nanoTime) {
        this.told = new Filling(number);
        this.ring = ring;
        this.maker = maker;
        this.failure = failure;
        this.probe = probe;
        this.nanoTime = nanoTime;
    }

    /** Open when the slot of a sequence is free, or never will be: the run is over, or the loader has failed. */
    private final class FreeSlot extends SpinGate {
        private Run run;
        private long claimed;

        @SuppressWarnings("NullAway.Init") // await(…) sets the run before it waits
        FreeSlot() {
            super(WORKER_AWAKE_NANOS);
        }

        void await(Run ofRun, long forClaimed) {
            run = ofRun;
            claimed = forClaimed;
            await(false);
        }

        @Override
        protected boolean isOpen() {
            return ring.slot(claimed).isFreeFor(claimed) || run.isCancelled() || failure.isOver();
        }
    }

    /** Returns the gate that a released slot wakes. */
    public SpinGate gate() {
        return freeSlot;
    }

    /** Whether it is filling a sequence now. Called by any thread. */
    boolean fills(long sequence) {
        return at.getOpaque() == sequence;
    }

    /** Ends the current batch after its current sample, and wakes the worker if it waits: its run is canceled. */
    public void wake() {
        maker.stop();
        freeSlot.wake();
    }

    /** Withdraws the stop: another run begins. */
    void goOn() {
        maker.goOn();
    }

    /** Works on a run until nothing is left of it. */
    void work(Run run) {
        long now = fillNext(run, nanoTime.getAsLong());
        while (now != NOT_FILLED) {
            now = fillNext(run, now);
        }
    }

    /** Fills the next batch of a run, from a time on. Returns the time at the end, or {@link #NOT_FILLED}. */
    public long fillNext(Run run, long begin) {
        waited = false;
        long sequence = claim(run, begin);
        if (sequence != NOTHING) {
            return fill(sequence, begin, waited ? nanoTime.getAsLong() : begin);
        }
        if (waited) {
            told.sequence = NOTHING;
            probe.claimed(told);
        }
        return NOT_FILLED;
    }

    /** Claims the next batch, then waits for its slot, so that all workers have their turn. */
    private long claim(Run run, long now) {
        long sequence = run.claim();
        if (sequence == NOTHING) {
            return NOTHING;
        }
        maker.claimed(sequence, now);
        if (!ring.slot(sequence).isFreeFor(sequence)) {
            probe.awaitsSlot(told.worker);
            freeSlot.await(run, sequence);
            waited = true;
        }
        return ring.slot(sequence).isFreeFor(sequence) ? sequence : NOTHING;
    }

    /**
     * Fills the slot of a claimed sequence. Reads the clock as seldom as possible: a narrow batch takes a few
     * microseconds.
     *
     * @param begin when the wait for the slot began
     * @param free when the slot was free
     * @return the time at the end
     */
    private long fill(long sequence, long begin, long free) {
        HostSlot slot = ring.slot(sequence);
        at.setOpaque(sequence);
        told.sequence = sequence;
        told.claimedAt = begin;
        told.slotAt = free;
        told.plannedAt = free;
        probe.claimed(told);
        if (slot.failure != null) {
            slot.failure = null;
        }
        try {
            maker.make(sequence, slot, told);
        } catch (RuntimeException e) {
            slot.failure = e;
        }
        at.setOpaque(NOTHING);
        long end = nanoTime.getAsLong();
        told.madeAt = end;
        told.samples = slot.plan.count();
        told.bytes = slot.slab.usedBytes();
        probe.filled(told);
        ring.publish(sequence);
        return end;
    }

    @Override
    public void close() {
        maker.close();
    }
}
