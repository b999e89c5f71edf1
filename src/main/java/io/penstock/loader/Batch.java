package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackForm;
import io.penstock.memory.SlabTable;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;

/**
 * A lease on one batch: named tensors in the loader's memory, until {@link #close}. Closing gives the slot back; what
 * is read through the batch or its tensors afterwards throws, and never shows a later batch's bytes, unless the loader
 * was built with {@linkplain LeaseMode#REUSED leases that are reused}.
 *
 * <p><b>Threads.</b> A batch that the CPU can read belongs to the thread that took it: only that thread may read its
 * tensors and close it, unless the loader was built with
 * {@linkplain LeaseMode#SHARED shared leases}. A batch on a GPU may be used and closed by any thread, one
 * at a time; without shared leases, the thread that took it is still the one that is expected to close it before it
 * waits for a slot, or closes the loader.
 *
 * <p><b>Streams.</b> A kernel that reads the batch outlives the call that launched it. So that the slot is not
 * overwritten under it, name the stream: by taking the batch with {@link DataLoader#next(DeviceStream)}, or by
 * {@link #usedOn}. Closing then records an event on each stream, and the next copy into the slot waits for these. So
 * streams are closed after the batches that they use.
 */
public sealed class Batch implements AutoCloseable permits WatchedBatch {

    /** The most streams that one batch may be used on. */
    static final int MAX_STREAMS = 4;
    /** DLPack consumers' streams: none that is to wait, and CUDA's legacy default stream. */
    private static final long NO_STREAM = -1;
    private static final long LEGACY_STREAM = 1;

    private static final VarHandle CLOSED;
    private static final VarHandle HOLDS;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Batch.class, "closed", boolean.class);
            HOLDS = MethodHandles.lookup().findVarHandle(Batch.class, "holds", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Lender lender;
    private final BatchHolder holder;
    private final LeaseMode mode;
    private long sequence;
    private int count;
    /** The thread that took the batch; null if leases are shared. */
    private Thread taker;
    private volatile boolean closed;
    /** What keeps the slot from being given back: this lease, and every DLPack tensor that is out. */
    private volatile int holds;
    /** Whether this lease no longer holds; of the thread that closes. */
    private boolean released;
    /** Opened with the first view that is handed out. */
    private Arena lease;
    private DeviceStream[] streams;
    private int streamCount;

    Batch(Lender lender, BatchHolder holder, LeaseMode mode) {
        this.lender = lender;
        this.holder = holder;
        this.mode = mode;
    }

    /** Begins a lease: the only one of this batch, unless leases are reused. Of the thread that takes it. */
    void begin(long ofSequence, int samples) {
        sequence = ofSequence;
        count = samples;
        taker = mode == LeaseMode.SHARED ? null : Thread.currentThread();
        released = false;
        streamCount = 0;
        HOLDS.set(this, 1);
        CLOSED.setRelease(this, false);
    }

    /**
     * The batch's number in its run: 0 for the first one after the loader was opened or moved.
     *
     * @return from 0
     */
    public long number() {
        return open().plan.number();
    }

    /**
     * The epoch that all samples of the batch belong to.
     *
     * @return from 0
     */
    public long epoch() {
        return open().plan.epoch();
    }

    /**
     * The batch's number in its epoch, counted from where the run began in it.
     *
     * @return from 0
     */
    public long indexInEpoch() {
        return open().plan.indexInEpoch();
    }

    /**
     * How many samples the batch has.
     *
     * @return the batch size, or less for the last batch of an epoch
     */
    public int count() {
        open();
        return count;
    }

    /**
     * How many samples carry weight, the first ones: fewer than {@link #count} only under the tail policy
     * {@code EXACT} and the policy {@link BadSamplePolicy#SKIP} on bad samples.
     *
     * @return the number of samples that count in a loss or a metric
     */
    public int valid() {
        return open().plan.valid();
    }

    /**
     * How many samples could not be read, and have others in their places: 0 under {@link BadSamplePolicy#FAIL}.
     *
     * @return the number of samples that were replaced or skipped
     */
    public int replaced() {
        return open().plan.replaced();
    }

    /**
     * Which sample a row is.
     *
     * @param row from 0 up to, not including, {@link #count}
     * @return the sample's index in the dataset
     */
    public long sample(int row) {
        return open().plan.sample(row);
    }

    /**
     * Where a row's sample stands in the epoch's order, counted over all ranks: what random numbers for it are drawn
     * by, with {@link io.penstock.sampling.KeyedRandom}.
     *
     * @param row from 0 up to, not including, {@link #count}
     * @return from 0; a surplus sample's is at or past the epoch's size
     */
    public long position(int row) {
        return open().plan.position(row);
    }

    /**
     * The fields, with the shapes that they have in this batch.
     *
     * @return name, dtype and shape of each
     */
    public List<TensorSpec> fields() {
        SlabTable table = open().table;
        List<TensorSpec> greatest = table.layout().fields();
        TensorSpec[] specs = new TensorSpec[greatest.size()];
        Arrays.setAll(specs, f -> new TensorSpec(greatest.get(f).name(), greatest.get(f).dtype(), table.shape(f)));
        return List.of(specs);
    }

    /**
     * A field as a tensor that the CPU reads in place.
     *
     * @param name the field's name
     * @return a view that dies with this lease
     * @throws IllegalArgumentException if there is no such field
     * @throws UnsupportedOperationException if the batch is on a GPU: use {@link #address}
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public Tensor tensor(String name) {
        SlabTable table = open().table;
        int field = table.layout().indexOf(name);
        checkReadable();
        return mode == LeaseMode.REUSED ? holder.tensor(field) : table.tensor(field, holder.start(field), lease());
    }

    /**
     * Where a field starts on the device.
     *
     * @param name the field's name
     * @return an address in device memory, a multiple of 256; on the host, of host memory that nothing guards
     * @throws IllegalArgumentException if there is no such field
     * @throws IllegalStateException if the batch is closed
     */
    public long address(String name) {
        SlabTable table = open().table;
        return holder.address + table.offset(table.layout().indexOf(name));
    }

    /**
     * Bytes of all fields together, the gaps between them included: what was copied to the device.
     *
     * @return the used bytes of the slab
     */
    public long byteSize() {
        return open().table.usedBytes();
    }

    /**
     * The whole slab as the CPU reads it in place; fields start where their tensors do.
     *
     * @return a view that dies with this lease, {@link #byteSize} long
     * @throws UnsupportedOperationException if the batch is on a GPU
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    @SuppressWarnings("restricted")
    public MemorySegment segment() {
        long bytes = open().table.usedBytes();
        checkReadable();
        return mode == LeaseMode.REUSED ? holder.used(bytes) : holder.memory.reinterpret(bytes, lease(), null);
    }

    /**
     * Copies the whole slab to pinned memory: to look at a batch that is on a GPU. The copy is enqueued on the stream,
     * which counts as one that the batch is {@linkplain #usedOn used on}.
     *
     * @param stream a stream of the loader's device
     * @param target at least {@link #byteSize} bytes; fields lie in it as in the slab
     * @throws IllegalStateException if the batch is closed
     */
    public void copyToHost(DeviceStream stream, PinnedBuffer target) {
        usedOn(stream);
        lender.copyToHost(this, stream, target);
    }

    /**
     * Says that work on a stream reads the batch. The stream is made to wait for the batch's bytes; what is enqueued
     * there up to {@link #close} ends before the slot is reused.
     *
     * @param stream a stream of the loader's device
     * @throws IllegalArgumentException if it is another device's
     * @throws IllegalStateException if the batch is closed, or used on more than {@value #MAX_STREAMS} streams
     */
    public void usedOn(DeviceStream stream) {
        open();
        for (int i = 0; i < streamCount; i++) {
            if (streams[i] == stream) {
                return;
            }
        }
        boolean known = isUsedOnStreamWith(stream.handle());
        if (streamCount == MAX_STREAMS && !known) {
            throw new IllegalStateException("batch " + number() + " is used on too many streams, expected at most "
                    + MAX_STREAMS);
        }
        lender.makeWait(this, stream);
        if (!known) {
            addStream(stream);
        }
    }

    /** Whether another view of a stream is there: to wait again does no harm, to be recorded twice is in vain. */
    private boolean isUsedOnStreamWith(long handle) {
        for (int i = 0; i < streamCount; i++) {
            if (streams[i].handle() == handle) {
                return true;
            }
        }
        return false;
    }

    /** Adds a stream that waits for the bytes already. */
    void addStream(DeviceStream stream) {
        if (streams == null) {
            streams = new DeviceStream[MAX_STREAMS];
        }
        streams[streamCount++] = stream;
    }

    /**
     * A field as a DLPack tensor, for a consumer that works on CUDA's legacy default stream, or in host memory:
     * {@link #toDLPack(String, long, DLPackForm) toDLPack(name, 1, VERSIONED)}.
     *
     * @param name the field's name
     * @return the tensor, to be handed over to a consumer, or closed
     * @throws IllegalArgumentException if there is no such field
     * @throws IllegalStateException if the batch is closed, or used on more than {@value #MAX_STREAMS} streams
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public DLPackCapsule toDLPack(String name) {
        return toDLPack(name, LEGACY_STREAM);
    }

    /**
     * A field as a DLPack tensor in the versioned form:
     * {@link #toDLPack(String, long, DLPackForm) toDLPack(name, stream, VERSIONED)}.
     *
     * @param name the field's name
     * @param stream the consumer's stream, or -1
     * @return the tensor, to be handed over to a consumer, or closed
     * @throws IllegalArgumentException if there is no such field, or the stream is 0 or less than -1
     * @throws IllegalStateException if the batch is closed, or used on more than {@value #MAX_STREAMS} streams
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public DLPackCapsule toDLPack(String name, long stream) {
        return toDLPack(name, stream, DLPackForm.VERSIONED);
    }

    /**
     * A field as a DLPack tensor. It holds the slot as the lease does: the slot takes another batch once the batch is
     * closed <em>and</em> the consumer has deleted the tensor, in whatever order, and memory that is in use so outlives
     * the loader. What {@link #tensor} gave ends with {@link #close} all the same. While tensors are out, their slots
     * are missing from the ring: {@link DataLoader#next()} waits for one when all are.
     *
     * <p><b>Before the consumer reads.</b> On a GPU, {@code stream} is the stream that the consumer works on, in the
     * array API's convention: 1 is CUDA's legacy default stream, 2 this thread's default stream (which then is to close
     * the batch), a greater number a {@code cudaStream_t}. It is made to wait for the batch's bytes, and the batch is
     * {@linkplain #usedOn used on} it. -1 orders nothing. In host memory the bytes are there when this returns, unless
     * it is -1.
     *
     * <p><b>After it has read.</b> A deleter says nothing of streams. What the consumer enqueues before the batch is
     * closed, on streams that it was used on, is waited for. Whatever it enqueues later or elsewhere must have ended
     * before it deletes the tensor.
     *
     * @param name the field's name
     * @param stream the consumer's stream, or -1
     * @param form the struct that the consumer takes
     * @return the tensor, to be handed over to a consumer, or closed
     * @throws IllegalArgumentException if there is no such field, or the stream is 0, which may mean either default
     *     stream, or less than -1
     * @throws IllegalStateException if the batch is closed, or used on more than {@value #MAX_STREAMS} streams
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public DLPackCapsule toDLPack(String name, long stream, DLPackForm form) {
        SlabTable table = open().table;
        int field = table.layout().indexOf(name);
        if (stream == 0 || stream < NO_STREAM) {
            throw new IllegalArgumentException("DLPack consumer's stream: found " + stream + ", expected " + NO_STREAM
                    + " for none, 1 for the legacy default stream, 2 for the thread's, or a cudaStream_t");
        }
        checkThread();
        hold();
        try {
            if (stream != NO_STREAM) {
                lender.makeConsumerWait(this, stream);
            }
            return DLPackCapsule.of(holder.device, holder.address + table.offset(field),
                    table.layout().fields().get(field).dtype(), table.shape(field), false, form, () -> letGo(true));
        } catch (RuntimeException | Error e) {
            letGo(false);
            throw e;
        }
    }

    /**
     * Closes the lease and gives the slot back, at once or, if DLPack tensors of the batch are out, when the last of
     * them is deleted. Calling it again does nothing.
     *
     * @throws WrongThreadException if the batch belongs to another thread; it stays open
     * @throws IllegalStateException if the batch is used on a stream of a GPU and this is a virtual thread, or if
     *     another thread is inside a native call with one of its tensors; it stays open
     * @throws RuntimeException if a stream that uses the batch was closed before it, or the device reports an error;
     *     the batch is closed, and the loader has failed
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        checkThread();
        if (!CLOSED.compareAndSet(this, false, true)) {
            return;
        }
        try {
            if (lease != null) {
                lease.close();
            }
            lender.release(this);
        } catch (RuntimeException | Error e) {
            closed = released;
            throw e;
        }
    }

    /** Called by the lender, on the thread that closes, when this lease no longer holds the slot. */
    void released() {
        released = true;
        letGo(false);
    }

    /** Keeps the slot from being given back. */
    private void hold() {
        int held = holds;
        while (held > 0 && !HOLDS.compareAndSet(this, held, held + 1)) {
            held = holds;
        }
        if (held == 0) {
            throw new IllegalStateException("the batch is closed");
        }
        if (closed) {
            letGo(false);
            throw new IllegalStateException("the batch is closed");
        }
    }

    /** One hold less: whoever gives up the last one gives the slot back. */
    private void letGo(boolean inDeleter) {
        if ((int) HOLDS.getAndAdd(this, -1) == 1) {
            lender.giveBack(this, inDeleter);
        }
    }

    BatchHolder holder() {
        return holder;
    }

    /** As {@link #holder}, for those who read. */
    BatchHolder openHolder() {
        return open();
    }

    Lender lender() {
        return lender;
    }

    long sequence() {
        return sequence;
    }

    int streamCount() {
        return streamCount;
    }

    DeviceStream stream(int i) {
        return streams[i];
    }

    /** Whether the calling thread took the batch and is the one to close it. */
    boolean belongsToCaller() {
        return !closed && taker == Thread.currentThread();
    }

    boolean isClosed() {
        return closed;
    }

    BatchHolder open() {
        if (closed) {
            throw new IllegalStateException("the batch is closed");
        }
        return holder;
    }

    private void checkThread() {
        if (holder.memory != null && taker != null && taker != Thread.currentThread()) {
            throw new WrongThreadException("the batch belongs to thread " + taker.getName() + ", found "
                    + Thread.currentThread().getName() + "; use LeaseMode.SHARED to pass batches between threads");
        }
    }

    private void checkReadable() {
        if (holder.memory == null) {
            throw new UnsupportedOperationException("the batch is in device memory, which the CPU cannot read");
        }
        checkThread();
    }

    /** What ends the life of every view that was handed out, whatever happens to the slot. */
    private Arena lease() {
        if (lease == null) {
            lease = mode == LeaseMode.SHARED ? Arena.ofShared() : Arena.ofConfined();
        }
        return lease;
    }

    /** Works at any time, as messages about forgotten batches need it to. */
    @Override
    public String toString() {
        return holds == 0 ? "batch (closed)" : "batch " + holder.plan.number() + " of epoch " + holder.plan.epoch();
    }
}
