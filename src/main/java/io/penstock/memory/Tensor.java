// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import static io.penstock.memory.LittleEndian.F32;
import static io.penstock.memory.LittleEndian.F64;
import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * A row-major, little-endian, packed view of memory that the CPU can read. It copies and owns nothing; its segment
 * determines its lifetime and thread access.
 *
 * <p>Indexed access is for inspection, tests and small samples; hot loops use {@link #segment()}, or copy an array:
 * {@code copyFrom} writes all elements and checks that the dtype takes each value.
 *
 * <p><b>Arrays.</b> The {@code copyTo} methods copy all elements, in row-major order, to the start of an array, and
 * widen them. An array takes a dtype only if it holds every value of it, else the copy is refused and the message names
 * the arrays that do:
 *
 * <table>
 * <caption>What each array takes</caption>
 * <tr><td>{@code byte[]}</td><td>{@code i8}, {@code bool} as 0 or 1, and {@code u8} as bits: read it as
 *     {@code b & 0xFF}</td></tr>
 * <tr><td>{@code int[]}</td><td>{@code i8}, {@code u8}, {@code bool}, {@code i16}, {@code u16}, {@code i32}</td></tr>
 * <tr><td>{@code long[]}</td><td>these, {@code u32}, {@code i64}</td></tr>
 * <tr><td>{@code float[]}</td><td>{@code i8}, {@code u8}, {@code bool}, {@code i16}, {@code u16}, {@code f8e4m3},
 *     {@code f8e5m2}, {@code f16}, {@code bf16}, {@code f32}</td></tr>
 * <tr><td>{@code double[]}</td><td>these, {@code i32}, {@code u32}, {@code f64}</td></tr>
 * </table>
 */
public final class Tensor {

    private final MemorySegment segment;
    private final DType dtype;
    private final long[] shape;

    private Tensor(MemorySegment segment, DType dtype, long[] shape) {
        this.segment = segment;
        this.dtype = dtype;
        this.shape = shape;
    }

    /**
     * {@return a tensor at the start of a segment}
     *
     * @param segment the memory, of any alignment
     * @param dtype the element type
     * @param shape the dimensions, outermost first; copied
     * @throws IllegalArgumentException if the shape is malformed or needs more bytes than the segment has
     */
    public static Tensor of(MemorySegment segment, DType dtype, long... shape) {
        Objects.requireNonNull(dtype, "dtype");
        for (long dim : shape) {
            if (dim < 0) {
                throw new IllegalArgumentException("negative dimension in " + Arrays.toString(shape));
            }
        }
        long bytes = TensorSpec.byteSize(dtype, shape);
        if (bytes > segment.byteSize()) {
            throw new IllegalArgumentException(dtype + Arrays.toString(shape) + " needs " + bytes
                    + " bytes, the segment has " + segment.byteSize());
        }
        return new Tensor(bytes == segment.byteSize() ? segment : segment.asSlice(0, bytes), dtype, shape.clone());
    }

    /** A tensor over a segment of exactly its size; does not copy the shape. */
    static Tensor view(MemorySegment segment, DType dtype, long[] shape) {
        return new Tensor(segment, dtype, shape);
    }

    /** {@return the memory, of exactly {@link #byteSize()} bytes} */
    public MemorySegment segment() {
        return segment;
    }

    /** {@return the element type} */
    public DType dtype() {
        return dtype;
    }

    /** {@return a copy of the dimensions, outermost first} */
    public long[] shape() {
        return shape.clone();
    }

    /** {@return the number of dimensions; 0 for a scalar} */
    public int rank() {
        return shape.length;
    }

    /**
     * {@return one dimension}
     *
     * @param d its index; 0 is the outermost
     */
    public long dim(int d) {
        return shape[d];
    }

    /** {@return the number of elements; 1 for a scalar} */
    public long elementCount() {
        return segment.byteSize() / dtype.byteSize();
    }

    /** {@return the byte size of all elements} */
    public long byteSize() {
        return segment.byteSize();
    }

    /**
     * One row: the tensor at an index of its first dimension.
     *
     * @param index the index along the first dimension
     * @return a view with one dimension less
     * @throws IndexOutOfBoundsException if the index is not in {@code [0, dim(0))}
     * @throws IllegalStateException if this is a scalar
     */
    public Tensor row(long index) {
        if (shape.length == 0) {
            throw new IllegalStateException("a scalar has no rows");
        }
        Objects.checkIndex(index, shape[0]);
        long[] rest = Arrays.copyOfRange(shape, 1, shape.length);
        long bytes = TensorSpec.byteSize(dtype, rest);
        return new Tensor(segment.asSlice(index * bytes, bytes), dtype, rest);
    }

    /**
     * An integer or truth value at a position in row-major order.
     *
     * @param element the position, from 0
     * @return the value; a {@code u64} above {@link Long#MAX_VALUE} is returned as its two's complement
     * @throws IndexOutOfBoundsException if there is no such element
     * @throws UnsupportedOperationException if the dtype is floating-point
     */
    public long getLong(long element) {
        return dtype.longAt(segment, element * dtype.byteSize());
    }

    /**
     * A number at a position in row-major order, as a double.
     *
     * @param element the position, from 0
     * @return the value; exact except for 64-bit integers beyond 2^53
     * @throws IndexOutOfBoundsException if there is no such element
     */
    public double getDouble(long element) {
        return dtype.doubleAt(segment, element * dtype.byteSize());
    }

    /**
     * Copies all elements to an array.
     *
     * @param target at least {@link #elementCount} long; what follows them stays as it is
     * @return the number of elements
     * @throws IllegalArgumentException if the array is too short, or does not hold every value of the dtype
     */
    public int copyTo(byte[] target) {
        int count = ArrayType.BYTE.check(this, target.length);
        if (dtype != DType.BOOL) {
            MemorySegment.copy(segment, JAVA_BYTE, 0, target, 0, count);
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = (byte) getLong(i);
            }
        }
        return count;
    }

    /**
     * Copies all elements to an array.
     *
     * @param target at least {@link #elementCount} long; what follows them stays as it is
     * @return the number of elements
     * @throws IllegalArgumentException if the array is too short, or does not hold every value of the dtype
     */
    public int copyTo(int[] target) {
        int count = ArrayType.INT.check(this, target.length);
        if (dtype == DType.I32) {
            MemorySegment.copy(segment, I32, 0, target, 0, count);
        } else if (dtype == DType.U16) {
            for (int i = 0; i < count; i++) {
                target[i] = segment.get(I16, 2L * i) & 0xFFFF;
            }
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = (int) getLong(i);
            }
        }
        return count;
    }

    /**
     * Copies all elements to an array.
     *
     * @param target at least {@link #elementCount} long; what follows them stays as it is
     * @return the number of elements
     * @throws IllegalArgumentException if the array is too short, or does not hold every value of the dtype
     */
    public int copyTo(long[] target) {
        int count = ArrayType.LONG.check(this, target.length);
        if (dtype == DType.I64) {
            MemorySegment.copy(segment, I64, 0, target, 0, count);
        } else if (dtype == DType.U16) {
            for (int i = 0; i < count; i++) {
                target[i] = segment.get(I16, 2L * i) & 0xFFFF;
            }
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = getLong(i);
            }
        }
        return count;
    }

    /**
     * Copies all elements to an array.
     *
     * @param target at least {@link #elementCount} long; what follows them stays as it is
     * @return the number of elements
     * @throws IllegalArgumentException if the array is too short, or does not hold every value of the dtype
     */
    public int copyTo(float[] target) {
        int count = ArrayType.FLOAT.check(this, target.length);
        if (dtype == DType.F32) {
            MemorySegment.copy(segment, F32, 0, target, 0, count);
        } else if (dtype == DType.U8) {
            for (int i = 0; i < count; i++) {
                target[i] = segment.get(JAVA_BYTE, i) & 0xFF;
            }
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = (float) getDouble(i);
            }
        }
        return count;
    }

    /**
     * Copies all elements to an array.
     *
     * @param target at least {@link #elementCount} long; what follows them stays as it is
     * @return the number of elements
     * @throws IllegalArgumentException if the array is too short, or does not hold every value of the dtype
     */
    public int copyTo(double[] target) {
        int count = ArrayType.DOUBLE.check(this, target.length);
        if (dtype == DType.F64) {
            MemorySegment.copy(segment, F64, 0, target, 0, count);
        } else {
            for (int i = 0; i < count; i++) {
                target[i] = getDouble(i);
            }
        }
        return count;
    }

    /**
     * Sets an integer or truth value.
     *
     * @param value the value; a floating-point tensor rounds it to the nearest representable number
     * @param index the position along each dimension, outermost first; nothing for a scalar
     * @throws IndexOutOfBoundsException if there is no such element
     * @throws IllegalArgumentException if the number of indices is not the rank, or the dtype does not hold the value
     */
    public void set(long value, long... index) {
        put(element(index), value);
    }

    /**
     * Sets an element of a floating-point tensor, rounded to the nearest representable number. For {@code f16} and
     * {@code bf16} the value is first rounded to {@code float}.
     *
     * @param value the value
     * @param index the position along each dimension, outermost first; nothing for a scalar
     * @throws IndexOutOfBoundsException if there is no such element
     * @throws IllegalArgumentException if the number of indices is not the rank, or the dtype is an integer's or has 8
     *     bits
     */
    public void set(double value, long... index) {
        put(element(index), value);
    }

    private long element(long[] index) {
        if (index.length != shape.length) {
            throw new IllegalArgumentException(this + ": found " + index.length + " indices, expected "
                    + shape.length);
        }
        long element = 0;
        for (int d = 0; d < shape.length; d++) {
            element = element * shape[d] + Objects.checkIndex(index[d], shape[d]);
        }
        return element;
    }

    private void put(long element, long value) {
        if (dtype.isFloat()) {
            put(element, (double) value);
            return;
        }
        int bits = 8 * dtype.byteSize();
        boolean fits = switch (dtype) {
            case BOOL -> value >>> 1 == 0;
            case U64 -> value >= 0;
            case I64 -> true;
            default -> dtype.isUnsigned() ? value >>> bits == 0 : value == value << 64 - bits >> 64 - bits;
        };
        if (!fits) {
            throw new IllegalArgumentException(this + ": found " + value + " at element " + element
                    + ", expected a value of " + dtype);
        }
        long at = element * dtype.byteSize();
        switch (dtype.byteSize()) {
            case 1 -> segment.set(JAVA_BYTE, at, (byte) value);
            case 2 -> segment.set(I16, at, (short) value);
            case 4 -> segment.set(I32, at, (int) value);
            default -> segment.set(I64, at, value);
        }
    }

    private void put(long element, double value) {
        long at = element * dtype.byteSize();
        switch (dtype) {
            case F64 -> segment.set(F64, at, value);
            case F32 -> segment.set(F32, at, (float) value);
            case F16 -> segment.set(I16, at, Float.floatToFloat16((float) value));
            case BF16 -> segment.set(I16, at, DType.bf16((float) value));
            default -> throw new IllegalArgumentException(this + ": found a floating-point value, expected "
                    + (dtype.isInteger() ? "an integer" : "a tensor of 16 bits or more"));
        }
    }

    /**
     * Copies an array to all elements, in row-major order. {@code u8} takes the bytes as bits, from 0 to 255.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(byte[] source) {
        checkLength(source.length);
        if (dtype == DType.I8 || dtype == DType.U8) {
            MemorySegment.copy(source, 0, segment, JAVA_BYTE, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, (long) source[i]);
            }
        }
    }

    /**
     * Copies an array to all elements, in row-major order. {@code u16} takes the shorts as bits, from 0 to 65,535.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(short[] source) {
        checkLength(source.length);
        if (dtype == DType.I16 || dtype == DType.U16) {
            MemorySegment.copy(source, 0, segment, I16, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, (long) source[i]);
            }
        }
    }

    /**
     * Copies an array to all elements, in row-major order.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(int[] source) {
        checkLength(source.length);
        if (dtype == DType.I32) {
            MemorySegment.copy(source, 0, segment, I32, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, (long) source[i]);
            }
        }
    }

    /**
     * Copies an array to all elements, in row-major order.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(long[] source) {
        checkLength(source.length);
        if (dtype == DType.I64) {
            MemorySegment.copy(source, 0, segment, I64, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, source[i]);
            }
        }
    }

    /**
     * Copies an array to all elements, in row-major order.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(float[] source) {
        checkLength(source.length);
        if (dtype == DType.F32) {
            MemorySegment.copy(source, 0, segment, F32, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, (double) source[i]);
            }
        }
    }

    /**
     * Copies an array to all elements, in row-major order.
     *
     * @param source as many values as there are elements
     * @throws IllegalArgumentException if it has another length, or the dtype does not take a value
     */
    public void copyFrom(double[] source) {
        checkLength(source.length);
        if (dtype == DType.F64) {
            MemorySegment.copy(source, 0, segment, F64, 0, source.length);
        } else {
            for (int i = 0; i < source.length; i++) {
                put(i, source[i]);
            }
        }
    }

    private void checkLength(int length) {
        if (length != elementCount()) {
            throw new IllegalArgumentException(this + ": found " + length + " values, expected " + elementCount());
        }
    }

    /** For example {@code u16[32,1025]}. */
    @Override
    public String toString() {
        return dtype + Arrays.toString(shape).replace(" ", "");
    }
}
