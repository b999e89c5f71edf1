// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.Arrivals;
import io.penstock.device.Device;
import io.penstock.loader.slots.Closing;
import io.penstock.loader.slots.CopyDelivery;
import io.penstock.loader.slots.Delivery;
import io.penstock.loader.slots.DeviceStages;
import io.penstock.loader.slots.InPlaceDelivery;
import io.penstock.loader.slots.LateBatch;
import io.penstock.loader.slots.Leases;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.Opened;
import io.penstock.loader.slots.SlotRing;
import io.penstock.loader.slots.SpinGate;
import io.penstock.loader.workers.Worker;
import io.penstock.loader.workers.WorkerPool;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.TokenBudget;
import io.penstock.store.integrity.reads.VerifiedReads;
import io.penstock.telemetry.recording.LoaderIdentity;
import io.penstock.telemetry.recording.Telemetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens what a loader is made of, by its settings: the ring, the workers, and what brings filled slots to the trainer.
 * Nothing in here refers to the loader, so that its threads do not keep one reachable that was forgotten.
 */
final class LoaderParts {

    final Device device;
    /** Of a host slot. */
    final SlabLayout layout;
    final DeviceStages stages;
    final LoaderFailure failure = new LoaderFailure();
    final Leases leases;
    final BadSamples badSamples;
    final SlotRing ring;
    final Telemetry telemetry;
    /** One a thread that fills. */
    final List<CollatingMaker> makers = new ArrayList<>();
    /** Fills on the trainer's thread; null if there are workers. */
    final @Nullable Worker own;
    final WorkerPool pool;
    final Delivery delivery;
    final LoaderMemory memory;
    final LoaderInfo info;

    /** How the samples arrive, if they are not all there. */
    final Optional<Arrivals> arrivals;

    private final DataLoaderBuilder settings;
    /** What workers have checked; null if they take bytes as they are. */
    private final @Nullable VerifiedReads verified;
    /** Tells stores who reads them. */
    private final Supplier<Optional<String>> user;
    /** Closed when the last lease ends, in the reverse of this order. */
    private final Opened opened = new Opened();

    LoaderParts(DataLoaderBuilder settings, BatchSampler batches) {
        this.settings = settings;
        this.arrivals = settings.dataset.arrivals();
        this.layout = layout(settings, batches);
        this.leases = new Leases(settings.name, failure, opened::close);
        this.device = settings.device == null ? opened.add(Device.host(), Device::close) : settings.device;
        this.verified = settings.verify ? new VerifiedReads() : null;
        this.user = user(settings.name, failure);
        this.badSamples = new BadSamples(settings.badSamples, seed(), settings.dataset.size(),
                arrivals.isPresent());
        try {
            this.stages = opened.add(new DeviceStages(device, layout, settings.stages), DeviceStages::close);
            boolean copies = copies(settings, device);
            this.ring = openRing(batches, copies);
            this.telemetry = openTelemetry(copies);
            this.own = settings.workers == 0 ? openWorker(0) : null;
            List<Worker> workers = openWorkers();
            var late = new LateBatch(settings.name, settings.patience);
            this.delivery = openDelivery(batches, copies, late);
            this.memory = new LoaderMemory(ring.size(), copies ? settings.deviceSlots : 0, layout.capacityBytes(),
                    ring.size() * layout.capacityBytes(), delivery.deviceBytes());
            this.info = new LoaderInfo(settings.name, settings.role, settings.dataset.fingerprint(),
                    batches.batchSize(), settings.shard.rank(), settings.shard.worldSize(), settings.workers,
                    settings.readMode, device.name(), copies, true, memory);
            List<Worker> fillers = workers.isEmpty() ? List.of(Objects.requireNonNull(own)) : workers;
            ring.connect(delivery.ringReader(), fillers.stream().map(Worker::gate).toArray(SpinGate[]::new));
            this.pool = opened.add(new WorkerPool(settings.name, workers, settings.patience, leases,
                    onDeath(settings.name, failure, delivery, ring)), WorkerPool::close);
            late.connect(pool::describe);
        } catch (Throwable t) {
            closeAfter(t);
            throw t;
        }
    }

    private static Supplier<Optional<String>> user(String name, LoaderFailure failure) {
        Optional<String> user = Optional.of("loader " + name);
        return () -> failure.isClosed() ? Optional.empty() : user;
    }

    /** The batches that settings say, from where they say. */
    static BatchSampler plan(DataLoaderBuilder of) {
        BatchSampler whole = of.budget == null ? BatchSampler.of(of.sampler, of.batchSize, of.shard)
                : of.dataset.arrivals().isPresent()
                        ? BatchSampler.arriving(of.sampler, of.budget, Objects.requireNonNull(of.lengths), of.shard)
                        : BatchSampler.of(of.sampler, of.budget, Objects.requireNonNull(of.lengths), of.shard);
        BatchSampler all = (of.dropLast ? whole.droppingLast() : whole).withDataset(of.dataset.fingerprint());
        BatchSampler run = of.state != null ? all.resume(of.state)
                : of.startEpoch == 0 ? all : all.startingAt(of.startEpoch, 0);
        if (of.state == null || of.endEpoch == Long.MAX_VALUE) {        // a run that was resumed may be at its end
            run.requireBatch(of.endEpoch);
        }
        return run;
    }

    private long seed() {
        return settings.seed != null ? settings.seed : settings.sampler.augmentationSeed();
    }

    private static SlabLayout layout(DataLoaderBuilder settings, BatchSampler batches) {
        TokenBudget budget = settings.budget;
        return budget != null && budget.cost() == TokenBudget.Cost.PADDED
                ? settings.collator.layout(settings.dataset, budget)
                : settings.collator.layout(settings.dataset, batches.batchSize());
    }

    private static boolean copies(DataLoaderBuilder settings, Device target) {
        return settings.transfer == TransferMode.COPY || settings.transfer == TransferMode.AUTO
                && (!target.hostAccessible() || !settings.stages.isEmpty());
    }

    private SlotRing openRing(BatchSampler batches, boolean copies) {
        long slabBytes = layout.capacityBytes();
        int hostSlots = hostSlots(slabBytes);
        long here = copies && device.hostAccessible() ? settings.deviceSlots : 0;
        LoaderLimits.checkMemory(slabBytes, hostSlots + here);
        LoaderLimits.checkMemory(stages.slotBytes(), here);
        return opened.add(new SlotRing(device, layout, batches.batchSize(), hostSlots), SlotRing::close);
    }

    /** One slot for each batch that waits, each that is being filled, and one that is lent or in flight. */
    private int hostSlots(long slabBytes) {
        int ahead = settings.prefetch != DataLoaderBuilder.AUTO ? settings.prefetch
                : LoaderDefaults.prefetch(settings.workers, slabBytes);
        return Math.addExact(ahead, Math.max(1, settings.workers) + 1);
    }

    /** Lets arriving samples arrive for a run, before anything of it is made. */
    void beginArrivals(BatchSampler batches) {
        arrivals.ifPresent(samples -> samples.begin(batches.startState(), settings.shard));
    }

    /** Batches from the oldest that the trainer may have been given last to the latest that is being made. */
    private int batchesInUse() {
        return ring.size() + settings.deviceSlots + 1;
    }

    /** What a worker reads ahead with, if anything. */
    private Optional<BatchesAhead> ahead() {
        return settings.readAheadBytes == 0 || arrivals.isPresent() ? Optional.empty()
                : Optional.of(new BatchesAhead(settings.dataset, ring.slot(0).plan.samples().length,
                        Math.max(1, settings.workers), settings.readAheadBytes));
    }

    private Telemetry openTelemetry(boolean copies) {
        var identity = new LoaderIdentity(settings.name, device.name(), settings.workers, copies);
        VerifiedReads reads = verified;
        LongSupplier verifiedBytes = reads == null ? () -> 0 : reads::verifiedBytes;
        return opened.add(settings.accounts
                ? Telemetry.accounting(identity, verifiedBytes, ring, settings.nanoTime)
                : Telemetry.counting(identity, verifiedBytes), Telemetry::close);
    }

    private List<Worker> openWorkers() {
        List<Worker> workers = new ArrayList<>();
        for (int w = 0; w < settings.workers; w++) {
            workers.add(openWorker(w));
        }
        return workers;
    }

    private Worker openWorker(int number) {
        var reader = new SampleReader(settings.dataset, settings.readMode, verified, settings.nanoTime);
        reader.user(user);
        var maker = new CollatingMaker(settings.collator, reader, badSamples, seed(),
                ahead(), arrivals.orElse(null), batchesInUse(), telemetry.probe(), settings.nanoTime);
        makers.add(maker);
        return opened.add(new Worker(number, ring, maker, failure, telemetry.probe(), settings.nanoTime),
                Worker::close);
    }

    private Delivery openDelivery(BatchSampler batches, boolean copies, LateBatch late) {
        Delivery made = copies
                ? new CopyDelivery(device, ring, stages, batches.batchSize(), settings.deviceSlots, leases,
                        settings.leaseMode.terms(), failure, late, telemetry.probe(), settings.nanoTime, settings.name)
                : new InPlaceDelivery(ring, leases, settings.leaseMode.terms(), failure, late, telemetry.probe());
        opened.add(made, Delivery::close);
        opened.add(made, Delivery::halt);
        return made;
    }

    private static Consumer<Throwable> onDeath(String name, LoaderFailure failure, Delivery delivery, SlotRing ring) {
        return error -> {
            failure.set(new IllegalStateException("a worker of " + name + " died: " + error, error));
            delivery.wake();
            ring.wakeWriters();
        };
    }

    /** Ends all waiting, stops the threads, and frees everything, or leaves that to the last lease that is out. */
    void close() {
        failure.setClosed();
        if (own != null) {
            own.wake();
        }
        delivery.wake();
        ring.wakeWriters();
        var closing = new Closing().step(pool::close).step(delivery::halt);
        leases.close(closing, delivery.holders());
        if (failure.isUntold()) {
            failure.check();
        }
    }

    void closeAfter(Throwable failed) {
        failure.setClosed();
        opened.closeAfter(failed);
    }
}
