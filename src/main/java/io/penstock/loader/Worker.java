// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.loader.slots.HostSlot;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.loader.slots.SpinGate;
import io.penstock.telemetry.recording.Filling;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Fills slots: claims the next sequence, waits until its slot is free, has the batch built, and publishes it. Workers
 * share nothing but the rings.
 *
 * <p>A worker that has several rings never waits for one of them: it claims a sequence only if its slot is free, of the
 * ring that is furthest behind. So a device that takes no batches holds up its own slots alone.
 */
final class Worker implements AutoCloseable {

    /** Returned in target of a time if nothing was filled. */
    private static final long NOT_FILLED = Long.MIN_VALUE;
    private static final long NOTHING = Filling.NOTHING;

    /** Where a worker fills slots: the ring of one device, with the maker of its batches on the worker's thread. */
    record Target(SlotRing ring, BatchMaker maker, LoaderFailure failure, LoaderProbe probe) {
    }

    private final Target[] targets;
    private final LongSupplier nanoTime;
    /** The sequence being filled, and its ring: {@code sequence · rings + ring}. */
    private final AtomicLong at = new AtomicLong(NOTHING);
    private final FreeSlot freeSlot;
    private final AnyFreeSlot anyFreeSlot;
    /** One per ring, reports the current batch to its probe. */
    private final Filling[] filled;
    /** Whether the last claim had to wait for its slot. */
    private boolean waited;

    /** Creates a worker for one thread. It closes the makers. */
    Worker(int number, List<Target> targets, LongSupplier nanoTime) {
        this.targets = targets.toArray(Target[]::new);
        this.filled = new Filling[this.targets.length];
        Arrays.setAll(filled, _ -> new Filling(number));
        this.nanoTime = nanoTime;
        this.freeSlot = new FreeSlot();
        this.anyFreeSlot = new AnyFreeSlot();
    }

    /** Open when the slot of a sequence is free, or never will be: the run is over, or the loader has failed. */
    private final class FreeSlot extends SpinGate {
        private final SlotRing ring = targets[0].ring();
        private final LoaderFailure failure = targets[0].failure();
        private Run run;
        private long claimed;

        @SuppressWarnings("NullAway.Init") // await(…) sets the run before it waits
        FreeSlot() {
            super(WORKER_AWAKE_NANOS);
        }

        boolean await(Run ofRun, long forClaimed, boolean interruptible) {
            run = ofRun;
            claimed = forClaimed;
            return await(interruptible);
        }

        @Override
        protected boolean isFor(long sequence) {
            return claimed == sequence;
        }

        @Override
        protected boolean isOpen() {
            return ring.slot(claimed).isFreeFor(claimed) || run.isCancelled() || failure.isOver();
        }
    }

    /** Opens when a ring has a free slot for its next sequence, or none ever will. */
    private final class AnyFreeSlot extends SpinGate {
        private static final int WAIT = -1;
        private static final int OVER = -2;

        private Run[] runs = {};

        AnyFreeSlot() {
            super(WORKER_AWAKE_NANOS);
        }

        /** Returns the ring to fill next: of those with a free slot, the one that is furthest behind. */
        int look() {
            int best = OVER;
            long least = Long.MAX_VALUE;
            for (int p = 0; p < runs.length; p++) {
                Run run = runs[p];
                long sequence = run.nextToClaim();
                long number = sequence - run.base;
                if (run.isCancelled() || targets[p].failure().isOver() || !run.has(number)) {
                    continue;
                }
                if (!targets[p].ring().slot(sequence).isFreeFor(sequence)) {
                    best = Math.max(best, WAIT);
                } else if (number < least) {
                    best = p;
                    least = number;
                }
            }
            return best;
        }

        @Override
        protected boolean isOpen() {
            return look() != WAIT;
        }
    }

    /** Returns the gate that a released slot wakes. */
    SpinGate gate() {
        return targets.length == 1 ? freeSlot : anyFreeSlot;
    }

    /** Whether it is filling a sequence of a ring now. Called by any thread. */
    boolean fills(int target, long sequence) {
        return at.getOpaque() == sequence * targets.length + target;
    }

    /** Ends the current batch after its current sample, and wakes the worker if it waits: its run is canceled. */
    void wake() {
        for (Target target : targets) {
            target.maker().stop();
        }
        gate().wake();
    }

    /** Withdraws the stop: another run begins. */
    void resume() {
        for (Target target : targets) {
            target.maker().resume();
        }
    }

    /** Works on runs, one per ring, until nothing is left of them. */
    void work(Run[] runs) {
        long now = nanoTime.getAsLong();
        while (now != NOT_FILLED) {
            now = runs.length == 1 ? fillNext(runs[0], now) : fillAny(runs, now);
        }
    }

    /**
     * Waits until the slot of a sequence of the only run is free, or never will be. Returns false if the thread is
     * interrupted before; nothing is claimed then.
     */
    boolean awaitsSlot(Run run, long sequence) {
        return freeSlot.await(run, sequence, true);
    }

    /** Fills the next batch of the only run, from a time on. Returns the time at the end, or {@link #NOT_FILLED}. */
    long fillNext(Run run, long begin) {
        waited = false;
        long sequence = claim(run, begin);
        if (sequence != NOTHING) {
            return fill(0, sequence, begin, waited ? nanoTime.getAsLong() : begin);
        }
        if (waited) {
            filled[0].sequence = NOTHING;
            targets[0].probe().claimed(filled[0]);
        }
        return NOT_FILLED;
    }

    /** Claims the next batch, then waits for its slot, so that all workers have their turn. */
    private long claim(Run run, long now) {
        Target target = targets[0];
        long sequence = run.claim();
        if (sequence == NOTHING) {
            return NOTHING;
        }
        target.maker().claimed(sequence, now);
        if (!target.ring().slot(sequence).isFreeFor(sequence)) {
            target.probe().awaitsSlot(filled[0].worker);
            freeSlot.await(run, sequence, false);
            waited = true;
        }
        return target.ring().slot(sequence).isFreeFor(sequence) ? sequence : NOTHING;
    }

    /** Fills a batch of the run that is furthest behind, of those with a free slot. */
    private long fillAny(Run[] runs, long begin) {
        anyFreeSlot.runs = runs;
        waited = false;
        for (int next = anyFreeSlot.look(); next != AnyFreeSlot.OVER; next = anyFreeSlot.look()) {
            if (next == AnyFreeSlot.WAIT) {
                waited = true;
                anyFreeSlot.await(false);
            } else {
                long sequence = runs[next].nextToClaim();
                if (target(next).ring().slot(sequence).isFreeFor(sequence) && runs[next].claim(sequence)) {
                    target(next).maker().claimed(sequence, begin);
                    return fill(next, sequence, begin, waited ? nanoTime.getAsLong() : begin);
                }
            }
        }
        return NOT_FILLED;
    }

    private Target target(int index) {
        return targets[index];
    }

    /**
     * Fills the slot of a claimed sequence, which was free at {@code free}, from {@code begin} on; returns the time at
     * the end. Reads the clock as seldom as possible: a narrow batch takes a few microseconds.
     */
    private long fill(int ring, long sequence, long begin, long free) {
        Target target = target(ring);
        Filling batch = filled[ring];
        HostSlot slot = target.ring().slot(sequence);
        at.setOpaque(sequence * targets.length + ring);
        batch.sequence = sequence;
        batch.claimedAt = begin;
        batch.slotAt = free;
        batch.plannedAt = free;
        target.probe().claimed(batch);
        if (slot.failure != null) {
            slot.failure = null;
        }
        try {
            target.maker().make(sequence, slot, batch);
        } catch (RuntimeException e) {
            slot.failure = e;
        }
        at.setOpaque(NOTHING);
        long end = nanoTime.getAsLong();
        batch.madeAt = end;
        batch.samples = slot.plan.count();
        batch.bytes = slot.slab.usedBytes();
        target.probe().filled(batch);
        target.ring().publish(sequence);
        return end;
    }

    @Override
    public void close() {
        for (Target target : targets) {
            target.maker().close();
        }
    }
}
