// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.reading.SampleTimer;
import io.penstock.dataset.reading.StageClock;
import io.penstock.dataset.source.Arrivals;
import io.penstock.dataset.source.Arrivals.ArrivalWait;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.io.FetchWaits;
import io.penstock.io.FetchWaits.FetchPhase;
import io.penstock.loader.slots.HostSlot;
import io.penstock.sampling.BatchPlan;
import io.penstock.telemetry.recording.Filling;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.HashSet;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Makes batches of a dataset's samples: plans them, and has a collator write them. */
final class CollatingMaker implements BatchMaker {

    private static final FetchPhase[] PHASES = FetchPhase.values();

    private static final long MOST_SUMMED = 1 << 30;

    private final Collator collator;
    private final SampleReader reader;
    private final BadSamples badSamples;
    private final EpochRandom random;
    private final Optional<BatchesAhead> ahead;
    private final LoaderProbe probe;
    private final LongSupplier nanoTime;
    /** Waits for samples that are still to arrive; null if all are there. */
    private final @Nullable Arrivals arrivals;
    private final BooleanSupplier isStopped;
    /** How many batches may be in use at the same time. */
    private final int batchesInUse;
    private final ArrivalWait waited = new ArrivalWait();
    /** Null if the loader keeps no accounts. */
    private final @Nullable SampleTimer samples;
    /** Null if batches do not have the totals of their step. */
    private final @Nullable StepTotals totals;
    /** Null if nobody asks for the checksum of a batch's bytes. */
    private final @Nullable CRC32C sum;
    /** Set while no thread makes anything, and handed over by the pool with the run. */
    private PlannedRun run;

    @SuppressWarnings("NullAway.Init") // begin(…) sets the run before anything is made
    CollatingMaker(Collator collator, SampleReader reader, BadSamples badSamples, EpochRandom random,
            Optional<BatchesAhead> ahead, @Nullable Arrivals arrivals, int batchesInUse,
            @Nullable SampleTimer samples, @Nullable StepTotals totals, @Nullable CRC32C sum, LoaderProbe probe,
            LongSupplier nanoTime) {
        this.collator = collator;
        this.reader = reader;
        this.badSamples = badSamples;
        this.random = random;
        this.ahead = ahead;
        this.arrivals = arrivals;
        this.isStopped = reader::isStopped;
        this.batchesInUse = batchesInUse;
        this.samples = samples;
        this.totals = totals;
        this.sum = sum;
        this.probe = probe;
        this.nanoTime = nanoTime;
    }

    /** Returns how long the thread has waited for samples since its latest batch was made. */
    ArrivalWait waited() {
        return waited;
    }

    /** Makes batches of this run from now on. Called before the pool begins the run. */
    void begin(PlannedRun next) {
        run = next;
    }

    @Override
    public void claimed(long sequence, long now) {
        if (ahead.isPresent()) {
            ahead.get().claimed(run, sequence - run.base, now);
        }
    }

    @Override
    public void make(long sequence, HostSlot slot, Filling filled) {
        StageClock stages = reader.clock();
        FetchWaits waits = reader.waits();
        if (samples != null) {
            samples.begin();
        }
        stages.reset(samples);
        waits.reset();
        try {
            if (arrivals == null) {
                run.batches.plan(sequence - run.base, slot.plan);
            } else {
                planArrived(arrivals, sequence - run.base, slot.plan);
            }
            filled.plannedAt = nanoTime.getAsLong();
            probe.planned(filled);
            collate(slot);
            if (sum != null) {
                sum(sum, slot);
            }
        } catch (Throwable t) {
            long batch = sequence - run.base;
            throw new BatchException(batch, run.batches.epochOf(batch), reader.sample(), reader.explain(t));
        } finally {
            if (samples != null) {
                samples.end();
            }
            filled.epoch = slot.plan.epoch();
            filled.first = sequence == run.base || slot.plan.indexInEpoch() == 0;
            filled.readNanos = stages.readNanos();
            filled.decodeNanos = stages.decodeNanos();
            filled.transformNanos = stages.transformNanos();
            filled.parts = stages.parts();
            filled.partNanos = stages.partNanos();
            filled.remoteReads = waits.reads();
            if (filled.remoteReads > 0) {
                filled.waitingReads = waits.waitingReads();
                filled.remoteBytes = waits.readBytes();
                for (FetchPhase phase : PHASES) {
                    filled.downloadNanos[phase.ordinal()] = waits.nanos(phase);
                }
            }
            filled.sourceEmptyNanos = waited.emptyNanos;
            filled.sourceSlowNanos = waited.slowNanos;
            waited.emptyNanos = 0;
            waited.slowNanos = 0;
        }
    }

    /** Waits for a batch's samples, and plans it. */
    private void planArrived(Arrivals from, long number, BatchPlan plan) throws InterruptedException {
        long there = run.arrive(from, number, isStopped, waited);
        if (there == 0) {
            throw new NoSuchElementException("the samples end before batch " + number);     // the trainer will not ask
        }
        run.batches.plan(number, there, plan);
        long unused = number - batchesInUse;
        if (unused > 0) {
            from.release(run.batches.epochOf(unused), run.batches.positionOf(unused));
        }
    }

    private void collate(HostSlot slot) {
        random.epoch(slot.plan.epoch());
        BatchPlan original = badSamples.hasKnown(slot.plan) ? copy(slot.plan) : null;
        try {
            if (original != null) {
                badSamples.repairKnown(slot.plan, reader);
            }
            write(slot);
        } catch (BadSampleException bad) {
            if (!badSamples.areReplaced() || reader.isStopped()) {
                throw bad;
            }
            if (original != null) {
                slot.plan.copyFrom(original);
            }
            collateRepaired(slot);
        }
    }

    private static BatchPlan copy(BatchPlan plan) {
        var copy = new BatchPlan(plan.count());
        copy.copyFrom(plan);
        return copy;
    }

    /** The bytes of all fields, one field behind the other, without what lies between them. */
    private static void sum(CRC32C crc, HostSlot slot) {
        crc.reset();
        long bytes = 0;
        for (int field = 0; field < slot.slab.layout().fields().size(); field++) {
            long size = slot.slab.byteSize(field);
            for (long at = 0; at < size; at += MOST_SUMMED) {
                crc.update(slot.slab.segment().asSlice(slot.slab.offset(field) + at, Math.min(MOST_SUMMED, size - at))
                        .asByteBuffer());
            }
            bytes += size;
        }
        slot.plan.content(bytes, (int) crc.getValue());
    }

    private void write(HostSlot slot) {
        if (totals == null) {
            collator.collate(reader, slot.plan, slot.slab);
        } else {
            totals.collate(collator, reader, slot, run.batches, slot.plan.number());
        }
    }

    /**
     * Collates a plan whose bad samples are replaced. A collator may read more than a sample's bytes, such as the token
     * that follows a packed piece: then it alone finds that the sample is bad, and the plan is repaired anew.
     */
    private void collateRepaired(HostSlot slot) {
        BatchPlan original = copy(slot.plan);
        Set<Long> refused = new HashSet<>();
        while (true) {
            badSamples.repair(slot.plan, reader, refused);
            try {
                write(slot);
                return;
            } catch (BadSampleException bad) {
                if (reader.isStopped() || !refused.add(reader.sample())) {
                    throw bad;
                }
                badSamples.report(reader.sample(), bad);
                slot.plan.copyFrom(original);
            }
        }
    }

    @Override
    public void stop() {
        reader.stop();
    }

    @Override
    public void resume() {
        reader.resume();
    }

    @Override
    public void close() {
        reader.close();
    }
}
