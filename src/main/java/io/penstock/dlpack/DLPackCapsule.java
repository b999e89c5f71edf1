// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A tensor exported as a DLPack struct on its way to a consumer, like a {@code PyCapsule} in Python. The capsule owns
 * the struct until it is handed over; closing the capsule before then deletes the struct. After the hand-over the
 * consumer owns it and calls the struct's deleter when done, from any thread.
 *
 * <pre>{@code
 * try (DLPackCapsule capsule = batch.toDLPack("tokens")) {
 *     consume(capsule.address());       // reads the struct, and keeps it unless it fails
 *     capsule.handOver();
 * }
 * }</pre>
 *
 * <p>The struct and the memory it points to stay valid until the deleter is called. The deleter never blocks and may be
 * called on a thread unknown to the JVM. A second call is a consumer's bug; it is harmless unless some hundreds of
 * tensors were exported in between. The deleter must not be called after the JVM has ended.
 */
public final class DLPackCapsule implements AutoCloseable {

    private final long address;
    private final DLPackForm form;
    /** Whether this capsule must still delete the struct. */
    private final AtomicBoolean held = new AtomicBoolean(true);

    private DLPackCapsule(long address, DLPackForm form) {
        this.address = address;
        this.form = form;
    }

    /**
     * Exports the memory of a row-major, packed tensor, which the consumer may write.
     *
     * @param device the device that holds the memory
     * @param data the tensor's address there; a multiple of 256, as DLPack requires
     * @param dtype the element type
     * @param shape the dimensions, outermost first; copied
     * @param form the struct to write
     * @param onDelete called once when the consumer is done, on any thread; must not block
     * @return the capsule
     * @throws IllegalArgumentException if there are too many dimensions or a negative one
     */
    public static DLPackCapsule of(DLDevice device, long data, DType dtype, long[] shape, DLPackForm form,
            Runnable onDelete) {
        return export(device, data, dtype, shape, false, form, onDelete);
    }

    private static DLPackCapsule export(DLDevice device, long data, DType dtype, long[] shape, boolean readOnly,
            DLPackForm form, Runnable onDelete) {
        Objects.requireNonNull(onDelete, "onDelete");
        if (shape.length > ExportTable.MAX_RANK) {
            throw new IllegalArgumentException(shape.length + " dimensions, at most " + ExportTable.MAX_RANK
                    + " can be exported");
        }
        if (readOnly && form == DLPackForm.UNVERSIONED) {
            throw new IllegalArgumentException("the memory is read-only, which DLPack's unversioned form cannot say");
        }
        boolean empty = false;
        for (long dim : shape) {
            if (dim < 0) {
                throw new IllegalArgumentException("negative dimension in " + Arrays.toString(shape));
            }
            empty |= dim == 0;
        }
        long start = empty ? 0 : data;                      // as dlpack.h wants it
        long address = ExportTable.add(block -> {
            if (form == DLPackForm.VERSIONED) {
                block.set(JAVA_INT, Structs.MAJOR_VERSION, Structs.MAJOR);
                block.set(JAVA_INT, Structs.MINOR_VERSION, Structs.MINOR);
                block.set(JAVA_LONG, Structs.FLAGS, readOnly ? Structs.READ_ONLY : 0);
            }
            block.set(ADDRESS, Structs.deleter(form), ExportTable.DELETER);
            block.set(ADDRESS, Structs.context(form), MemorySegment.NULL);
            MemorySegment dims = block.asSlice(Structs.VERSIONED.byteSize(), 2L * Long.BYTES * shape.length);
            writeTensor(block.asSlice(Structs.tensor(form), Structs.TENSOR), dims, device, start, dtype, shape);
        }, onDelete);
        return new DLPackCapsule(address, form);
    }

    /**
     * Exports a host tensor. Its memory stays open until the consumer is done.
     *
     * @param tensor the tensor; if the consumer needs alignment to 256 bytes, the caller must provide it
     * @param form the struct to write
     * @param onDelete called once when the consumer is done, on any thread; must not block
     * @return the capsule, marked as read-only if the tensor's memory is
     * @throws IllegalArgumentException if the tensor has too many dimensions, is on the Java heap, or is read-only and
     *     the form cannot express that
     */
    public static DLPackCapsule of(Tensor tensor, DLPackForm form, Runnable onDelete) {
        MemorySegment memory = tensor.segment();
        if (!memory.isNative()) {
            throw new IllegalArgumentException("the tensor is on the Java heap, where native code cannot reach it");
        }
        return export(DLDevice.CPU, memory.address(), tensor.dtype(), tensor.shape(), memory.isReadOnly(), form,
                onDelete);
    }

    private static void writeTensor(MemorySegment tensor, MemorySegment dims, DLDevice device, long start, DType dtype,
            long[] shape) {
        DLDataType type = DLDataType.of(dtype);
        tensor.set(JAVA_LONG, Structs.DATA, start);
        tensor.set(JAVA_INT, Structs.DEVICE_TYPE, device.type().code());
        tensor.set(JAVA_INT, Structs.DEVICE_ID, device.id());
        tensor.set(JAVA_INT, Structs.NDIM, shape.length);
        tensor.set(JAVA_BYTE, Structs.CODE, (byte) type.code());
        tensor.set(JAVA_BYTE, Structs.BITS, (byte) type.bits());
        tensor.set(JAVA_SHORT, Structs.LANES, (short) type.lanes());
        tensor.set(JAVA_LONG, Structs.SHAPE, dims.address());
        tensor.set(JAVA_LONG, Structs.STRIDES, dims.address() + (long) Long.BYTES * shape.length);
        tensor.set(JAVA_LONG, Structs.BYTE_OFFSET, 0);
        long stride = 1;
        for (int d = shape.length - 1; d >= 0; d--) {
            dims.setAtIndex(JAVA_LONG, d, shape[d]);
            dims.setAtIndex(JAVA_LONG, shape.length + d, stride);
            stride *= Math.max(1, shape[d]);
        }
    }

    /**
     * {@return the number of tensors that this process exported and that are not yet deleted, including those that no
     * consumer took}
     */
    public static int live() {
        return ExportTable.live();
    }

    /** {@return the form of the struct} */
    public DLPackForm form() {
        return form;
    }

    /**
     * The struct's address, to inspect or to pass to a consumer; call {@link #handOver} once the consumer took it.
     *
     * @return a {@code DLManagedTensorVersioned *} or {@code DLManagedTensor *}
     * @throws IllegalStateException if the struct was deleted or handed over
     */
    public long address() {
        if (!held.get()) {
            throw new IllegalStateException("the DLPack tensor was handed over or closed");
        }
        return address;
    }

    /**
     * Hands the struct over to the consumer, which deletes it. Closing the capsule then does nothing.
     *
     * @return the struct's address
     * @throws IllegalStateException if the struct was already deleted or handed over
     */
    public long handOver() {
        if (!held.compareAndSet(true, false)) {
            throw new IllegalStateException("the DLPack tensor was handed over or closed");
        }
        return address;
    }

    /** Deletes the struct, unless it was handed over. Calling it again does nothing. */
    @Override
    public void close() {
        if (held.compareAndSet(true, false)) {
            ExportTable.delete(address);
        }
    }

    /** Which of DLPack's two structs is exchanged. The memory does not tell them apart: both sides must agree. */
    public enum DLPackForm {
        /** {@code DLManagedTensorVersioned}, since DLPack 1.0; Python names its capsules {@code dltensor_versioned}. */
        VERSIONED,
        /** {@code DLManagedTensor}, without version and flags; Python names its capsules {@code dltensor}. */
        UNVERSIONED
    }
}
