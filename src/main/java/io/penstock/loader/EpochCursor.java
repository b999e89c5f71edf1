// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.Arrivals.ArrivalWait;
import io.penstock.device.DeviceStream;
import io.penstock.loader.slots.Delivery;
import io.penstock.loader.slots.Lease;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.NotMadeException;
import io.penstock.loader.slots.Run;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.Ledger;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A loader's position in its batches: the current run, and its next batch. For one thread at a time. */
final class EpochCursor {

    private static final long NOT_MEASURED = BatchAccount.NOT_MEASURED;

    private final LoaderParts parts;
    private final long endEpoch;
    /** Whether there are no worker threads. */
    private final boolean inline;
    private final LongSupplier nanoTime;
    private final LoaderProbe probe;
    private final Delivery delivery;
    private final LoaderFailure failure;

    private PlannedRun run;
    /** Writes down what is delivered; null if nothing does. */
    private @Nullable Ledger ledger;
    /** The number of the next batch in the run. */
    private long nextBatch;
    private boolean inlineFilled;
    /** The batch that a stream has ended in, and how many of its samples exist; -1 until then. */
    private long cutBatch = -1;
    private long cutSamples;
    /** When the trainer began to wait for the samples of the next batch; {@link #NOT_MEASURED} if it did not. */
    private long askedAt = NOT_MEASURED;
    private final BooleanSupplier isOver;
    /** Without workers, what this thread itself waited for samples: it is then the one that makes batches. */
    private final ArrivalWait waited;

    /** Begins with the first batch; {@code endEpoch} is the epoch after the last one. */
    EpochCursor(LoaderParts parts, BatchSampler batches, long endEpoch, LongSupplier nanoTime) {
        this.parts = parts;
        this.endEpoch = endEpoch;
        this.inline = parts.info.workers() == 0;
        this.nanoTime = nanoTime;
        this.probe = parts.telemetry.probe();
        this.delivery = parts.delivery;
        this.failure = parts.failure;
        this.isOver = failure::isOver;
        this.waited = inline ? parts.makers.getFirst().waited() : new ArrivalWait();
        prepare(batches, 0);
    }

    /** Creates the run; the workers do not begin it yet. If the ledger fails, the state stays what it was. */
    private void prepare(BatchSampler batches, long base) {
        parts.beginArrivals(batches);
        ledger = parts.ledger(batches, ledger);
        run = new PlannedRun(batches, base, Math.min(endEpoch, batches.endEpoch()),
                Long.MAX_VALUE - base - parts.ring.size());
        askedAt = NOT_MEASURED;
        nextBatch = 0;
        cutBatch = -1;
        inlineFilled = false;
        parts.makers.forEach(maker -> maker.begin(run));
        delivery.begin(run);
        parts.fetchAhead(run);
    }

    PlannedRun run() {
        return run;
    }

    /**
     * Returns whether there is another batch. If its samples are still to arrive, waits for them or for the end of the
     * samples.
     */
    boolean hasNext() {
        Optional<Arrivals> arrivals = parts.arrivals;
        if (arrivals.isEmpty() || run.hasArrived(nextBatch)) {
            return run.has(nextBatch);
        }
        if (askedAt == NOT_MEASURED) {
            askedAt = nanoTime.getAsLong();
        }
        try {
            long there = run.has(nextBatch) ? run.arrive(arrivals.get(), nextBatch, isOver, waited) : 0;
            if (there == 0 && isOver.getAsBoolean()) {
                failure.checkOpen();
                failure.check();
            }
            if (there > 0 && !run.hasArrived(nextBatch)) {
                cutBatch = nextBatch;
                cutSamples = there;
            }
            return there > 0;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new LoaderInterruptedException(nextBatch);
        }
    }

    /** Returns the epoch of the next batch; after the last batch, the epoch after the last one. */
    long epoch() {
        return run.epochOf(nextBatch);
    }

    /** Returns the state after the batches that the trainer was given. */
    LoaderState state() {
        LoaderState state = nextBatch == 0 ? LoaderState.before(run.batches)
                : nextBatch - 1 == cutBatch ? LoaderState.after(run.batches, cutBatch, cutSamples)
                : LoaderState.after(run.batches, nextBatch - 1);
        LoaderState complete = parts.arrivals.map(arrivals -> arrivals.complete(state)).orElse(state);
        return ledger == null ? complete : complete.withChain(ledger.chain());
    }

    /**
     * Takes the next batch for a stream; null to wait for its bytes here. Throws what the batch's maker threw; the next
     * call skips that batch.
     */
    Lease take(@Nullable DeviceStream stream) {
        failure.checkOpen();
        failure.check();
        if (!hasNext()) {
            throw new NoSuchElementException("no batch is left: the last epoch is " + (endEpoch - 1));
        }
        long sequence = run.base + nextBatch;
        probe.requested(sequence, run);
        long requestedAt = askedAt != NOT_MEASURED ? askedAt
                : inline || !delivery.isReady(sequence) ? nanoTime.getAsLong() : NOT_MEASURED;
        askedAt = NOT_MEASURED;
        parts.leases.begin();
        Lease lease = null;
        try {
            if (stream != null) {
                delivery.ask(nextBatch, stream);
            }
            if (inline) {
                fillInline();
            }
            if (!delivery.await(run, nextBatch)) {
                throw new LoaderInterruptedException(nextBatch);
            }
            lease = delivery.lend(run, nextBatch, stream);
            writeDelivered(lease);
            advance();
            return lease;
        } catch (NotMadeException passedOver) {
            failure.checkOpen();                        // whoever closes the loader ends what is being made
            writeFailed();
            advance();
            throw passedOver.reason();
        } finally {
            long takenAt = requestedAt == NOT_MEASURED ? NOT_MEASURED : nanoTime.getAsLong();
            if (lease == null) {
                parts.leases.ended(false);
                probe.notTaken(takenAt == NOT_MEASURED ? NOT_MEASURED : takenAt - requestedAt);
            } else {
                probe.taken(sequence, requestedAt, takenAt, lease.holder().plan.count(),
                        lease.holder().plan.replaced());
            }
        }
    }

    /** Writes a batch into the ledger. If that fails, nobody gets the batch, and the loader has failed. */
    private void writeDelivered(Lease lease) {
        if (ledger == null) {
            return;
        }
        try {
            if (nextBatch == cutBatch) {
                ledger.delivered(lease.holder().plan, cutSamples);
            } else {
                ledger.delivered(lease.holder().plan);
            }
        } catch (RuntimeException e) {
            failure.set(e);
            failure.setTold();
            try (lease) {
                throw e;
            }
        }
    }

    /** Writes that the next batch could not be made. If that fails, it is not passed over: the loader has failed. */
    private void writeFailed() {
        if (ledger == null) {
            return;
        }
        try {
            if (nextBatch == cutBatch) {
                ledger.failed(nextBatch, cutSamples);
            } else {
                ledger.failed(nextBatch);
            }
        } catch (RuntimeException e) {
            failure.set(e);
            failure.setTold();
            throw e;
        }
    }

    /**
     * Fills the slot of the next batch once, even if waiting for it is interrupted and tried again. Only a closed
     * loader has nothing left to claim, which the delivery then reports.
     */
    private void fillInline() {
        if (!inlineFilled) {
            delivery.checkCanTake(run, nextBatch);
            Worker own = Objects.requireNonNull(parts.own);
            if (!own.awaitsSlot(run, run.base + nextBatch)) {
                throw new LoaderInterruptedException(nextBatch);
            }
            own.fillNext(run, nanoTime.getAsLong());
            inlineFilled = true;
        }
    }

    private void advance() {
        nextBatch++;
        inlineFilled = false;
    }

    /** Lets the workers begin the current runs of all loaders that share them. */
    static void begin(SharedWorkers sharedWorkers, List<EpochCursor> cursors) {
        sharedWorkers.begin(cursors.stream().map(EpochCursor::run).toArray(Run[]::new));
    }

    /**
     * Drops the batches made ahead and moves all loaders that share the workers. Waits until the workers have ended
     * their current batches.
     */
    static void move(SharedWorkers sharedWorkers, List<EpochCursor> cursors, UnaryOperator<BatchSampler> to) {
        List<BatchSampler> targets = cursors.stream().map(cursor -> cursor.target(to)).toList();
        sharedWorkers.stop();
        try {
            cursors.forEach(cursor -> cursor.failure.check());
            for (int i = 0; i < targets.size(); i++) {
                cursors.get(i).moveTo(targets.get(i));
            }
        } catch (RuntimeException e) {
            sharedWorkers.failOthers(e);
            throw e;
        }
        begin(sharedWorkers, cursors);
    }

    private BatchSampler target(UnaryOperator<BatchSampler> to) {
        BatchSampler batches = to.apply(run.batches);
        failure.checkOpen();
        failure.check();
        parts.arrivals.ifPresent(arrivals -> arrivals.check(LoaderState.before(batches)));
        return batches;
    }

    private void moveTo(BatchSampler batches) {
        long base = delivery.stop(run.base + nextBatch);
        failure.check();
        parts.ring.unpublishFrom(base);
        prepare(batches, base);
    }

    /** Returns how many batches of the run the trainer was given. */
    long given() {
        return nextBatch;
    }
}
