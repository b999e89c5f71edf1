// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.reading.SampleTimer;
import io.penstock.dataset.source.Arrivals;
import io.penstock.device.Device;
import io.penstock.internal.Closing;
import io.penstock.internal.Opened;
import io.penstock.io.FetchAhead;
import io.penstock.loader.slots.CopyDelivery;
import io.penstock.loader.slots.Delivery;
import io.penstock.loader.slots.DeviceStages;
import io.penstock.loader.slots.InPlaceDelivery;
import io.penstock.loader.slots.LateBatch;
import io.penstock.loader.slots.Leases;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.SlotRing;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBudget;
import io.penstock.state.Ledger;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.SampleTimes;
import io.penstock.telemetry.recording.Telemetry;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Opens a loader's parts by its settings, except the workers: the ring, and the delivery of filled slots to the
 * trainer. Nothing here refers to the loader, so that its threads do not keep a forgotten one reachable.
 */
final class LoaderParts {

    final Device device;
    final SharedWorkers.DeviceRing deviceRing;
    /** The layout of a host slot. */
    final SlabLayout layout;
    final DeviceStages stages;
    final LoaderFailure failure = new LoaderFailure();
    final Leases leases;
    final BadSamples badSamples;
    final SlotRing ring;
    final Telemetry telemetry;
    /** The makers of the threads that fill slots, one each. */
    final List<CollatingMaker> makers = new ArrayList<>();
    /** One for each maker; none if no accounts are kept. */
    private final List<SampleTimer> sampleTimers = new ArrayList<>();
    /** Fills on the trainer's thread; null if there are workers. */
    @Nullable Worker own;
    final LateBatch late;
    final Delivery delivery;
    final LoaderMemory memory;
    final LoaderInfo info;

    /** Fetches remote files ahead, if there are any. */
    private final Optional<FetchAhead> fetchAhead;

    /** Waits for samples that arrive while the loader runs; empty if all samples are there. */
    final Optional<Arrivals> arrivals;

    private final DataLoaderBuilder settings;
    /** The number of workers for this loader: its share of the shared ones, rounded up. */
    private final int workers;
    /** What is closed when the last lease ends, in the reverse of this order. */
    private final Opened opened = new Opened();

    /**
     * Opens the parts. {@code verifiedBytes} tells what all workers have checked; {@code freed} is called when
     * everything is freed.
     */
    LoaderParts(DataLoaderBuilder settings, SharedWorkers.DeviceRing deviceRing, LongSupplier verifiedBytes,
            Runnable freed) {
        this.settings = settings;
        this.deviceRing = deviceRing;
        this.workers = Math.ceilDiv(settings.workers, deviceRing.loaders());
        this.arrivals = settings.dataset.arrivals();
        this.layout = layout(settings, deviceRing.batches());
        this.leases = new Leases(deviceRing.name(), failure, () -> new Closing().step(opened::close).step(freed).end());
        this.device = deviceRing.device() == null ? opened.add(Device.host(), Device::close) : deviceRing.device();
        this.badSamples = new BadSamples(settings.badSamples, seed(settings), settings.dataset.size(),
                arrivals.isPresent(), isWithoutPadding(settings));
        this.late = new LateBatch(deviceRing.name(), settings.patience);
        try {
            this.stages = opened.add(new DeviceStages(device, layout, settings.stages), DeviceStages::close);
            boolean copies = copies(settings, device);
            this.ring = openRing(deviceRing.batches(), copies);
            this.fetchAhead = openFetchAhead(deviceRing.batches());
            this.telemetry = openTelemetry(copies, verifiedBytes);
            this.delivery = openDelivery(deviceRing.batches(), copies);
            this.memory = new LoaderMemory(ring.size(), copies ? settings.deviceSlots : 0, layout.capacityBytes(),
                    ring.size() * layout.capacityBytes(), delivery.deviceBytes());
            Shard shard = deviceRing.batches().shard();
            this.info = new LoaderInfo(deviceRing.name(), settings.role, settings.dataset.fingerprint(),
                    deviceRing.batches().batchSize(), shard.rank(), shard.worldSize(), settings.workers,
                    settings.readMode, device.name(), deviceRing.loaders(), copies, true, memory);
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /** Returns the batches of the first device, from the position at which the settings start. */
    static BatchSampler plan(DataLoaderBuilder of) {
        int devices = Math.max(1, of.devices.size());
        Shard shard = new Shard(of.shard.rank() * devices, Math.multiplyExact(of.shard.worldSize(), devices),
                of.shard.tail());
        BatchSampler whole = of.work != null ? BatchSampler.of(of.sampler, of.work, shard)
                : of.budget == null ? BatchSampler.of(of.sampler, of.batchSize, shard)
                : of.dataset.arrivals().isPresent()
                        ? BatchSampler.arriving(of.sampler, of.budget, Objects.requireNonNull(of.lengths), shard)
                        : BatchSampler.of(of.sampler, of.budget, Objects.requireNonNull(of.lengths), shard);
        BatchSampler all = (of.dropLast ? whole.droppingLast() : whole).withDataset(of.dataset.fingerprint());
        BatchSampler run = of.state != null ? of.state.resume(all)
                : of.startEpoch == null ? all : all.startingAt(of.startEpoch, 0);
        if (of.state == null || of.endEpoch == Long.MAX_VALUE) {        // a run that was resumed may be at its end
            run.requireBatch(of.endEpoch);
        }
        return run;
    }

    /** Whether batches have a limit, of what samples have without padding. */
    static boolean isWithoutPadding(DataLoaderBuilder settings) {
        return settings.work != null ? settings.work.limits().stream().noneMatch(WorkBudget.Limit::isPadded)
                : settings.budget != null && settings.budget.cost() == TokenBudget.Cost.SUM;
    }

    static long seed(DataLoaderBuilder of) {
        return of.seed != null ? of.seed : of.sampler.augmentationSeed();
    }

    private static SlabLayout layout(DataLoaderBuilder settings, BatchSampler batches) {
        TokenBudget budget = settings.work == null ? settings.budget : settings.work.limits().stream()
                .filter(WorkBudget.Limit::isPadded).findFirst().map(limit -> new TokenBudget(limit.most(),
                        batches.batchSize(), limit.multipleOf(), TokenBudget.Cost.PADDED)).orElse(null);
        SlabLayout layout = budget != null && budget.cost() == TokenBudget.Cost.PADDED
                ? settings.collator.layout(settings.dataset, budget)
                : settings.collator.layout(settings.dataset, batches.batchSize());
        return settings.stepTokens == null ? layout : StepTotals.layout(layout);
    }

    private static boolean copies(DataLoaderBuilder settings, Device target) {
        return settings.transfer == TransferMode.COPY || settings.transfer == TransferMode.AUTO
                && (!target.hostAccessible() || !settings.stages.isEmpty());
    }

    private SlotRing openRing(BatchSampler batches, boolean copies) {
        long slabBytes = layout.capacityBytes();
        int hostSlots = hostSlots(slabBytes, copies);
        long here = copies && device.hostAccessible() ? settings.deviceSlots : 0;
        LoaderLimits.checkMemory(slabBytes, (hostSlots + here) * deviceRing.loaders());
        LoaderLimits.checkMemory(stages.slotBytes(), here * deviceRing.loaders());
        return opened.add(new SlotRing(device, layout, batches.batchSize(), hostSlots), SlotRing::close);
    }

    /**
     * Returns the number of host slots: one for each batch that waits, each that is being filled, and one that is lent
     * or being copied.
     */
    private int hostSlots(long slabBytes, boolean copies) {
        int ahead = settings.prefetch != DataLoaderBuilder.AUTO ? settings.prefetch
                : LoaderDefaults.prefetch(workers, slabBytes, copies);
        return Math.addExact(ahead, Math.max(1, workers) + 1);
    }

    /** Begins to wait for the samples of a run, before any batch of it is made. */
    void beginArrivals(BatchSampler batches) {
        arrivals.ifPresent(samples -> samples.begin(LoaderState.before(batches), settings.shard));
    }

    /**
     * Returns the most batches in use at a time: from the oldest that the trainer may still hold to the latest that is
     * being made.
     */
    private int batchesInUse() {
        return ring.size() + settings.deviceSlots + 1;
    }

    private Optional<FetchAhead> openFetchAhead(BatchSampler batches) {
        Optional<FetchAhead> ahead = settings.readAheadBytes == 0 || arrivals.isPresent() ? Optional.empty()
                : PlannedSpans.fetchAhead(settings.dataset, batches, Math.max(1, workers), deviceRing.name(),
                        settings.nanoTime);
        ahead.ifPresent(one -> opened.add(one, FetchAhead::close));
        return ahead;
    }

    /** Begins to fetch the remote files of a run ahead, if there are any. */
    void fetchAhead(PlannedRun run) {
        fetchAhead.ifPresent(ahead -> ahead.begin(new PlannedSpans.FetchedRun(run,
                new PlannedSpans(settings.dataset, run.batches.batchSize()))));
    }

    /** Returns the part of a worker that reads ahead; empty if nothing is read ahead. */
    private Optional<BatchesAhead> ahead() {
        return settings.readAheadBytes == 0 || arrivals.isPresent() ? Optional.empty()
                : Optional.of(new BatchesAhead(settings.dataset, ring.slot(0).plan.samples().length,
                        Math.max(1, workers), settings.readAheadBytes));
    }

    /** Returns the totals of where the time went so far. */
    LoaderReport report() {
        LoaderReport report = telemetry.report();
        return fetchAhead.map(ahead -> withFetched(report, ahead.fetched())).orElse(report);
    }

    /** Returns how long single samples took so far. */
    SampleTimes sampleTimes() {
        return SampleTimer.sum(sampleTimers, this::nameOf);
    }

    /** Returns a sample's name; only its number once the store that has the names is closed. */
    private String nameOf(long sample) {
        try {
            return settings.dataset.name(sample);
        } catch (IllegalStateException _) {
            return "sample " + sample;
        }
    }

    void restartSampleTimes() {
        sampleTimers.forEach(SampleTimer::restart);
    }

    private LoaderReport withFetched(LoaderReport report, FetchAhead.Fetched fetched) {
        BatchSampler batches = deviceRing.batches();
        return report.withFetched(fetched.bytes(), fetched.blocks(), fetched.requests(),
                Math.ceilDiv(batches.sampler().size(), (long) batches.shard().worldSize()));
    }

    private Telemetry openTelemetry(boolean copies, LongSupplier verifiedBytes) {
        var identity = new LoaderIdentity(deviceRing.name(), device.name(), settings.workers, copies,
                copies && settings.deviceClock);
        return opened.add(settings.accounts
                ? Telemetry.accounting(identity, verifiedBytes, ring, settings.nanoTime)
                : Telemetry.counting(identity, verifiedBytes), Telemetry::close);
    }

    /** Opens the ledger, or writes into it that the run continues elsewhere; null if the settings name none. */
    @Nullable Ledger ledger(BatchSampler batches, @Nullable Ledger before) {
        if (settings.ledger == null) {
            return null;
        }
        if (before != null) {
            before.begin(batches);
            return before;
        }
        try {
            return opened.add(settings.ledgerSumsBytes ? Ledger.openOfBytes(settings.ledger, batches)
                    : Ledger.open(settings.ledger, batches), Ledger::close);
        } catch (IOException e) {
            throw new UncheckedIOException("the ledger cannot be opened: " + e.getMessage(), e);
        }
    }

    /** Opens a maker of this loader's batches for a thread, with the thread's own reader. */
    CollatingMaker openMaker(SampleReader reader, EpochRandom random) {
        SampleTimer timer = settings.accounts ? new SampleTimer() : null;
        if (timer != null) {
            sampleTimers.add(timer);
        }
        var maker = new CollatingMaker(settings.collator, reader, badSamples, random, ahead(), arrivals.orElse(null),
                batchesInUse(), timer, settings.stepTokens == null ? null : new StepTotals(
                        settings.stepTokens, settings.batchesOfStep, layout),
                settings.ledger != null && settings.ledgerSumsBytes ? new CRC32C() : null, telemetry.probe(),
                settings.nanoTime);
        makers.add(maker);
        return maker;
    }

    private Delivery openDelivery(BatchSampler batches, boolean copies) {
        Delivery made = copies ? openCopies(batches)
                : new InPlaceDelivery(ring, leases, settings.leaseMode.terms(), failure, late, telemetry.probe());
        opened.add(made, Delivery::close);
        opened.add(made, Delivery::halt);
        return made;
    }

    private CopyDelivery openCopies(BatchSampler batches) {
        var made = new CopyDelivery(device, ring, stages, batches.batchSize(), settings.deviceSlots, leases,
                settings.leaseMode.terms(), failure, late, telemetry.probe(), settings.nanoTime, deviceRing.name(),
                settings.accounts && settings.deviceClock);
        telemetry.markBy(made::mark);
        return made;
    }

    /** Lets all waiting threads check again. */
    void wake() {
        delivery.wake();
        ring.wakeWriters();
    }

    /** Ends all waiting: no more batches are delivered. */
    void end() {
        failure.setClosed();
        if (own != null) {
            own.wake();
        }
        wake();
    }

    /** Frees everything, or leaves that to the last open lease. Call only when no thread uses the parts. */
    void close(Closing closing) {
        fetchAhead.ifPresent(ahead -> closing.step(ahead::close));
        leases.close(closing, delivery.holders());
        if (failure.isUntold()) {
            failure.check();
        }
    }

    void closeAfter(Throwable failed) {
        opened.closeAfter(failed);
    }
}
