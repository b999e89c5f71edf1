// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.internal.Leak;
import io.penstock.loader.BadSamplePolicy.BadSample;
import io.penstock.loader.slots.Lease;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.SampleTimes;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one device, in order: what a trainer takes them from. A {@link DataLoader} is one that can also be
 * moved and closed; the loaders of {@link DeviceLoaders} are moved and closed together.
 *
 * <p><b>Threads.</b> One thread at a time takes batches; a second one gets an {@link IllegalStateException} that names
 * the first.
 *
 * <p><b>Errors.</b> If a sample cannot be read, the call for its batch throws {@link BatchException}, and the next call
 * continues with the following batch. A damaged sample can be replaced or skipped instead:
 * {@link DataLoaderBuilder#onBadSample}. A device error ends the loader: every later call throws
 * {@link IllegalStateException} with that cause.
 */
public sealed class DeviceLoader permits DataLoader {

    /**
     * Learns of every loader of this process, so that a trainer can be diagnosed whose code does not do it. Listeners
     * are called when loaders open and close, never while batches flow; what they throw reaches the trainer, so they
     * throw nothing.
     */
    public interface LoaderListener {

        /**
         * A loader is open.
         *
         * @param loader the loader; of several devices, each one's
         */
        void opened(DeviceLoader loader);

        /**
         * A loader is about to be closed, for the first time: its reports can still be read.
         *
         * @param loader the loader
         */
        void closing(DeviceLoader loader);

        /**
         * Adds a listener; one that was added already stays.
         *
         * @param listener called for every loader that opens or closes from now on, on the thread that does that
         */
        static void add(LoaderListener listener) {
            LISTENERS.add(listener);
        }

        /**
         * Removes a listener, if it was added.
         *
         * @param listener called no more
         */
        static void remove(LoaderListener listener) {
            LISTENERS.remove(listener);
        }
    }

    private static final System.Logger LOG = System.getLogger(DeviceLoader.class.getName());
    private static final Set<LoaderListener> LISTENERS = new CopyOnWriteArraySet<>();

    final SharedWorkers sharedWorkers;
    private final String name;
    private final LoaderParts parts;
    private final EpochCursor cursor;
    /** What is lent for every batch in a slot, by the slot's number, if leases are reused. */
    private final @Nullable Batch[] reused;
    private @Nullable Leak leak;
    private final OneThread trainer = new OneThread();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** A constructor. */
    interface Maker<L extends DeviceLoader> {

        L make(DataLoaderBuilder settings, LoaderParts parts, SharedWorkers sharedWorkers);
    }

    DeviceLoader(DataLoaderBuilder settings, LoaderParts parts, SharedWorkers sharedWorkers) {
        this.parts = parts;
        this.sharedWorkers = sharedWorkers;
        this.name = parts.info.name();
        this.reused = new Batch[parts.delivery.holders().size()];
        this.cursor = new EpochCursor(parts, parts.deviceRing.batches(),
                Math.min(settings.endEpoch, settings.sampler.epochs()), settings.nanoTime);
    }

    void opened() {
        leak = Leak.watch(this, "loader", name);
        LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", name, parts.memory);
        LISTENERS.forEach(listener -> listener.opened(this));
    }

    // ---- taking batches

    /** {@return whether there is another batch; false only after the last epoch, if there is a last one} */
    public final boolean hasNext() {
        return cursor.hasNext();
    }

    /**
     * Returns the next batch; after the last one of an epoch, the first one of the next epoch. Waits until its bytes
     * are on the device.
     *
     * @return the batch, to be closed by the caller
     * @throws NoSuchElementException after the last epoch
     * @throws BatchException if this batch could not be made; the next call returns the following one
     * @throws LoaderInterruptedException if the thread is interrupted while it waits; no batch is lost
     * @throws IllegalStateException if the loader is closed or has failed, or this thread holds all slots
     */
    public final Batch next() {
        return take(null);
    }

    /**
     * Returns the next batch for use on a stream. The stream waits for the batch's bytes; this thread does not. The
     * slot is reused after all work that was enqueued on the stream before {@link Batch#close}.
     *
     * @param stream the trainer's stream, of this loader's device; for a raw {@code cudaStream_t},
     *     {@link Device#stream(long)}
     * @return the batch, to be closed by the caller
     * @throws RuntimeException as {@link #next()}
     */
    public final Batch next(DeviceStream stream) {
        return take(stream);
    }

    /**
     * Takes the next batch to return it again and again. Such input costs nothing, so it shows the throughput of a
     * trainer that never waits.
     *
     * @return the replay, to be closed by the caller; its batch counts as taken
     * @throws RuntimeException as {@link #next()}
     */
    public final Replay replay() {
        return new Replay(next(), name);
    }

    private Batch take(@Nullable DeviceStream stream) {
        trainer.enter();
        try {
            return batch(cursor.take(stream));
        } finally {
            trainer.leave();
        }
    }

    /** Returns a new batch while leaks are traced: a batch that the loader refers to never becomes unreachable. */
    private Batch batch(Lease lease) {
        if (!lease.isReused() || Leak.isLookedFor()) {
            return new Batch(lease, name);
        }
        int slot = lease.holder().index;
        Batch batch = reused[slot];
        if (batch == null) {
            batch = new Batch(lease, name);
            reused[slot] = batch;
        }
        return batch;
    }

    /**
     * Iterates over the rest of the current epoch. At the end of an epoch, this is the whole next one that has a batch:
     * only a token budget that drops the last batch can leave an epoch without any. Leaving the loop early keeps the
     * loader's position.
     *
     * @return batches, each to be closed by the caller; can be iterated once
     */
    public final Iterable<Batch> epoch() {
        trainer.enter();
        try {
            return restOf(cursor.epoch());
        } finally {
            trainer.leave();
        }
    }

    final Iterable<Batch> restOf(long epoch) {
        return () -> {
            Run started = cursor.run();
            return new BatchIterator(this, () -> isIn(epoch, started));
        };
    }

    /** Ends with the epoch; throws if the loader was moved meanwhile. */
    private boolean isIn(long epoch, Run started) {
        if (cursor.run() != started) {
            throw new IllegalStateException("the loader was moved during this iteration");
        }
        return cursor.hasNext() && cursor.epoch() <= epoch;
    }

    /**
     * {@return all batches from here on, sequential, each to be closed by the caller; infinite unless there is a last
     * epoch}
     */
    public final Stream<Batch> stream() {
        Iterator<Batch> all = new BatchIterator(this, this::hasNext);
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(all, Spliterator.ORDERED), false);
    }

    // ---- where the loader is

    /** {@return the epoch of the next batch, from 0; after the last batch, the one after the last epoch} */
    public final long currentEpoch() {
        return cursor.epoch();
    }

    /**
     * {@return the number of batches per epoch, the same for every rank} With a token budget, epochs differ: this reads
     * the lengths of the next epoch and counts its batches.
     */
    public final long batchesPerEpoch() {
        BatchSampler batches = cursor.run().batches;
        return batches.batchesInEpoch(batches.startEpoch() + 1);
    }

    /**
     * {@return the state after the batches that the trainer has taken, for {@link DataLoaderBuilder#resume}; small
     * whatever the dataset's size} Batches made ahead do not count.
     */
    public final LoaderState state() {
        return cursor.state();
    }

    // ---- what the loader is

    /** {@return the device that batches are on} */
    public final Device device() {
        return parts.device;
    }

    /** {@return the fields of a batch after all stages: names, dtypes and maximum shapes} */
    public final SlabLayout layout() {
        return parts.stages.batchLayout();
    }

    /** {@return the slots and bytes that were allocated at open} */
    public final LoaderMemory memory() {
        return parts.memory;
    }

    /** {@return running totals of where the time went; for any thread} */
    public final LoaderReport report() {
        return parts.report();
    }

    /**
     * {@return where the time of each of the latest batches went; empty {@linkplain DataLoaderBuilder#withoutAccounts
     * without accounts}; for any thread}
     */
    public final Optional<Accounts> accounts() {
        return parts.telemetry.accounts();
    }

    /**
     * {@return how long single samples took so far, also those of batches made ahead, and the slowest by name; nothing
     * {@linkplain DataLoaderBuilder#withoutAccounts without accounts}; for any thread}
     */
    public final SampleTimes sampleTimes() {
        return parts.sampleTimes();
    }

    /** Forgets {@link #sampleTimes} so far: each worker does so when it begins its next batch. For any thread. */
    public final void restartSampleTimes() {
        parts.restartSampleTimes();
    }

    /** {@return the settings in effect, with the defaults computed at open} */
    public final LoaderInfo info() {
        return parts.info;
    }

    /**
     * {@return the samples that the workers could not read so far, by index, also those of batches made ahead; at most
     * the first 10,000; empty under {@link BadSamplePolicy#FAIL}; for any thread}
     */
    public final List<BadSample> badSamples() {
        return parts.badSamples.met();
    }

    // ---- for what opens, moves and closes loaders

    /** Opens a loader for each device that the settings name; one if they name none. */
    static <L extends DeviceLoader> List<L> open(DataLoaderBuilder settings, Maker<L> maker) {
        BatchSampler first = LoaderParts.plan(settings);
        int devices = Math.max(1, settings.devices.size());
        List<SharedWorkers.DeviceRing> deviceRings = new ArrayList<>();
        for (int i = 0; i < devices; i++) {
            deviceRings.add(new SharedWorkers.DeviceRing(settings.devices.isEmpty() ? null : settings.devices.get(i),
                    i == 0 ? first : first.ofRank(first.shard().rank() + i),
                    devices == 1 ? settings.name : settings.name + "-" + i, devices));
        }
        var sharedWorkers = new SharedWorkers(settings, deviceRings);
        try {
            List<L> loaders = sharedWorkers.loaders.stream().map(of -> maker.make(settings, of, sharedWorkers))
                    .toList();
            EpochCursor.begin(sharedWorkers, loaders.stream().map(DeviceLoader::cursor).toList());
            loaders.forEach(DeviceLoader::opened);
            return loaders;
        } catch (Throwable t) {
            sharedWorkers.closeAfter(t);
            throw t;
        }
    }

    EpochCursor cursor() {
        return cursor;
    }

    long given() {
        return cursor.given();
    }

    void enter() {
        trainer.enter();
    }

    void leave() {
        trainer.leave();
    }

    /** Delivers no more batches; the memory stays. */
    void end() {
        if (closes()) {
            parts.end();
        }
    }

    /** Tells whether this call, the first, closes the loader. */
    boolean closes() {
        boolean closes = closed.compareAndSet(false, true);
        if (closes) {
            Objects.requireNonNull(leak).closed();
            LISTENERS.forEach(listener -> listener.closing(this));
        }
        return closes;
    }

    /** The ring of this loader, which tests look into. */
    SlotRing ring() {
        return parts.ring;
    }

    Run run() {
        return cursor.run();
    }
}
