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
 * Delivers the batches of a dataset, in order, made ahead by worker threads and copied to a device.
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
 * <p><b>Order.</b> Batches come in the sampler's order whatever the number of workers, and with the same bytes. Three
 * ways to take them, which may be mixed: {@link #epoch()} for a loop over an epoch, {@link #stream()} for all of them,
 * {@link #next()} from a trainer's own loop. Each continues where the loader is.
 *
 * <p><b>Threads.</b> One thread at a time takes batches and moves the loader; a second one gets an
 * {@link IllegalStateException} that names the first. Any thread may {@link #close} it. The workers and the copy thread
 * are owned by the loader and named after it.
 *
 * <p><b>Memory.</b> Allocated at open, see {@link #memory()}, and freed by {@link #close}; the slots are the bound and
 * the backpressure. A batch that is still out when the loader is closed is named in the log: one that belongs to the
 * closing thread is closed, for any other the memory stays until it is closed too, and until the DLPack tensors of it
 * are deleted.
 *
 * <p><b>Errors.</b> A sample that cannot be read raises {@link BatchException} at its batch's turn, and the loader goes
 * on behind it; one that is damaged may be replaced or skipped instead: {@link DataLoaderBuilder#onBadSample}. A device
 * error ends the loader: every later call throws {@link IllegalStateException} with that cause.
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
     * Returns a builder of a loader, with all settings at their defaults.
     *
     * @param dataset what to load
     * @return the settings, all at their defaults
     */
    public static DataLoaderBuilder builder(Dataset dataset) {
        return new DataLoaderBuilder(dataset);
    }

    // ---- taking batches

    /**
     * Whether there is another batch: false only behind the last epoch, if the loader has one.
     *
     * @return true if {@link #next()} gives a batch
     */
    public boolean hasNext() {
        return course.hasNext();
    }

    /**
     * Returns the next batch, and goes on to the next epoch at the end of one. Waits until the bytes are on the device.
     *
     * @return the batch, to be closed by the caller
     * @throws NoSuchElementException behind the last epoch
     * @throws BatchException if this batch could not be made; the next call gives the one after it
     * @throws LoaderInterruptedException if the thread is interrupted while it waits; no batch is lost
     * @throws IllegalStateException if the loader is closed or has failed, or all slots are lent to this thread
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
     * Takes the next batch and lends it repeatedly. Such input costs nothing, so it shows the throughput of a trainer
     * that never waits.
     *
     * @return the replay, to be closed by the caller; the batch counts as one that the trainer was given
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
     * The rest of the epoch that the loader is in, batch by batch; at an epoch's end, the whole of the next one that
     * has a batch, as all have but with a token budget whose last batch is dropped. Breaking off leaves the loader
     * there.
     *
     * @return batches, each to be closed by the caller; may be iterated once
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

    /** Ends where the epoch does, or where the loader was moved elsewhere meanwhile. */
    private boolean isIn(long epoch, Run started) {
        if (course.run() != started) {
            throw new IllegalStateException("the loader was moved during this iteration");
        }
        return course.hasNext() && course.epoch() <= epoch;
    }

    /**
     * All batches of an epoch, from its start: the loader is moved there, if it is elsewhere.
     *
     * @param epoch the epoch, from 0
     * @return batches, each to be closed by the caller; may be iterated once; none if the epoch has none
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
     * All batches from here on, without end unless the loader has a last epoch.
     *
     * @return batches, each to be closed by whoever takes it; sequential
     */
    public Stream<Batch> stream() {
        Iterator<Batch> all = new BatchIterator(this, this::hasNext);
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(all, Spliterator.ORDERED), false);
    }

    // ---- where the loader is

    /**
     * The epoch of the next batch.
     *
     * @return from 0; behind the last batch, the first epoch that is not given
     */
    public long currentEpoch() {
        return course.epoch();
    }

    /**
     * How many batches this rank is given in a whole epoch. With a token budget, epochs differ: this is then the next
     * one, whose lengths are gone through to tell.
     *
     * @return the same for every rank
     */
    public long batchesPerEpoch() {
        BatchSampler batches = course.run().batches;
        return batches.batchesInEpoch(batches.startState().epoch() + 1);
    }

    /**
     * What the trainer has been given so far, and so where another loader goes on: with
     * {@link DataLoaderBuilder#resume}. Batches that were made ahead do not count.
     *
     * @return a few numbers, whatever the dataset's size
     */
    public LoaderState state() {
        return course.state();
    }

    /**
     * Moves the loader to the start of an epoch. Batches that were made ahead are dropped; leases that are out stay
     * valid. Waits until the workers have ended what they are at, which is interrupted after the loader's
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
     * Moves the loader to where a state says.
     *
     * @param state of this dataset and order
     * @throws io.penstock.sampling.StateMismatchException if it is of another
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

    /**
     * Where batches go.
     *
     * @return the device
     */
    public Device device() {
        return parts.device;
    }

    /**
     * The fields of a batch, with the greatest shapes that they can have, as the stages leave them.
     *
     * @return names, dtypes and shapes
     */
    public SlabLayout layout() {
        return parts.stages.batchLayout();
    }

    /**
     * What was allocated at open.
     *
     * @return the slots and their bytes
     */
    public LoaderMemory memory() {
        return parts.memory;
    }

    /**
     * Where the time went so far. May be called by any thread.
     *
     * @return running totals
     */
    public LoaderReport report() {
        return parts.report();
    }

    /**
     * Where the time of each of the latest batches went. May be called by any thread.
     *
     * @return the accounts; empty if {@linkplain DataLoaderBuilder#withoutAccounts none} are kept
     */
    public Optional<Accounts> accounts() {
        return parts.telemetry.accounts();
    }

    /**
     * What the loader runs with.
     *
     * @return the settings as they were worked out at open
     */
    public LoaderInfo info() {
        return parts.info;
    }

    /**
     * The samples that could not be read, of what workers have come to so far, batches ahead of the trainer included;
     * at most the first 10,000 of them. Empty under {@link BadSamplePolicy#FAIL}. May be called by any thread.
     *
     * @return the samples, by index
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

    /** Ends what is given; the memory stays. */
    void end() {
        if (closed.compareAndSet(false, true)) {
            Objects.requireNonNull(leak).closed();
            parts.end();
        }
    }

    /** For tests that look at what the trainer cannot. */
    SlotRing ring() {
        return parts.ring;
    }

    Run run() {
        return course.run();
    }

    // ---- the end

    /**
     * Stops the workers, each at the end of the sample it is at, waits for the copies in flight, and frees all memory.
     * May be called by any thread: one that waits in {@link #next()} gets an {@link IllegalStateException} at once.
     * Calling it again does nothing. Of a loader that has failed, what goes wrong here is added to that error.
     *
     * <p>Code of users that runs in a worker is interrupted. A worker that has not ended after the
     * {@linkplain DataLoaderBuilder#patience patience} of the loader is named in the log and left to itself: its
     * thread, a daemon, and all memory of the loader stay until it ends. What the worker reads of a store that is
     * closed meanwhile throws.
     *
     * <p>A loader of {@link DeviceLoaders} only ends what it gives; its memory is freed with theirs.
     *
     * @throws RuntimeException if the device reports an error, or the loader has failed and no call has said so yet;
     *     all is freed that can be
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
