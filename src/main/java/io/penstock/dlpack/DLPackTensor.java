// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A tensor imported as a DLPack struct. In host memory it is a {@link Tensor} without a copy; elsewhere it is an
 * address. Closing it calls the producer's deleter once.
 *
 * <p>It accepts row-major, packed tensors of the engine's dtypes. It rejects any other with the reason and returns it
 * to the producer. The producer must order its own work: if it writes on a CUDA stream, tell it which of our streams
 * waits before you take the struct.
 *
 * <p>Any thread may use and close it. The struct is unchecked native memory: a wrong address or form is undefined
 * behavior, as in C.
 */
public final class DLPackTensor implements AutoCloseable {

    private static final int MAX_RANK = 64;

    private final MemorySegment struct;
    private final MemorySegment deleter;
    private final DLDevice device;
    private final DType dtype;
    private final long[] shape;
    private final boolean readOnly;
    private final long address;
    private final long byteSize;
    /** Ends the lifetime of the tensor's view in Java; null for memory that Java cannot read. */
    private final @Nullable Arena scope;
    private final @Nullable Tensor tensor;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Takes ownership of a struct. If the tensor is rejected, its deleter has been called.
     *
     * @param address a {@code DLManagedTensorVersioned *} or {@code DLManagedTensor *}
     * @param form which of the two it is
     * @return the tensor, which the caller closes
     * @throws IllegalArgumentException if the address is 0, or if the tensor is rejected: another major version of
     *     DLPack, an unsupported device type or dtype, strided, misaligned, or malformed
     */
    @SuppressWarnings("restricted")
    public static DLPackTensor take(long address, DLPackForm form) {
        if (address == 0) {
            throw new IllegalArgumentException("the address of a DLPack tensor is 0");
        }
        MemorySegment struct = MemorySegment.ofAddress(address).reinterpret(Structs.of(form).byteSize());
        MemorySegment deleter = struct.get(ADDRESS, Structs.deleter(form));
        try {
            boolean readOnly = false;
            if (form == DLPackForm.VERSIONED) {
                int major = struct.get(JAVA_INT, Structs.MAJOR_VERSION);
                if (major != Structs.MAJOR) {
                    throw new IllegalArgumentException("DLPack version " + Integer.toUnsignedString(major) + "."
                            + Integer.toUnsignedString(struct.get(JAVA_INT, Structs.MINOR_VERSION))
                            + ", expected " + Structs.MAJOR + ".x");
                }
                readOnly = (struct.get(JAVA_LONG, Structs.FLAGS) & Structs.READ_ONLY) != 0;
            }
            return new DLPackTensor(struct, deleter, struct.asSlice(Structs.tensor(form), Structs.TENSOR), readOnly);
        } catch (RuntimeException | Error refusal) {
            delete(struct, deleter);
            throw refusal;
        }
    }

    @SuppressWarnings("restricted")
    private DLPackTensor(MemorySegment struct, MemorySegment deleter, MemorySegment from, boolean readOnly) {
        this.struct = struct;
        this.deleter = deleter;
        this.readOnly = readOnly;
        this.device = new DLDevice(DLDevice.DeviceType.of(from.get(JAVA_INT, Structs.DEVICE_TYPE)),
                from.get(JAVA_INT, Structs.DEVICE_ID));
        this.dtype = new DLDataType(from.get(JAVA_BYTE, Structs.CODE) & 0xFF, from.get(JAVA_BYTE, Structs.BITS) & 0xFF,
                from.get(JAVA_SHORT, Structs.LANES) & 0xFFFF).dtype();
        this.shape = shape(from);
        this.byteSize = spec("DLPack tensor").byteSize();
        checkStrides(from);
        long data = from.get(JAVA_LONG, Structs.DATA);
        this.address = data + from.get(JAVA_LONG, Structs.BYTE_OFFSET);
        if (byteSize > 0 && data == 0) {
            throw new IllegalArgumentException("DLPack tensor " + this + " without data");
        }
        if (address % dtype.byteSize() != 0) {
            throw new IllegalArgumentException("DLPack tensor " + this + " at 0x" + Long.toHexString(address)
                    + ", which is no multiple of its elements' " + dtype.byteSize() + " bytes");
        }
        this.scope = device.hostAccessible() ? Arena.ofShared() : null;
        if (scope == null) {
            this.tensor = null;
        } else {
            MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(byteSize, scope, null);
            this.tensor = Tensor.of(readOnly ? memory.asReadOnly() : memory, dtype, shape);
        }
    }

    @SuppressWarnings("restricted")
    private static long[] shape(MemorySegment from) {
        int rank = from.get(JAVA_INT, Structs.NDIM);
        if (rank < 0 || rank > MAX_RANK) {
            throw new IllegalArgumentException("DLPack tensor of " + rank + " dimensions, expected 0 to " + MAX_RANK);
        }
        long[] shape = longs(from.get(ADDRESS, Structs.SHAPE), rank);
        if (shape == null) {
            throw new IllegalArgumentException("DLPack tensor of " + rank + " dimensions without a shape");
        }
        for (long dim : shape) {
            if (dim < 0) {
                throw new IllegalArgumentException("DLPack tensor of shape " + Arrays.toString(shape));
            }
        }
        return shape;
    }

    /**
     * The tensor is row-major and packed, or has no strides. Dimensions of 1 and empty tensors have no stride to check.
     */
    private void checkStrides(MemorySegment from) {
        long[] strides = longs(from.get(ADDRESS, Structs.STRIDES), shape.length);
        if (strides == null || byteSize == 0) {
            return;
        }
        long packed = 1;
        for (int d = shape.length - 1; d >= 0; d--) {
            if (shape[d] != 1 && strides[d] != packed) {
                throw new IllegalArgumentException("DLPack tensor " + this + " has strides " + Arrays.toString(strides)
                        + ": dimension " + d + " steps by " + strides[d] + " elements, row-major and packed by "
                        + packed);
            }
            packed *= shape[d];
        }
    }

    /** Returns null for a missing array that should have elements. */
    @SuppressWarnings("restricted")
    private static long @Nullable [] longs(MemorySegment array, int length) {
        if (length == 0) {
            return new long[0];
        }
        return array.address() == 0 ? null : array.reinterpret((long) Long.BYTES * length).toArray(JAVA_LONG);
    }

    /** {@return the device that holds the tensor} */
    public DLDevice device() {
        return device;
    }

    /**
     * {@return whether the producer forbids writing; always false for the unversioned form, which cannot express it}
     */
    public boolean readOnly() {
        return readOnly;
    }

    /**
     * {@return the dtype and shape}
     *
     * @param name the spec's name, since DLPack has none
     */
    public TensorSpec spec(String name) {
        return new TensorSpec(name, dtype, shape);
    }

    /** {@return the byte size of all elements} */
    public long byteSize() {
        return byteSize;
    }

    /**
     * The address of the first element on the {@link #device}.
     *
     * @return an unchecked address; meaningless if the tensor is empty
     * @throws IllegalStateException if the tensor is closed
     */
    public long address() {
        if (closed.get()) {
            throw new IllegalStateException("the DLPack tensor is closed");
        }
        return address;
    }

    /**
     * A view of the tensor for the CPU.
     *
     * @return a view that is valid until this is closed; read-only if {@link #readOnly}
     * @throws UnsupportedOperationException if the tensor is in device memory
     * @throws IllegalStateException if the tensor is closed
     */
    public Tensor tensor() {
        address();
        if (tensor == null) {
            throw new UnsupportedOperationException("the tensor is on " + device + ", which the CPU cannot read");
        }
        return tensor;
    }

    /**
     * Returns the tensor to the producer by calling its deleter. Further calls do nothing.
     *
     * @throws IllegalStateException if another thread is in a native call with the tensor, which stays open
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (scope != null) {
            try {
                scope.close();
            } catch (RuntimeException | Error e) {
                closed.set(false);
                throw e;
            }
        }
        delete(struct, deleter);
    }

    /** For example {@code u16[32,1025]}. */
    @Override
    public String toString() {
        return dtype + Arrays.toString(shape).replace(" ", "");
    }

    /** Calls the deleter, if the producer set one. */
    private static void delete(MemorySegment struct, MemorySegment deleter) {
        if (deleter.address() == 0) {
            return;
        }
        try {
            Deleter.CALL.invokeExact(deleter, struct);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** {@code void (*deleter)(struct DLManagedTensor *self)}. */
    private static final class Deleter {
        @SuppressWarnings("restricted")
        static final MethodHandle CALL = Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(ADDRESS));
    }
}
