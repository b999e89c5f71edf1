package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.BadSampleException;
import io.penstock.dataset.SampleReader;

/**
 * Fills slots: claims a sequence, waits for its slot, works out the plan, collates, publishes. All that one worker
 * needs is its own, so that workers share nothing but the ring.
 */
final class Worker {

    /** No time that the clock says. */
    private static final long NOT_FILLED = Long.MIN_VALUE;

    private final SlotRing ring;
    private final Collator collator;
    private final SampleReader reader;
    private final BadSamples badSamples;
    private final LoaderFailure failure;
    private final WorkerClocks clocks;
    private final EpochRandom random;
    /** Null if nothing is read ahead. */
    private final BatchesAhead ahead;
    private final FreeSlot freeSlot = new FreeSlot();
    /** Where this worker stands back for the trainer's thread; null if it never does. */
    private final Standby standby;
    /** Null if no accounts are kept. */
    private final WorkerAccount account;

    Worker(SlotRing ring, Collator collator, SampleReader reader, BadSamples badSamples, LoaderFailure failure,
            WorkerClocks clocks, long seed, BatchesAhead ahead, Standby standby, WorkerAccount account) {
        this.ring = ring;
        this.collator = collator;
        this.reader = reader;
        this.badSamples = badSamples;
        this.failure = failure;
        this.clocks = clocks;
        this.random = new EpochRandom(seed);
        this.standby = standby;
        this.account = account;
        reader.random(random);
        this.ahead = ahead;
    }

    /** Open when the slot of a sequence is free, or never will be: the run is cancelled, or the loader has failed. */
    private final class FreeSlot extends SpinGate {
        private Run run;
        private HostSlot slot;
        private long sequence;

        FreeSlot() {
            super(WORKER_AWAKE_NANOS);
        }

        void await(Run ofRun, HostSlot toBeFree, long forSequence) {
            run = ofRun;
            slot = toBeFree;
            sequence = forSequence;
            await(false);
        }

        @Override
        boolean isOpen() {
            return slot.isFreeFor(sequence) || run.isCancelled() || failure.isOver();
        }
    }

    /** What a released slot wakes. */
    SpinGate gate() {
        return freeSlot;
    }

    /** Lets the worker look again, whatever it waits for: its run is cancelled. */
    void wake() {
        freeSlot.wake();
        if (standby != null) {
            standby.wake();
        }
    }

    /** Works on a run until nothing is left of it. */
    void work(Run run) {
        long now = System.nanoTime();
        for (long sequence = run.claim(); sequence >= 0; sequence = run.claim()) {
            now = fill(run, sequence, now);
            if (now == NOT_FILLED) {
                return;
            }
            if (standby != null) {
                now = standby.standBack(run, now);
            }
        }
    }

    /**
     * Fills one slot. Reads the clock as seldom as it can: a narrow batch is made in a few microseconds.
     *
     * @param begin what the clock says
     * @return what the clock says at the end, or {@link #NOT_FILLED} if the slot does not become free any more
     */
    long fill(Run run, long sequence, long begin) {
        if (ahead != null) {
            ahead.claimed(run, sequence - run.base, begin);
        }
        HostSlot slot = ring.slot(sequence);
        long free = begin;
        if (!slot.isFreeFor(sequence)) {
            freeSlot.await(run, slot, sequence);
            if (!slot.isFreeFor(sequence)) {
                return NOT_FILLED;
            }
            free = System.nanoTime();
        }
        long planned = free;
        if (slot.failure != null) {
            slot.failure = null;
        }
        try {
            run.batches.plan(sequence - run.base, slot.plan);
            planned = System.nanoTime();
            if (account != null) {
                account.begin(sequence);
            }
            collate(slot);
        } catch (Throwable t) {
            long batch = sequence - run.base;
            slot.failure = new BatchException(batch, run.batches.epochOf(batch), reader.sample(),
                    reader.explain(t));
        }
        long end = System.nanoTime();
        slot.setFilled(slot.plan.count(), end - free);
        clocks.filled(begin, free, planned, end, slot.slab.table().usedBytes());
        if (account != null) {
            account.made(run, sequence, slot, begin, free, planned, end);
        }
        ring.publish(sequence);
        return end;
    }

    private void collate(HostSlot slot) {
        random.epoch(slot.plan.epoch());
        try {
            collator.collate(reader, slot.plan, slot.slab);
        } catch (BadSampleException bad) {
            if (!badSamples.areReplaced()) {
                throw bad;
            }
            badSamples.repair(slot.plan, reader);
            collator.collate(reader, slot.plan, slot.slab);
        }
    }

    void close() {
        if (account != null) {
            account.close();
        }
        reader.close();
    }
}
