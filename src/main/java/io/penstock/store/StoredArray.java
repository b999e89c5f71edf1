// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An array as stored in a file, and its logical content.
 *
 * @param name the array's name; {@code ""} if the format has no names
 * @param storedDtype the element type and byte order in the file, in numpy's notation: {@code <u2}, {@code |b1}
 * @param storedOrder {@code C} or {@code F} if the format allows both, otherwise null
 * @param tensor the content, row-major and little-endian
 */
public record StoredArray(String name, String storedDtype, @Nullable String storedOrder, Tensor tensor) {

    /** Refuses a name, dtype or tensor that is null; only the order may be. */
    public StoredArray {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(storedDtype, "storedDtype");
        Objects.requireNonNull(tensor, "tensor");
    }

    /**
     * Creates a little-endian array of a format with a single element order.
     *
     * @param name the array's name
     * @param tensor the content
     */
    public StoredArray(String name, Tensor tensor) {
        this(name, storedDtypeOf(tensor.dtype()), null, tensor);
    }

    /**
     * {@return numpy's notation for a little-endian type, for example {@code <u2}}
     *
     * @param dtype the type
     */
    public static String storedDtypeOf(DType dtype) {
        int bytes = dtype.byteSize();
        String order = bytes == 1 ? "|" : "<";
        return switch (dtype) {
            case U8, U16, U32, U64 -> order + "u" + bytes;
            case I8, I16, I32, I64 -> order + "i" + bytes;
            case F16, F32, F64 -> order + "f" + bytes;
            case BOOL -> "|b1";
            case BF16, F8E4M3, F8E5M2 -> "|V" + bytes;
        };
    }
}
