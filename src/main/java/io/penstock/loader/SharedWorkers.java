// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.reading.VerifiedReads;
import io.penstock.device.Device;
import io.penstock.internal.Closing;
import io.penstock.internal.Opened;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SpinGate;
import io.penstock.sampling.BatchSampler;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workers of one loader, or of the loaders of several devices, which they fill in turn: each has its own ring. A
 * worker reads with one reader, whichever ring it fills. Without workers, each loader's trainer has a reader.
 */
final class SharedWorkers {

    /**
     * What one of the loaders has for itself.
     *
     * @param device its device; null for a host device that it opens
     * @param batches the batches of its rank
     * @param name its name in thread names and messages
     * @param loaders the number of loaders that share the workers
     */
    record DeviceRing(@Nullable Device device, BatchSampler batches, String name, int loaders) {
    }

    final List<LoaderParts> loaders = new ArrayList<>();
    private final DataLoaderBuilder settings;
    /** What the workers have checked; null if they check nothing. */
    private final @Nullable VerifiedReads verified;
    /** One for all workers, or they would take turns as users of a file. */
    private final Supplier<Optional<String>> user;
    private final Opened opened = new Opened();
    /** The number of loaders whose memory is not freed yet. */
    private final AtomicInteger standing = new AtomicInteger();
    private final WorkerPool pool;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Opens a loader for each device, without a run to work on. */
    SharedWorkers(DataLoaderBuilder settings, List<DeviceRing> deviceRings) {
        this.settings = settings;
        this.user = user(settings.name, loaders);
        this.verified = settings.verify ? new VerifiedReads() : null;
        try {
            for (DeviceRing deviceRing : deviceRings) {
                loaders.add(new LoaderParts(settings, deviceRing, verified == null ? () -> 0 : verified::verifiedBytes,
                        this::freed));
                standing.incrementAndGet();
            }
            List<Worker> workers = settings.workers > 0 ? openWorkers() : List.of();
            if (settings.workers == 0) {
                loaders.forEach(this::openOwn);
            }
            pool = opened.add(new WorkerPool(settings.name, workers, settings.patience,
                    loaders.stream().map(parts -> parts.leases).toList(), this::died), WorkerPool::close);
            for (int r = 0; r < loaders.size(); r++) {
                int place = r;
                loaders.get(r).late.connect(sequence -> pool.describe(place, sequence));
            }
        } catch (Throwable t) {
            closeAfter(t);
            throw t;
        }
    }

    private List<Worker> openWorkers() {
        List<Worker> workers = new ArrayList<>();
        for (int w = 0; w < settings.workers; w++) {
            workers.add(openWorker(w, loaders));
        }
        SpinGate[] gates = workers.stream().map(Worker::gate).toArray(SpinGate[]::new);
        loaders.forEach(parts -> parts.ring.connect(parts.delivery.ringReader(), gates));
        return workers;
    }

    private void openOwn(LoaderParts parts) {
        Worker own = openWorker(0, List.of(parts));
        parts.own = own;
        parts.ring.connect(parts.delivery.ringReader(), new SpinGate[] {own.gate()});
    }

    private Worker openWorker(int number, List<LoaderParts> places) {
        var reader = new SampleReader(settings.dataset, settings.readMode, verified, settings.nanoTime);
        reader.user(user);
        var random = new EpochRandom(LoaderParts.seed(settings));
        reader.random(random);
        return opened.add(new Worker(number, places.stream().map(parts -> new Worker.Target(parts.ring,
                parts.openMaker(reader, random), parts.failure, parts.telemetry.probe())).toList(),
                settings.nanoTime), Worker::close);
    }

    /** Returns what tells stores who reads them: the loader's name, until every loader is closed. */
    private static Supplier<Optional<String>> user(String name, List<LoaderParts> loaders) {
        Optional<String> user = Optional.of("loader " + name);
        return () -> loaders.stream().allMatch(parts -> parts.failure.isClosed()) ? Optional.empty() : user;
    }

    private void died(Throwable error) {
        failAll(new IllegalStateException("a worker of " + settings.name + " died: " + error, error));
    }

    private void failAll(IllegalStateException error) {
        loaders.forEach(parts -> {
            parts.failure.set(error);
            parts.wake();
        });
    }

    /** Fails the other loaders with the error of one that could not be moved, since all move together or none. */
    void failOthers(RuntimeException error) {
        loaders.stream().filter(parts -> !parts.failure.isOver()).forEach(parts -> {
            parts.failure.set(error);
            parts.wake();
        });
    }

    /** Begins a run per loader. */
    void begin(Run[] runs) {
        pool.begin(runs);
    }

    /** Ends the runs and waits until no worker works on them. If a worker does not end, all loaders fail. */
    void stop() {
        try {
            pool.stop();
        } catch (IllegalStateException stuck) {
            failAll(stuck);
        }
    }

    /**
     * Ends all waiting, stops the threads, and frees everything, or leaves that to the last open leases. Calling it
     * again does nothing.
     */
    void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        loaders.forEach(LoaderParts::end);
        var all = new Closing();
        var closing = new Closing().step(pool::close);
        for (LoaderParts parts : loaders) {
            var own = closing.step(parts.delivery::halt);
            all.step(() -> parts.close(own));
            closing = new Closing();
        }
        all.end();
    }

    /** Frees the workers' memory once the memory of all loaders is free. */
    private void freed() {
        if (standing.decrementAndGet() == 0) {
            opened.close();
        }
    }

    void closeAfter(Throwable failed) {
        loaders.forEach(LoaderParts::end);
        opened.closeAfter(failed);
        loaders.reversed().forEach(parts -> parts.closeAfter(failed));
    }
}
