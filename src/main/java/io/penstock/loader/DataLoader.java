// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.internal.Leak;
import io.penstock.loader.slots.Lease;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SlotRing;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.LoaderState;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.LoaderReport;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the batches of a dataset in order. Worker threads make them ahead of the trainer, and they are copied to a
 * device.
 *
 * <pre>{@code
 * try (TokenStore store = TokenStore.open(Path.of("corpus"));
 *      DataLoader loader = DataLoader.builder(TokenWindows.of(store, 1024)).batchSize(32).shuffle(42).open()) {
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             step(batch.tensor("tokens"));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p><b>Order.</b> Batches come in the sampler's order; the number of workers changes neither order nor bytes. There
 * are three ways to take them: {@link #epoch()} for a loop over an epoch, {@link #stream()} for all of them,
 * {@link #next()} for a trainer's own loop. They can be mixed; each continues at the loader's position.
 *
 * <p><b>Threads.</b> One thread at a time takes batches and moves the loader; a second one gets an
 * {@link IllegalStateException} that names the first. Any thread may {@link #close} it. The workers and the copy thread
 * belong to the loader and bear its name.
 *
 * <p><b>Memory.</b> All memory is allocated at open, see {@link #memory()}, and freed by {@link #close}. When all slots
 * are full, the workers wait. Closing the loader logs each batch that is still open: one of the closing thread is
 * closed; the memory of any other stays until that batch is closed and its DLPack tensors are deleted.
 *
 * <p><b>Errors.</b> If a sample cannot be read, the call for its batch throws {@link BatchException}, and the next call
 * continues with the following batch. A damaged sample can be replaced or skipped instead:
 * {@link DataLoaderBuilder#onBadSample}. A device error ends the loader: every later call throws
 * {@link IllegalStateException} with that cause.
 */
public final class DataLoader implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(DataLoader.class.getName());

    private final String name;
    private final LoaderParts parts;
    private final Course course;
    private final Crew crew;
    /** What is lent for every batch in a slot, by the slot's number, if leases are reused. */
    private final @Nullable Batch[] reused;
    private @Nullable Leak leak;
    private final OneThread trainer = new OneThread();
    private final AtomicBoolean closed = new AtomicBoolean();

    private DataLoader(DataLoaderBuilder settings, LoaderParts parts, Crew crew) {
        this.parts = parts;
        this.crew = crew;
        this.name = parts.info.name();
        this.reused = new Batch[parts.delivery.holders().size()];
        this.course = new Course(parts, parts.seat.batches(),
                Math.min(settings.endEpoch, settings.sampler.epochs()), settings.nanoTime);
    }

    /** Opens a loader for each device that the settings name; one if they name none. */
    static DeviceLoaders open(DataLoaderBuilder settings) {
        BatchSampler first = LoaderParts.plan(settings);
        int devices = Math.max(1, settings.devices.size());
        List<Seat> seats = new ArrayList<>();
        for (int i = 0; i < devices; i++) {
            seats.add(new Seat(settings.devices.isEmpty() ? null : settings.devices.get(i),
                    i == 0 ? first : first.ofRank(first.shard().rank() + i),
                    devices == 1 ? settings.name : settings.name + "-" + i, devices));
        }
        var crew = new Crew(settings, seats);
        try {
            List<DataLoader> loaders = crew.loaders.stream().map(of -> new DataLoader(settings, of, crew)).toList();
            Course.begin(crew, loaders.stream().map(DataLoader::course).toList());
            loaders.forEach(DataLoader::opened);
            return new DeviceLoaders(loaders, crew);
        } catch (Throwable t) {
            crew.closeAfter(t);
            throw t;
        }
    }

    private void opened() {
        leak = Leak.watch(this, "loader", name);
        LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", name, parts.memory);
    }

    /**
     * {@return a builder with all settings at their defaults}
     *
     * @param dataset the dataset to load
     */
    public static DataLoaderBuilder builder(Dataset dataset) {
        return new DataLoaderBuilder(dataset);
    }

    // ---- taking batches

    /** {@return whether there is another batch; false only after the last epoch, if there is a last one} */
    public boolean hasNext() {
        return course.hasNext();
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
    public Batch next() {
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
    public Batch next(DeviceStream stream) {
        return take(stream);
    }

    /**
     * Takes the next batch to return it again and again. Such input costs nothing, so it shows the throughput of a
     * trainer that never waits.
     *
     * @return the replay, to be closed by the caller; its batch counts as taken
     * @throws RuntimeException as {@link #next()}
     */
    public Replay replay() {
        return new Replay(next(), name);
    }

    private Batch take(@Nullable DeviceStream stream) {
        trainer.enter();
        try {
            return batch(course.take(stream));
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
    public Iterable<Batch> epoch() {
        trainer.enter();
        try {
            return restOf(course.epoch());
        } finally {
            trainer.leave();
        }
    }

    private Iterable<Batch> restOf(long epoch) {
        return () -> {
            Run started = course.run();
            return new BatchIterator(this, () -> isIn(epoch, started));
        };
    }

    /** Ends with the epoch; throws if the loader was moved meanwhile. */
    private boolean isIn(long epoch, Run started) {
        if (course.run() != started) {
            throw new IllegalStateException("the loader was moved during this iteration");
        }
        return course.hasNext() && course.epoch() <= epoch;
    }

    /**
     * Iterates over all batches of an epoch. Moves the loader to its start unless it is there.
     *
     * @param epoch the epoch, from 0
     * @return batches, each to be closed by the caller; can be iterated once; empty if the epoch has none
     */
    public Iterable<Batch> epoch(long epoch) {
        trainer.enter();
        try {
            LoaderState here = state();
            if (here.epoch() != epoch || here.position() != 0) {
                moveTo(batches -> batches.startingAt(epoch, 0));
            }
            return restOf(epoch);
        } finally {
            trainer.leave();
        }
    }

    /**
     * {@return all batches from here on, sequential, each to be closed by the caller; infinite unless there is a last
     * epoch}
     */
    public Stream<Batch> stream() {
        Iterator<Batch> all = new BatchIterator(this, this::hasNext);
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(all, Spliterator.ORDERED), false);
    }

    // ---- where the loader is

    /** {@return the epoch of the next batch, from 0; after the last batch, the one after the last epoch} */
    public long currentEpoch() {
        return course.epoch();
    }

    /**
     * {@return the number of batches per epoch, the same for every rank} With a token budget, epochs differ: this reads
     * the lengths of the next epoch and counts its batches.
     */
    public long batchesPerEpoch() {
        BatchSampler batches = course.run().batches;
        return batches.batchesInEpoch(batches.startState().epoch() + 1);
    }

    /**
     * {@return the state after the batches that the trainer has taken, for {@link DataLoaderBuilder#resume}; small
     * whatever the dataset's size} Batches made ahead do not count.
     */
    public LoaderState state() {
        return course.state();
    }

    /**
     * Moves the loader to the start of an epoch and drops the batches made ahead; open batches stay valid. Waits until
     * the workers have ended their current work, and interrupts them after the loader's
     * {@linkplain DataLoaderBuilder#patience patience}.
     *
     * @param epoch the epoch, from 0
     * @throws IllegalArgumentException if the order has no such epoch
     * @throws IllegalStateException if a worker does not end after twice that time: the loader has then failed; or if
     *     this is a loader of {@link DeviceLoaders}, which are moved together
     */
    public void seek(long epoch) {
        move(batches -> batches.startingAt(epoch, 0));
    }

    /**
     * Moves the loader to the position of a state.
     *
     * @param state a state of this dataset and order
     * @throws io.penstock.sampling.StateMismatchException if it belongs to another
     */
    public void seek(LoaderState state) {
        move(batches -> batches.resume(state));
    }

    private void move(UnaryOperator<BatchSampler> to) {
        trainer.enter();
        try {
            moveTo(to);
        } finally {
            trainer.leave();
        }
    }

    private void moveTo(UnaryOperator<BatchSampler> to) {
        if (crew.loaders.size() > 1) {
            throw new IllegalStateException(name + " is one of " + crew.loaders.size() + " loaders that share workers"
                    + " and are at one place: move all of them, with DeviceLoaders.seek");
        }
        Course.move(crew, List.of(course), to);
    }

    // ---- what the loader is

    /** {@return the device that batches are on} */
    public Device device() {
        return parts.device;
    }

    /** {@return the fields of a batch after all stages: names, dtypes and maximum shapes} */
    public SlabLayout layout() {
        return parts.stages.batchLayout();
    }

    /** {@return the slots and bytes that were allocated at open} */
    public LoaderMemory memory() {
        return parts.memory;
    }

    /** {@return running totals of where the time went; for any thread} */
    public LoaderReport report() {
        return parts.report();
    }

    /**
     * {@return where the time of each of the latest batches went; empty {@linkplain DataLoaderBuilder#withoutAccounts
     * without accounts}; for any thread}
     */
    public Optional<Accounts> accounts() {
        return parts.telemetry.accounts();
    }

    /** {@return the settings in effect, with the defaults computed at open} */
    public LoaderInfo info() {
        return parts.info;
    }

    /**
     * {@return the samples that the workers could not read so far, by index, also those of batches made ahead; at most
     * the first 10,000; empty under {@link BadSamplePolicy#FAIL}; for any thread}
     */
    public List<BadSample> badSamples() {
        return parts.badSamples.met();
    }

    // ---- for the loaders of several devices

    Course course() {
        return course;
    }

    long given() {
        return course.given();
    }

    void enter() {
        trainer.enter();
    }

    void leave() {
        trainer.leave();
    }

    /** Delivers no more batches; the memory stays. */
    void end() {
        if (closed.compareAndSet(false, true)) {
            Objects.requireNonNull(leak).closed();
            parts.end();
        }
    }

    /** For tests. */
    SlotRing ring() {
        return parts.ring;
    }

    Run run() {
        return course.run();
    }

    // ---- the end

    /**
     * Stops the workers, each after its current sample, waits for copies in flight, and frees all memory. Any thread
     * may call this: one that waits in {@link #next()} gets an {@link IllegalStateException} at once. Calling it again
     * does nothing. If the loader has failed, errors here are added to that error.
     *
     * <p>User code that runs in a worker is interrupted. If a worker has not ended after the loader's
     * {@linkplain DataLoaderBuilder#patience patience}, the log names it, and its thread, a daemon, keeps all memory of
     * the loader until it ends. If its store is closed meanwhile, its reads throw.
     *
     * <p>For a loader of {@link DeviceLoaders}, this only stops the batches; closing those frees the memory.
     *
     * @throws RuntimeException if the device reports an error, or the loader has failed and no call has thrown that
     *     error yet; everything else is still freed
     */
    @Override
    public void close() {
        if (crew.loaders.size() > 1) {
            end();
        } else if (closed.compareAndSet(false, true)) {
            Objects.requireNonNull(leak).closed();
            crew.close();
        }
    }
}
