// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.reading.StageClock;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.loader.slots.HostSlot;
import io.penstock.loader.workers.BatchMaker;
import io.penstock.telemetry.recording.Filling;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Makes batches of a dataset's samples: plans which they are, and has a collator write them. */
final class CollatingMaker implements BatchMaker {

    private final Collator collator;
    private final SampleReader reader;
    private final BadSamples badSamples;
    private final EpochRandom random;
    private final Optional<BatchesAhead> ahead;
    private final LoaderProbe probe;
    private final LongSupplier nanoTime;
    /** Set while no thread makes anything, and handed over by the pool with the run. */
    private PlannedRun run;

    @SuppressWarnings("NullAway.Init") // begin(…) sets the run before anything is made
    CollatingMaker(Collator collator, SampleReader reader, BadSamples badSamples, long seed,
            Optional<BatchesAhead> ahead, LoaderProbe probe, LongSupplier nanoTime) {
        this.collator = collator;
        this.reader = reader;
        this.badSamples = badSamples;
        this.random = new EpochRandom(seed);
        this.ahead = ahead;
        this.probe = probe;
        this.nanoTime = nanoTime;
        reader.random(random);
    }

    /** What it makes from now on are batches of a run. Called before the pool is told to begin with it. */
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
    public void make(long sequence, HostSlot slot, Filling told) {
        StageClock stages = reader.clock();
        stages.reset();
        try {
            run.batches.plan(sequence - run.base, slot.plan);
            told.plannedAt = nanoTime.getAsLong();
            probe.planned(told);
            collate(slot);
        } catch (Throwable t) {
            long batch = sequence - run.base;
            throw new BatchException(batch, run.batches.epochOf(batch), reader.sample(), reader.explain(t));
        } finally {
            told.epoch = slot.plan.epoch();
            told.first = sequence == run.base || slot.plan.indexInEpoch() == 0;
            told.readNanos = stages.readNanos();
            told.decodeNanos = stages.decodeNanos();
            told.transformNanos = stages.transformNanos();
        }
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

    @Override
    public void stop() {
        reader.stop();
    }

    @Override
    public void goOn() {
        reader.goOn();
    }

    @Override
    public void close() {
        reader.close();
    }
}
