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
 * Fills slots: waits until the slot of the next sequence is free, claims it, has the batch made, publishes. All that
 * one worker needs is its own, so that workers share nothing but the ring.
 */
public final class Worker implements AutoCloseable {

    /** No time that the clock says. */
    private static final long NOT_FILLED = Long.MIN_VALUE;
    private static final long NOTHING = Filling.NOTHING;

    private final SlotRing ring;
    private final BatchMaker maker;
    private final LoaderFailure failure;
    private final LoaderProbe probe;
    private final LongSupplier nanoTime;
    /** The sequence that it is at. */
    private final AtomicLong at = new AtomicLong(NOTHING);
    private final FreeSlot freeSlot = new FreeSlot();
    /** What the probe is told of the batch at hand. */
    private final Filling told;
    /** Whether the last claim had to wait for its slot. */
    private boolean waited;

    /**
     * For one thread.
     *
     * @param maker makes its batches; closed with the worker
     */
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

    /** What a released slot wakes. */
    public SpinGate gate() {
        return freeSlot;
    }

    /** Whether it is at a sequence now. May be called by any thread. */
    boolean fills(long sequence) {
        return at.getOpaque() == sequence;
    }

    /** Ends what it is at with the sample that it is at, and lets it look again if it waits: its run is cancelled. */
    public void wake() {
        maker.stop();
        freeSlot.wake();
    }

    /** Forgets that it was told to stop: another run begins. */
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

    /**
     * Fills the next batch of a run.
     *
     * @param begin what the clock says
     * @return what the clock says at the end, or {@link #NOT_FILLED} if nothing is left, or will be
     */
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
     * Fills the slot of a sequence that is claimed. Reads the clock as seldom as it can: a narrow batch is made in a
     * few microseconds.
     *
     * @param begin when the wait for the slot began
     * @param free when it was free: what the clock says
     * @return what the clock says at the end
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
