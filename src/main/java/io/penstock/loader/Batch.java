// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.arrow.ArrowCapsule;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackCapsule.DLPackForm;
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
 * A batch on loan: named tensors in the loader's memory, until {@link #close} returns the slot. Afterwards, reading the
 * batch or its tensors throws and never shows a later batch's bytes, unless the loader was built with
 * {@linkplain LeaseMode#REUSED reused leases}.
 *
 * <p><b>Threads.</b> A batch that the CPU can read belongs to the thread that took it: only that thread may read its
 * tensors and close it, unless the loader was built with {@linkplain LeaseMode#SHARED shared leases}. A batch on a GPU
 * may be used and closed by any thread, one at a time. Without shared leases, the thread that took it should still
 * close it before it waits for a slot or closes the loader.
 *
 * <p><b>Streams.</b> A kernel may still read the batch after the call that launched it. So name its stream, by taking
 * the batch with {@link DataLoader#next(DeviceStream)} or by {@link #usedOn}: closing the batch then records an event
 * on the stream, and the next copy into the slot waits for it. Close streams after the batches that use them.
 *
 * <p><b>Native code.</b> Other libraries can use the memory of {@link #buffer}, {@link #address} and
 * {@link Tensor#segment} in place, until {@link #close}. {@link #toDLPack} keeps the slot for as long as they need it,
 * and {@link #toHost()} copies.
 */
public final class Batch implements AutoCloseable {

    /** DLPack consumers' streams: none that is to wait, and CUDA's legacy default stream. */
    private static final long NO_STREAM = -1;
    private static final long LEGACY_STREAM = 1;

    private final Lease lease;

    /** Creates a view of a lease, which never refers to it. */
    Batch(Lease lease, String loader) {
        this.lease = lease;
        if (Leak.isLookedFor()) {
            lease.watchedBy(Leak.watch(this, "batch of loader", loader + ": " + lease));
        }
    }

    /** {@return the batch's number in its run, from 0 when the loader is opened or moved} */
    public long number() {
        return lease.open().plan.number();
    }

    /**
     * {@return the number of the batch's slot, less than the number of device slots, or of host slots if batches are
     * lent in place} Two batches in one slot whose fields have the same shapes have the same addresses. So a CUDA graph
     * captured for one can be launched for the other.
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

    /** {@return the batch's number in its epoch, from 0 at the run's start position in it} */
    public long indexInEpoch() {
        return lease.open().plan.indexInEpoch();
    }

    /**
     * {@return the number of samples: the batch size, or less in an epoch's last batch; with a token budget, as many
     * as fit}
     */
    public int count() {
        return lease.open().plan.count();
    }

    /**
     * {@return the number of samples with weight in a loss or metric, which come first: less than {@link #count} only
     * under the tail policy {@code EXACT} and the bad-sample policy {@link BadSamplePolicy#SKIP}}
     */
    public int valid() {
        return lease.open().plan.valid();
    }

    /**
     * {@return the number of unreadable samples that were replaced or skipped; 0 under {@link BadSamplePolicy#FAIL}}
     */
    public int replaced() {
        return lease.open().plan.replaced();
    }

    /**
     * {@return the dataset index of a row's sample}
     *
     * @param row from 0 up to, not including, {@link #count}
     */
    public long sample(int row) {
        return lease.open().plan.sample(row);
    }

    /**
     * {@return the position of a row's sample in the epoch's order, over all ranks; at or past the epoch's size for a
     * surplus sample} Its random numbers depend on it: {@link io.penstock.sampling.KeyedRandom}.
     *
     * @param row from 0 up to, not including, {@link #count}
     */
    public long position(int row) {
        return lease.open().plan.position(row);
    }

    /** {@return the name, dtype and shape of each field in this batch} */
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
     * @return a view, valid until this lease ends
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
        return lease.isReused() ? holder.tensor(field) : holder.slab.tensor(field, holder.start(field), lease.views());
    }

    /**
     * All fields as tensors that the CPU reads in place: {@code batch.tensors().forEach((name, tensor) -> …)}.
     *
     * @return the tensors by field name, in the fields' order; views, valid until this lease ends
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
     * A field as a buffer over its memory, for libraries that may keep its address. Java code that reads the buffer
     * after {@link #close} gets an exception unless leases are reused; native code never does.
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
     * Whether native code may know an address in the batch, from {@link #address}, {@link #buffer} or
     * {@link #toDLPack}. If it keeps the address, it reads whatever the memory holds later;
     * {@code -Dpenstock.leases=paranoid} finds that.
     *
     * @return true from the first such call until the batch is closed
     * @throws IllegalStateException if the batch is closed
     */
    public boolean isGivenToNativeCode() {
        lease.open();
        return lease.isGivenToNativeCode();
    }

    /**
     * A field's address on the device.
     *
     * @param name the field's name
     * @return an address in device memory, a multiple of 256; on the host, in host memory: nothing stops native code
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
     * A field's offset in the slab.
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
     * {@return the bytes in use in the slab, up to the end of the last field: what was copied to the device, the
     * outputs of stages, and the gaps between fields}
     */
    public long byteSize() {
        return lease.open().slab.usedBytes();
    }

    /**
     * The slab as the CPU reads it in place; fields start at their {@link #offset}.
     *
     * @return a view of {@link #byteSize} bytes, valid until this lease ends
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
     * Copies the slab to pinned memory, to look at a batch on a GPU. The copy is enqueued on the stream, on which the
     * batch then counts as {@linkplain #usedOn used}.
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
     * Copies the batch to garbage-collected host memory: to look at a batch on a GPU, or to keep one after
     * {@link #close}. Waits for the batch's bytes and for the copy. Not for every step: for a GPU, each call allocates
     * pinned memory.
     *
     * @return the tensors by field name, in the fields' order; any thread may read them at any time
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public Map<String, Tensor> toHost() {
        return toHost(Arena.ofAuto());
    }

    /**
     * Copies the batch to host memory, as {@link #toHost()} does.
     *
     * @param arena allocates the memory, {@link #byteSize} bytes; the tensors live as long as it
     * @return the tensors by field name, in the fields' order
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
     * Declares that work on a stream reads the batch. The stream waits for the batch's bytes; the slot is reused only
     * after all work that is enqueued there before {@link #close}.
     *
     * @param stream a stream of the loader's device
     * @throws IllegalArgumentException if it belongs to another device
     * @throws IllegalStateException if the batch is closed, or used on more than 4 streams
     */
    public void usedOn(DeviceStream stream) {
        lease.usedOn(stream);
    }

    /**
     * A field as a DLPack tensor, for a consumer in host memory or on CUDA's legacy default stream:
     * {@link #toDLPack(String, long, DLPackForm) toDLPack(name, 1, VERSIONED)}.
     *
     * @param name the field's name
     * @return the tensor, to be passed to a consumer or closed
     * @throws RuntimeException as {@link #toDLPack(String, long, DLPackForm)}
     */
    public DLPackCapsule toDLPack(String name) {
        return toDLPack(name, LEGACY_STREAM);
    }

    /**
     * A field as a DLPack tensor in the versioned form: {@link #toDLPack(String, long, DLPackForm) toDLPack(name,
     * stream, VERSIONED)}.
     *
     * @param name the field's name
     * @param stream the consumer's stream, or -1
     * @return the tensor, to be passed to a consumer or closed
     * @throws RuntimeException as {@link #toDLPack(String, long, DLPackForm)}
     */
    public DLPackCapsule toDLPack(String name, long stream) {
        return toDLPack(name, stream, DLPackForm.VERSIONED);
    }

    /**
     * A field as a DLPack tensor. The slot takes another batch only when the batch is closed <em>and</em> the consumer
     * has deleted the tensor, in either order; so its memory can outlive the loader. Tensors of {@link #tensor} still
     * end with {@link #close}. When DLPack tensors hold all slots, {@link DataLoader#next()} waits.
     *
     * <p><b>Before the consumer reads.</b> On a GPU, {@code stream} is the consumer's stream in the array API's
     * convention: 1 is CUDA's legacy default stream, 2 this thread's default stream (then this thread must close the
     * batch), a greater number a {@code cudaStream_t}. The stream waits for the batch's bytes, and the batch is
     * {@linkplain #usedOn used on} it. -1 orders nothing. In host memory the bytes are there when this returns, unless
     * the stream is -1.
     *
     * <p><b>After it has read.</b> A deleter does not name streams. The slot waits for all work that the consumer
     * enqueues before the batch is closed, on streams that the batch is used on. Any other work must end before the
     * consumer deletes the tensor.
     *
     * @param name the field's name
     * @param stream the consumer's stream, or -1
     * @param form the struct that the consumer takes
     * @return the tensor, to be passed to a consumer or closed
     * @throws IllegalArgumentException if there is no such field, or the stream is less than -1, or 0, which may mean
     *     either default stream
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
     * Fields as the columns of an Arrow record batch, without a copy: {@link ArrowCapsule} says how each becomes one.
     * The slot takes another batch only when this batch is closed <em>and</em> the consumer has released the columns,
     * in either order.
     *
     * @param names the fields, in order; none for all
     * @return the columns, to be passed to a consumer and closed
     * @throws IllegalArgumentException if there is no such field, or one cannot be a column; names it
     * @throws UnsupportedOperationException if the batch is on a GPU
     * @throws IllegalStateException if the batch is closed
     * @throws WrongThreadException if the batch belongs to another thread
     */
    public ArrowCapsule toArrow(String... names) {
        BatchHolder holder = lease.open();
        checkReadable(holder);
        SlabLayout layout = holder.slab.layout();
        List<String> chosen = names.length > 0 ? List.of(names)
                : layout.fields().stream().map(TensorSpec::name).toList();
        Map<String, Tensor> columns = new LinkedHashMap<>();
        for (String name : chosen) {
            columns.put(name, tensor(holder, layout.indexOf(name)));
        }
        Lease held = lease;
        held.hold();
        try {
            ArrowCapsule capsule = ArrowCapsule.of(columns, () -> held.letGo(true));
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
     *     the batch is closed, and a loader that copies to a device has failed
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
