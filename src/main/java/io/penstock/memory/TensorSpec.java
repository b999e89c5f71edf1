// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import java.util.Arrays;
import java.util.Objects;

/**
 * A tensor's name, dtype and shape, without its data.
 *
 * <p>The first dimension may be {@link #VARIABLE} if samples differ in length. A scalar (shape {@code []}) has one
 * element.
 *
 * @param name the field's name, for example {@code tokens}
 * @param dtype the element type
 * @param shape the dimensions, outermost first, row-major; copied in and out
 */
public record TensorSpec(String name, DType dtype, long... shape) {

    /** Marks a first dimension that varies among samples. */
    public static final long VARIABLE = -1;

    /**
     * Checks the shape and copies it.
     *
     * @throws IllegalArgumentException if a dimension is negative (except a {@link #VARIABLE} first one), or if the
     *     tensor's bytes exceed {@link Long#MAX_VALUE}
     */
    public TensorSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(dtype, "dtype");
        shape = shape.clone();
        for (int d = 0; d < shape.length; d++) {
            if (shape[d] < 0 && !(d == 0 && shape[d] == VARIABLE)) {
                throw new IllegalArgumentException(name + ": dimension " + d + " is " + shape[d]);
            }
        }
        byteSize(dtype, shape);
    }

    /** {@return a copy of the dimensions, outermost first} */
    @Override
    public long[] shape() {
        return shape.clone();
    }

    /** {@return the number of dimensions; 0 for a scalar} */
    public int rank() {
        return shape.length;
    }

    /**
     * One dimension.
     *
     * @param d its index; 0 is the outermost
     * @return its size, or {@link #VARIABLE}
     */
    public long dim(int d) {
        return shape[d];
    }

    /** {@return whether the first dimension is {@link #VARIABLE}} */
    public boolean isVariable() {
        return shape.length > 0 && shape[0] == VARIABLE;
    }

    /** {@return the bytes of one step along the first dimension, or of the whole for a scalar} */
    public long rowBytes() {
        long bytes = dtype.byteSize();
        for (int d = 1; d < shape.length; d++) {
            bytes *= shape[d];
        }
        return bytes;
    }

    /**
     * {@return the byte size of the tensor}
     *
     * @throws IllegalStateException if the first dimension is {@link #VARIABLE}
     */
    public long byteSize() {
        if (isVariable()) {
            throw new IllegalStateException(this + " has no fixed size");
        }
        return byteSize(dtype, shape);
    }

    /**
     * {@return this spec with another first dimension}
     *
     * @param length the new first dimension
     */
    public TensorSpec withLength(long length) {
        long[] changed = shape.clone();
        changed[0] = length;
        return new TensorSpec(name, dtype, changed);
    }

    /** Computes the byte size with overflow checks; a variable first dimension counts as 1. */
    static long byteSize(DType dtype, long[] shape) {
        long elements = 1;
        boolean empty = false;
        for (long dim : shape) {
            empty |= dim == 0;
        }
        if (empty) {
            return 0;
        }
        try {
            for (long dim : shape) {
                elements = Math.multiplyExact(elements, dim == VARIABLE ? 1 : dim);
            }
            return Math.multiplyExact(elements, (long) dtype.byteSize());
        } catch (ArithmeticException _) {
            throw new IllegalArgumentException(dtype + Arrays.toString(shape) + " exceeds 2^63 bytes");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TensorSpec that
                && name.equals(that.name)
                && dtype == that.dtype
                && Arrays.equals(shape, that.shape);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, dtype, Arrays.hashCode(shape));
    }

    /** For example {@code tokens: u16[1025]}, or {@code ids: i64[*]} with a variable dimension. */
    @Override
    public String toString() {
        return name + ": " + dtype + Arrays.toString(shape).replace(" ", "").replace("-1", "*");
    }
}
