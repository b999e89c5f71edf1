package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.SampleReader;

/**
 * Fills slots: claims a sequence, waits for its slot, works out the plan, collates, publishes. All that one worker
 * needs is its own, so that workers share nothing but the ring.
 */
final class Worker {

    private final SlotRing ring;
    private final Collator collator;
    private final SampleReader reader;
    private final LoaderFailure failure;
    private final WorkerClocks clocks;
    private final FreeSlot freeSlot = new FreeSlot();

    Worker(SlotRing ring, Collator collator, SampleReader reader, LoaderFailure failure, WorkerClocks clocks) {
        this.ring = ring;
        this.collator = collator;
        this.reader = reader;
        this.failure = failure;
        this.clocks = clocks;
    }

    /** Open when the slot of a sequence is free, or never will be: the run is cancelled, or the loader has failed. */
    private final class FreeSlot extends SpinGate {
        private Run run;
        private HostSlot slot;
        private long sequence;

        FreeSlot() {
            super(WORKER_AWAKE_NANOS);
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

    /** Works on a run until nothing is left of it. */
    void work(Run run) {
        for (long sequence = run.claim(); sequence >= 0 && fill(run, sequence); sequence = run.claim()) {
            // fill does it all
        }
    }

    /** Fills one slot; false if it does not become free any more. */
    boolean fill(Run run, long sequence) {
        HostSlot slot = ring.slot(sequence);
        long claimed = System.nanoTime();
        freeSlot.run = run;
        freeSlot.slot = slot;
        freeSlot.sequence = sequence;
        freeSlot.await(false);
        if (!slot.isFreeFor(sequence)) {
            return false;
        }
        long free = System.nanoTime();
        long planned = free;
        slot.failure = null;
        try {
            run.batches.plan(sequence - run.base, slot.plan);
            planned = System.nanoTime();
            collator.collate(reader, slot.plan, slot.slab);
        } catch (Throwable t) {
            long batch = sequence - run.base;
            slot.failure = new BatchException(batch, run.batches.epochOf(batch), reader.sample(),
                    reader.explain(t));
        }
        clocks.filled(claimed, free, planned, System.nanoTime(), slot.slab.table().usedBytes());
        ring.publish(sequence);
        return true;
    }

    void close() {
        reader.close();
    }
}
