package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.SampleReader;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.LoaderState;
import io.penstock.store.integrity.VerifiedReads;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Delivers the batches of a dataset, in order, made ahead by worker threads and copied to a device.
 *
 * <pre>{@code
 * try (TokenStore store = TokenStore.open(Path.of("corpus"));
 *      DataLoader loader = DataLoader.of(TokenWindows.of(store, 1024)).batchSize(32).shuffle(42).open()) {
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
 * <p><b>Threads.</b> One thread at a time takes batches and moves the loader; any thread may {@link #close} it. The
 * workers and the copy thread are owned by the loader and named after it.
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
    /** Added to the number of leases that are out when the loader is closed. */
    private static final int CLOSING = 1 << 30;

    private final String name;
    private final Device device;
    private final boolean ownsDevice;
    private final long endEpoch;
    private final SlabLayout layout;
    private final SlotRing ring;
    private final Delivery delivery;
    private final LoaderFailure failure = new LoaderFailure();
    private final List<WorkerClocks> clocks = new ArrayList<>();
    /** Collates on the trainer's thread; null if there are worker threads. */
    private final Worker inline;
    private final WorkerPool pool;
    private final LoaderMemory memory;
    /** What workers have checked; null if they take bytes as they are. */
    private final VerifiedReads verified;
    private final BadSamples badSamples;
    private final Counter batchesGiven = new Counter();
    private final Counter samplesGiven = new Counter();
    private final Counter badSamplesMet = new Counter();
    private final Counter consumerWaitNanos = new Counter();
    private final AtomicInteger leases = new AtomicInteger();

    private Run run;
    /** The number, in the run, of the batch that comes next. */
    private long nextBatch;
    private boolean inlineFilled;
    private final AtomicBoolean closed = new AtomicBoolean();

    DataLoader(DataLoaderBuilder settings) {
        BatchSampler batches = settings.batches();
        this.layout = settings.layout(batches);
        this.name = settings.name;
        this.endEpoch = settings.endEpoch;
        this.ownsDevice = settings.device == null;
        this.device = ownsDevice ? Device.host() : settings.device;
        this.verified = settings.verify ? new VerifiedReads() : null;
        this.badSamples = new BadSamples(settings.badSamples, settings.sampler.seed(), settings.dataset.size());
        var opened = new Opened();
        if (ownsDevice) {
            opened.add(device, Device::close);
        }
        try {
            int hostSlots = settings.hostSlots(layout.capacityBytes());
            this.ring = opened.add(new SlotRing(device, layout, batches.batchSize(), hostSlots), SlotRing::close);
            List<Worker> workers = new ArrayList<>();
            for (int w = 0; w < Math.max(1, settings.workers); w++) {
                var clock = new WorkerClocks();
                clocks.add(clock);
                var worker = new Worker(ring, settings.collator,
                        new SampleReader(settings.dataset, settings.readMode, verified), badSamples, failure, clock,
                        settings.sampler.seed());
                workers.add(opened.add(worker, Worker::close));
            }
            boolean copies = settings.copies(device);
            this.delivery = copies
                    ? new CopyDelivery(device, ring, layout, batches.batchSize(), settings.deviceSlots,
                            this::leaseEnded, settings.sharedLeases, failure, name)
                    : new InPlaceDelivery(ring, this::leaseEnded, settings.sharedLeases, failure);
            opened.add(delivery, Delivery::close);
            opened.add(delivery, Delivery::halt);
            this.memory = new LoaderMemory(ring.size(), copies ? settings.deviceSlots : 0, layout.capacityBytes(),
                    ring.size() * layout.capacityBytes(), delivery.deviceBytes());
            ring.connect(delivery.ringReader(), workers.stream().map(Worker::gate).toArray(SpinGate[]::new));
            this.inline = settings.workers == 0 ? workers.getFirst() : null;
            this.pool = opened.add(new WorkerPool(name, inline == null ? workers : List.of(), this::workerDied),
                    WorkerPool::close);
            begin(batches, 0);
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
        LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", name, memory);
    }

    /**
     * Begins the settings of a loader.
     *
     * @param dataset what to load
     * @return the settings, all at their defaults
     */
    public static DataLoaderBuilder of(Dataset dataset) {
        return new DataLoaderBuilder(dataset);
    }

    private void begin(BatchSampler batches, long base) {
        run = new Run(batches, base, endEpoch, Long.MAX_VALUE - base - ring.size());
        nextBatch = 0;
        inlineFilled = false;
        delivery.begin(run);
        pool.begin(run);
    }

    // ---- taking batches

    /**
     * Whether there is another batch: false only behind the last epoch, if the loader has one.
     *
     * @return true if {@link #next()} gives a batch
     */
    public boolean hasNext() {
        return run.has(nextBatch);
    }

    /**
     * The next batch, across the ends of epochs. Waits until its bytes are on the device.
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
     * The next batch, for use on a stream: the stream is made to wait for the batch's bytes, this thread is not, and
     * {@link Batch#close} orders the slot's reuse behind what the stream has been given by then.
     *
     * @param stream the trainer's stream, of this loader's device; for a raw {@code cudaStream_t},
     *     {@link Device#stream(long)}
     * @return the batch, to be closed by the caller
     * @throws NoSuchElementException behind the last epoch
     * @throws BatchException if this batch could not be made; the next call gives the one after it
     * @throws LoaderInterruptedException if the thread is interrupted while it waits; no batch is lost
     * @throws IllegalStateException if the loader is closed or has failed, or all slots are lent to this thread
     */
    public Batch next(DeviceStream stream) {
        return take(stream);
    }

    private Batch take(DeviceStream stream) {
        checkOpen();
        failure.check();
        if (!hasNext()) {
            throw new NoSuchElementException("no batch behind epoch " + (endEpoch - 1));
        }
        long begin = System.nanoTime();
        beginLease();
        Batch batch = null;
        try {
            if (inline != null) {
                fillInline();
            }
            batch = delivery.take(run, nextBatch, stream);
            advance();
            batchesGiven.add(1);
            samplesGiven.add(batch.count());
            if (badSamples.areReplaced()) {
                badSamplesMet.add(batch.replaced());
            }
            return batch;
        } catch (BatchException passedOver) {
            advance();
            throw passedOver;
        } finally {
            if (batch == null) {
                leaseEnded(false);
            }
            consumerWaitNanos.add(System.nanoTime() - begin);
        }
    }

    /**
     * Once a batch, also when waiting for it was interrupted and is tried again. Nothing is left to claim only when the
     * loader is being closed, which the delivery then says.
     */
    private void fillInline() {
        if (!inlineFilled) {
            delivery.checkCanTake(run, nextBatch);
            long sequence = run.claim();
            if (sequence >= 0) {
                inline.fill(run, sequence, System.nanoTime());
            }
            inlineFilled = true;
        }
    }

    private void advance() {
        nextBatch++;
        inlineFilled = false;
    }

    /**
     * The rest of the epoch that the loader is in, batch by batch; at an epoch's end, the whole of the next one.
     * Breaking off leaves the loader there.
     *
     * @return batches, each to be closed by the caller; may be iterated once
     */
    public Iterable<Batch> epoch() {
        long epoch = currentEpoch();
        return () -> new EpochIterator(epoch);
    }

    /**
     * All batches of an epoch, from its start: the loader is moved there, if it is elsewhere.
     *
     * @param epoch the epoch, from 0
     * @return batches, each to be closed by the caller; may be iterated once
     */
    public Iterable<Batch> epoch(long epoch) {
        LoaderState here = state();
        if (here.epoch() != epoch || here.position() != 0) {
            seek(epoch);
        }
        return epoch();
    }

    /**
     * All batches from here on, without end unless the loader has a last epoch.
     *
     * @return batches, each to be closed by whoever takes it; sequential
     */
    public Stream<Batch> stream() {
        Iterator<Batch> all = new Iterator<>() {
            @Override
            public boolean hasNext() {
                return DataLoader.this.hasNext();
            }

            @Override
            public Batch next() {
                return DataLoader.this.next();
            }
        };
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(all, Spliterator.ORDERED), false);
    }

    /** Ends where its epoch does, or where the loader was moved elsewhere meanwhile. */
    private final class EpochIterator implements Iterator<Batch> {

        private final Run started = run;
        private final long epoch;

        EpochIterator(long epoch) {
            this.epoch = epoch;
        }

        @Override
        public boolean hasNext() {
            if (run != started) {
                throw new IllegalStateException("the loader was moved during this iteration");
            }
            return run.has(nextBatch) && run.batches.epochOf(nextBatch) <= epoch;
        }

        @Override
        public Batch next() {
            if (!hasNext()) {
                throw new NoSuchElementException("behind the last batch of the epoch");
            }
            return DataLoader.this.next();
        }
    }

    // ---- where the loader is

    /**
     * The epoch of the next batch.
     *
     * @return from 0
     */
    public long currentEpoch() {
        return run.batches.epochOf(nextBatch);
    }

    /**
     * How many batches this rank is given in a whole epoch. With a token budget, epochs differ: this is then the next
     * one, whose lengths are gone through to tell.
     *
     * @return the same for every rank
     */
    public long batchesPerEpoch() {
        return run.batches.batchesInEpoch(run.batches.startState().epoch() + 1);
    }

    /**
     * What the trainer has been given so far, and so where another loader goes on: with
     * {@link DataLoaderBuilder#resume}. Batches that were made ahead do not count.
     *
     * @return a few numbers, whatever the dataset's size
     */
    public LoaderState state() {
        return nextBatch == 0 ? run.batches.startState() : run.batches.stateAfter(nextBatch - 1);
    }

    /**
     * Moves the loader to the start of an epoch. Batches that were made ahead are dropped; leases that are out stay
     * valid.
     *
     * @param epoch the epoch, from 0
     */
    public void seek(long epoch) {
        move(run.batches.startingAt(epoch, 0));
    }

    /**
     * Moves the loader to where a state says.
     *
     * @param state of this dataset and order
     * @throws io.penstock.sampling.StateMismatchException if it is of another
     */
    public void seek(LoaderState state) {
        move(run.batches.resume(state));
    }

    private void move(BatchSampler batches) {
        checkOpen();
        failure.check();
        pool.stop();
        long base = delivery.stop(run.base + nextBatch);
        failure.check();
        ring.unpublishFrom(base);
        begin(batches, base);
    }

    // ---- what the loader is

    /**
     * Where batches go.
     *
     * @return the device
     */
    public Device device() {
        return device;
    }

    /**
     * The fields of a batch, with the greatest shapes that they can have.
     *
     * @return the layout of a slot
     */
    public SlabLayout layout() {
        return layout;
    }

    /**
     * What was allocated at open.
     *
     * @return the slots and their bytes
     */
    public LoaderMemory memory() {
        return memory;
    }

    /**
     * Where the time went so far. May be called by any thread.
     *
     * @return running totals
     */
    public LoaderReport report() {
        return new LoaderReport(batchesGiven.get(), samplesGiven.get(), sum(c -> c.bytes), sum(c -> c.planNanos),
                sum(c -> c.collateNanos), sum(c -> c.slotWaitNanos), delivery.submitNanos(),
                consumerWaitNanos.get(), badSamplesMet.get(), verified == null ? 0 : verified.verifiedBytes());
    }

    /**
     * The samples that could not be read, of what workers have come to so far, batches ahead of the trainer included;
     * at most the first 10,000 of them. Empty under {@link BadSamplePolicy#FAIL}. May be called by any thread.
     *
     * @return the samples, by index
     */
    public List<BadSample> badSamples() {
        return badSamples.met();
    }

    private long sum(Function<WorkerClocks, Counter> which) {
        return clocks.stream().mapToLong(clock -> which.apply(clock).get()).sum();
    }

    // ---- the end

    private void checkOpen() {
        if (closed.get()) {
            throw new IllegalStateException("the loader is closed");
        }
    }

    private void workerDied(Throwable error) {
        failure.set(new IllegalStateException("a worker of " + name + " died: " + error, error));
        delivery.wake();
        ring.wakeWriters();
    }

    /**
     * Stops the workers, each at the end of the batch it is at, waits for the copies in flight, and frees all memory.
     * May be called by any thread: a thread that waits in {@link #next()} gets an {@link IllegalStateException}.
     * Calling it again does nothing. Of a loader that has failed, what goes wrong here is added to that error.
     *
     * @throws RuntimeException if the device reports an error, or the loader has failed and no call has said so yet;
     *     all is freed that can be
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        failure.setClosed();
        var closing = new Closing().step(pool::close).step(delivery::wake).step(delivery::halt);
        for (BatchHolder holder : delivery.holders()) {
            closing.step(() -> closeForgotten(holder.lent));
        }
        if (leases.addAndGet(CLOSING) == CLOSING) {
            closing.step(this::free);
        }
        end(closing);
        if (failure.isUntold()) {
            failure.check();
        }
    }

    /** After a failure, the device repeats it at every call: all that is one error. */
    private void end(Closing closing) {
        if (!failure.isSet()) {
            closing.end();
        } else if (closing.error() != null) {
            failure.add(closing.error());
        }
    }

    private void closeForgotten(Batch batch) {
        if (batch == null) {
            return;
        }
        if (batch.isClosed()) {
            LOG.log(System.Logger.Level.INFO, "{0}: DLPack tensors of {1} are in use; its memory is kept until they are"
                    + " deleted", name, batch);
            return;
        }
        boolean ours = batch.belongsToCaller();
        LOG.log(System.Logger.Level.WARNING, "{0}: {1} was not closed before its loader{2}", name, batch,
                ours ? "" : "; its memory is kept until it is");
        if (ours) {
            batch.close();
        }
    }

    /**
     * Counts a lease before it is there, so that a close beside the call that takes it frees nothing under it; none is
     * begun once that close has looked.
     */
    private void beginLease() {
        if (leases.getAndUpdate(n -> n < CLOSING ? n + 1 : n) >= CLOSING) {
            throw new IllegalStateException("the loader is closed");
        }
    }

    private void leaseEnded(boolean inDeleter) {
        if (leases.decrementAndGet() == CLOSING) {
            if (inDeleter) {
                Thread.ofPlatform().name(name + "-free").daemon(false).start(this::freeLate);
            } else {
                Threads.runOnPlatformThread(this::free);
            }
        }
    }

    /** On behalf of native code that cannot be told of an error. */
    private void freeLate() {
        try {
            free();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, name + ": freeing memory that DLPack tensors had kept", e);
        }
    }

    private void free() {
        var closing = new Closing();
        if (inline != null) {
            closing.step(inline::close);                // not before the trainer's thread is out of it
        }
        closing.step(delivery::close).step(ring::close);
        if (ownsDevice) {
            closing.step(device::close);
        }
        end(closing);
    }
}
