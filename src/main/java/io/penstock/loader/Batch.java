// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackForm;
import io.penstock.internal.Leak;
import io.penstock.loader.slots.BatchHolder;
import io.penstock.loader.slots.Lease;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

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
 *
 * <p><b>Native code.</b> {@link #buffer}, {@link #address} and {@link Tensor#segment} give memory that other libraries
 * can use in place, until {@link #close}. {@link #toDLPack} keeps the slot for them as long as they need it, and
 * {@link #toHost()} copies.
 */
public final class Batch implements AutoCloseable {

    /** DLPack consumers' streams: none that is to wait, and CUDA's legacy default stream. */
    private static final long NO_STREAM = -1;
    private static final long LEGACY_STREAM = 1;

    private final Lease lease;

    /**
     * A view of a lease, which never refers to it.
     *
     * @param loader the loader's name
     */
    Batch(Lease lease, String loader) {
        this.lease = lease;
        if (Leak.isLookedFor()) {
            lease.watchedBy(Leak.watch(this, "batch of loader", loader + ": " + lease));
        }
    }

    /**
     * The batch's number in its run: 0 for the first one after the loader was opened or moved.
     *
     * @return from 0
     */
    public long number() {
        return lease.open().plan.number();
    }

    /**
     * Which slot the batch is in: of two batches in the same slot whose fields have the same shapes, all addresses are
     * the same. So a graph of kernels that was captured for one can be launched for the other.
     *
     * @return from 0 up to, not including, the number of device slots, or of host slots if batches are lent in place
     */
    public int slot() {
        return lease.open().index;
    }

    /**
     * Whether what is lent with this batch is lent again with later ones in its slot, as {@link LeaseMode#REUSED} says.
     *
     * @return true if objects that wrap a batch may be reused as well
     */
    public boolean isReused() {
        lease.open();
        return lease.isReused();
    }

    /**
     * The epoch that all samples of the batch belong to.
     *
     * @return from 0
     */
    public long epoch() {
        return lease.open().plan.epoch();
    }

    /**
     * The batch's number in its epoch, counted from where the run began in it.
     *
     * @return from 0
     */
    public long indexInEpoch() {
        return lease.open().plan.indexInEpoch();
    }

    /**
     * How many samples the batch has.
     *
     * @return the batch size, or less for the last batch of an epoch
     */
    public int count() {
        return lease.open().plan.count();
    }

    /**
     * How many samples carry weight, the first ones: fewer than {@link #count} only under the tail policy
     * {@code EXACT} and the policy {@link BadSamplePolicy#SKIP} on bad samples.
     *
     * @return the number of samples that count in a loss or a metric
     */
    public int valid() {
        return lease.open().plan.valid();
    }

    /**
     * How many samples could not be read, and have others in their places: 0 under {@link BadSamplePolicy#FAIL}.
     *
     * @return the number of samples that were replaced or skipped
     */
    public int replaced() {
        return lease.open().plan.replaced();
    }

    /**
     * Which sample a row is.
     *
     * @param row from 0 up to, not including, {@link #count}
     * @return the sample's index in the dataset
     */
    public long sample(int row) {
        return lease.open().plan.sample(row);
    }

    /**
     * Where a row's sample stands in the epoch's order, counted over all ranks: what random numbers for it are drawn
     * by, with {@link io.penstock.sampling.KeyedRandom}.
     *
     * @param row from 0 up to, not including, {@link #count}
     * @return from 0; a surplus sample's is at or past the epoch's size
     */
    public long position(int row) {
        return lease.open().plan.position(row);
    }

    /**
     * The fields, with the shapes that they have in this batch.
     *
     * @return name, dtype and shape of each
     */
    public List<TensorSpec> fields() {
        Slab slab = lease.open().slab;
        List<TensorSpec> greatest = slab.layout().fields();
        TensorSpec[] specs = new TensorSpec[greatest.size()];
        Arrays.setAll(specs, f -> new TensorSpec(greatest.get(f).name(), greatest.get(f).dtype(), slab.shape(f)));
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
        BatchHolder holder = lease.open();
        int field = holder.slab.layout().indexOf(name);
        checkReadable(holder);
        return tensor(holder, field);
    }

    private Tensor tensor(BatchHolder holder, int field) {
        return lease.isReused() ? holder.tensor(field)
                : holder.slab.tensor(field, holder.start(field), lease.views());
    }

    /**
     * All fields as tensors that the CPU reads in place: {@code batch.tensors().forEach((name, tensor) -> …)}.
     *
     * @return the tensors by the fields' names, in the fields' order; views that die with this lease
     * @throws UnsupportedOperationException if the batch is on a GPU: use {@link #toHost()}
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public Map<String, Tensor> tensors() {
        BatchHolder holder = lease.open();
        checkReadable(holder);
        return byName(holder, field -> tensor(holder, field));
    }

    private static Map<String, Tensor> byName(BatchHolder holder, IntFunction<Tensor> tensor) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        List<TensorSpec> fields = holder.slab.layout().fields();
        for (int f = 0; f < fields.size(); f++) {
            tensors.put(fields.get(f).name(), tensor.apply(f));
        }
        return Collections.unmodifiableMap(tensors);
    }

    /**
     * A field as a buffer over its memory, for libraries that take one, which may keep its address. Java code that
     * reads the buffer after {@link #close} gets an exception unless leases are reused; native code never does.
     *
     * @param name the field's name
     * @return a direct, read-only, little-endian view: the native order of x86 and Arm
     * @throws IllegalArgumentException if there is no such field
     * @throws UnsupportedOperationException if the batch is on a GPU, or the field has 2 GiB or more
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public ByteBuffer buffer(String name) {
        MemorySegment segment = tensor(name).segment();
        lease.setGivenToNativeCode();
        return segment.asReadOnly().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Whether an address in the batch was given away: by {@link #address}, {@link #buffer} or {@link #toDLPack}. Native
     * code that keeps the address reads whatever the memory holds later; {@code -Dpenstock.leases=paranoid} finds that.
     *
     * @return true from the first such call until the batch is closed
     * @throws IllegalStateException if the batch is closed
     */
    public boolean isGivenToNativeCode() {
        lease.open();
        return lease.isGivenToNativeCode();
    }

    /**
     * Where a field starts on the device.
     *
     * @param name the field's name
     * @return an address in device memory, a multiple of 256; on the host, of host memory: nothing stops native code
     *     from reading there after {@link #close}
     * @throws IllegalArgumentException if there is no such field
     * @throws IllegalStateException if the batch is closed
     */
    public long address(String name) {
        BatchHolder holder = lease.open();
        long address = holder.address(holder.slab.layout().indexOf(name));
        lease.setGivenToNativeCode();
        return address;
    }

    /**
     * Where a field starts in the slab.
     *
     * @param name the field's name
     * @return bytes from the start of {@link #segment}, a multiple of 256
     * @throws IllegalArgumentException if there is no such field
     * @throws IllegalStateException if the batch is closed
     */
    public long offset(String name) {
        Slab slab = lease.open().slab;
        return slab.offset(slab.layout().indexOf(name));
    }

    /**
     * Bytes of the slab up to the end of the last field: what was copied to the device, and the outputs of stages with
     * the gaps between them.
     *
     * @return the used bytes of the slab
     */
    public long byteSize() {
        return lease.open().slab.usedBytes();
    }

    /**
     * The whole slab as the CPU reads it in place; fields start at their {@link #offset}.
     *
     * @return a view that dies with this lease, {@link #byteSize} long
     * @throws UnsupportedOperationException if the batch is on a GPU
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    @SuppressWarnings("restricted")
    public MemorySegment segment() {
        BatchHolder holder = lease.open();
        checkReadable(holder);
        long bytes = holder.slab.usedBytes();
        return lease.isReused() ? holder.used(bytes) : holder.memory().reinterpret(bytes, lease.views(), null);
    }

    /**
     * Copies the whole slab to pinned memory: to look at a batch that is on a GPU. The copy is enqueued on the stream,
     * which counts as one that the batch is {@linkplain #usedOn used on}.
     *
     * @param stream a stream of the loader's device
     * @param target at least {@link #byteSize} bytes; fields start in it at their {@link #offset}
     * @throws IllegalStateException if the batch is closed
     */
    public void copyToHost(DeviceStream stream, PinnedBuffer target) {
        lease.usedOn(stream);
        lease.lender().copyToHost(lease, stream, target);
    }

    /**
     * Copies the batch to host memory that the garbage collector frees: to look at a batch on a GPU, or to keep one
     * after {@link #close}. Waits for the batch's bytes and for the copy. A GPU's batch goes through pinned memory that
     * is allocated for this call, so this is not for every step.
     *
     * @return the tensors by the fields' names, in the fields' order; any thread may read them at any time
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public Map<String, Tensor> toHost() {
        return toHost(Arena.ofAuto());
    }

    /**
     * Copies the batch to host memory, as {@link #toHost()} does.
     *
     * @param arena allocates the memory, {@link #byteSize} bytes, and ends the tensors' lives
     * @return the tensors by the fields' names, in the fields' order
     * @throws IllegalStateException if the batch or the arena is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public Map<String, Tensor> toHost(Arena arena) {
        BatchHolder holder = lease.open();
        lease.checkThread();
        Slab slab = holder.slab;
        MemorySegment copy = arena.allocate(slab.usedBytes(), SlabLayout.ALIGNMENT_BYTES);
        lease.lender().copyToHost(lease, copy);
        return byName(holder, field -> Tensor.of(copy.asSlice(slab.offset(field), slab.byteSize(field)),
                slab.layout().fields().get(field).dtype(), slab.shape(field)));
    }

    /**
     * Says that work on a stream reads the batch. The stream is made to wait for the batch's bytes; what is enqueued
     * there up to {@link #close} ends before the slot is reused.
     *
     * @param stream a stream of the loader's device
     * @throws IllegalArgumentException if it is another device's
     * @throws IllegalStateException if the batch is closed, or used on more than 4 streams
     */
    public void usedOn(DeviceStream stream) {
        lease.usedOn(stream);
    }

    /**
     * A field as a DLPack tensor, for a consumer that works on CUDA's legacy default stream, or in host memory:
     * {@link #toDLPack(String, long, DLPackForm) toDLPack(name, 1, VERSIONED)}.
     *
     * @param name the field's name
     * @return the tensor, to be handed over to a consumer, or closed
     * @throws RuntimeException as {@link #toDLPack(String, long, DLPackForm)}
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
     * @throws RuntimeException as {@link #toDLPack(String, long, DLPackForm)}
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
     * @throws IllegalStateException if the batch is closed, or used on more than 4 streams
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public DLPackCapsule toDLPack(String name, long stream, DLPackForm form) {
        BatchHolder holder = lease.open();
        Slab slab = holder.slab;
        int field = slab.layout().indexOf(name);
        if (stream == 0 || stream < NO_STREAM) {
            throw new IllegalArgumentException("DLPack consumer's stream: found " + stream + ", expected " + NO_STREAM
                    + " for none, 1 for the legacy default stream, 2 for the thread's, or a cudaStream_t");
        }
        Lease held = lease;
        held.checkThread();
        held.hold();
        try {
            if (stream != NO_STREAM) {
                held.lender().makeConsumerWait(held, stream);
            }
            DLPackCapsule capsule = DLPackCapsule.of(holder.device, holder.address(field),
                    slab.layout().fields().get(field).dtype(), slab.shape(field), form, () -> held.letGo(true));
            held.setGivenToNativeCode();
            return capsule;
        } catch (RuntimeException | Error e) {
            held.letGo(false);
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
        try {
            lease.close();
        } finally {
            Reference.reachabilityFence(this);          // else it may count as dropped before it is closed
        }
    }

    /** What the batch is a view of. */
    Lease lease() {
        return lease;
    }

    private void checkReadable(BatchHolder holder) {
        if (!holder.isReadable()) {
            throw new UnsupportedOperationException("the batch is in device memory, which the CPU cannot read:"
                    + " toHost() copies it");
        }
        lease.checkThread();
    }

    /** Works at any time, as messages about forgotten batches need it to. */
    @Override
    public String toString() {
        return lease.toString();
    }
}
