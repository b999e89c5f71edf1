package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.BadSampleException;
import io.penstock.dataset.SampleReader;
import io.penstock.loader.events.OrderWait;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Fills slots: waits until the slot of the next sequence is free, claims it, works out the plan, collates, publishes.
 * All that one worker needs is its own, so that workers share nothing but the ring.
 */
final class Worker {

    /** No time that the clock says. */
    private static final long NOT_FILLED = Long.MIN_VALUE;
    /** No sequence. */
    private static final long NONE = -1;

    private final SlotRing ring;
    private final Collator collator;
    private final SampleReader reader;
    private final BadSamples badSamples;
    private final LoaderFailure failure;
    private final WorkerClocks clocks;
    private final LongSupplier nanoTime;
    private final EpochRandom random;
    /** Null if nothing is read ahead. */
    private final BatchesAhead ahead;
    private final boolean claimsLate;
    /** The sequence that it is at. */
    private final AtomicLong filling = new AtomicLong(NONE);
    private final FreeSlot freeSlot = new FreeSlot();
    /** Whether the last claim had to wait for its slot. */
    private boolean waited;
    /** Where this worker stands back for the trainer's thread; null if it never does. */
    private final Standby standby;
    /** Null if no accounts are kept. */
    private final WorkerAccount account;

    Worker(SlotRing ring, Collator collator, SampleReader reader, BadSamples badSamples, LoaderFailure failure,
            WorkerClocks clocks, LongSupplier nanoTime, long seed, BatchesAhead ahead, boolean claimsLate,
            Standby standby, WorkerAccount account) {
        this.ring = ring;
        this.collator = collator;
        this.reader = reader;
        this.badSamples = badSamples;
        this.failure = failure;
        this.clocks = clocks;
        this.nanoTime = nanoTime;
        this.random = new EpochRandom(seed);
        this.claimsLate = claimsLate;
        this.standby = standby;
        this.account = account;
        reader.random(random);
        this.ahead = ahead;
    }

    /** Open when the slot of a sequence is free, or never will be: the run is over, or the loader has failed. */
    private final class FreeSlot extends SpinGate {
        private Run run;
        /** The sequence that this worker has claimed; {@link #NONE} for the one that nobody has. */
        private long claimed;

        FreeSlot() {
            super(WORKER_AWAKE_NANOS);
        }

        void await(Run ofRun, long forClaimed) {
            run = ofRun;
            claimed = forClaimed;
            await(false);
        }

        @Override
        boolean isOpen() {
            long sequence = claimed == NONE ? run.nextToClaim() : claimed;
            return ring.slot(sequence).isFreeFor(sequence) || claimed == NONE && !run.isOpenAt(sequence)
                    || run.isCancelled() || failure.isOver();
        }
    }

    /** What a released slot wakes. */
    SpinGate gate() {
        return freeSlot;
    }

    /** Whether it is at a sequence now. May be called by any thread. */
    boolean fills(long sequence) {
        return filling.getOpaque() == sequence;
    }

    /** Ends what it is at with the sample that it is at, and lets it look again if it waits: its run is cancelled. */
    void wake() {
        reader.stop();
        freeSlot.wake();
        if (standby != null) {
            standby.wake();
        }
    }

    /** Forgets that it was told to stop: another run begins. */
    void goOn() {
        reader.goOn();
    }

    /** Works on a run until nothing is left of it. */
    void work(Run run) {
        long now = fillNext(run, nanoTime.getAsLong());
        while (now != NOT_FILLED) {
            if (standby != null) {
                now = standby.standBack(run, now);
            }
            now = fillNext(run, now);
        }
    }

    /**
     * Fills the next batch of a run.
     *
     * @param begin what the clock says
     * @return what the clock says at the end, or {@link #NOT_FILLED} if nothing is left, or will be
     */
    long fillNext(Run run, long begin) {
        waited = false;
        long sequence = claimsLate ? claimFree(run, begin) : claimAndWait(run, begin);
        if (waited && account != null) {
            account.events.hasSlot(sequence);
        }
        return sequence == NONE ? NOT_FILLED : fill(run, sequence, begin, waited ? nanoTime.getAsLong() : begin);
    }

    /** Workers alone: each claims its batch and waits for that one's slot, so that all have their turn. */
    private long claimAndWait(Run run, long now) {
        long sequence = run.claim();
        if (sequence == NONE) {
            return NONE;
        }
        readAhead(run, sequence, now);
        if (!ring.slot(sequence).isFreeFor(sequence)) {
            await(run, sequence);
        }
        return ring.slot(sequence).isFreeFor(sequence) ? sequence : NONE;
    }

    /**
     * Beside a trainer's thread that helps: a batch is claimed when its slot is free and not before, so that one which
     * is claimed is one that a thread works at. Else the trainer's thread would fill all others and wait for the one
     * whose worker sleeps, lap after lap.
     */
    private long claimFree(Run run, long now) {
        for (long next = run.nextToClaim(); run.isOpenAt(next) && !failure.isOver(); next = run.nextToClaim()) {
            if (!ring.slot(next).isFreeFor(next)) {
                await(run, NONE);
            } else if (run.claim(next)) {
                readAhead(run, next, now);
                return next;
            }
        }
        return NONE;
    }

    private void readAhead(Run run, long sequence, long now) {
        if (ahead != null) {
            ahead.claimed(run, sequence - run.base, now);
        }
    }

    /** Fills the slot of a sequence that this thread has claimed while it waits for another. */
    void help(Run run, long sequence) {
        long now = nanoTime.getAsLong();
        readAhead(run, sequence, now);
        fill(run, sequence, now, now);
    }

    private void await(Run run, long claimed) {
        if (account != null) {
            account.events.waitsForSlot();
        }
        freeSlot.await(run, claimed);
        waited = true;
    }

    /**
     * Fills the slot of a sequence that is claimed. Reads the clock as seldom as it can: a narrow batch is made in a
     * few microseconds.
     *
     * @param begin when the wait for the slot began
     * @param free when it was free: what the clock says
     * @return what the clock says at the end
     */
    private long fill(Run run, long sequence, long begin, long free) {
        HostSlot slot = ring.slot(sequence);
        filling.setOpaque(sequence);
        long planned = free;
        if (slot.failure != null) {
            slot.failure = null;
        }
        try {
            run.batches.plan(sequence - run.base, slot.plan);
            planned = nanoTime.getAsLong();
            if (account != null) {
                account.begin(sequence);
            }
            collate(slot);
        } catch (Throwable t) {
            long batch = sequence - run.base;
            slot.failure = new BatchException(batch, run.batches.epochOf(batch), reader.sample(),
                    reader.explain(t));
        }
        filling.setOpaque(NONE);
        long end = nanoTime.getAsLong();
        slot.setFilled(slot.plan.count(), end - free);
        clocks.filled(begin, free, planned, end, slot.slab.table().usedBytes());
        if (account != null) {
            account.made(run, sequence, slot, begin, free, planned, end);
        }
        if (sequence > run.base && account != null && OrderWait.isWatched()
                && !ring.slot(sequence - 1).isMadeWith(sequence - 1)) {
            slot.orderWait = OrderWait.begin(slot.orderWait, account.loader);
        }
        ring.publish(sequence);
        return end;
    }

    private void collate(HostSlot slot) {
        random.epoch(slot.plan.epoch());
        try {
            collator.collate(reader, slot.plan, slot.slab);
        } catch (BadSampleException bad) {
            if (!badSamples.areReplaced() || reader.isStopped()) {
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
