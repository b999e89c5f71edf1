// SPDX-License-Identifier: Apache-2.0
package io.penstock.memory;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The arrays that a tensor can be copied to. */
enum ArrayType {
    BYTE(1, false),
    INT(4, false),
    LONG(8, false),
    FLOAT(4, true),
    DOUBLE(8, true);

    private final int byteSize;
    private final boolean isFloat;

    ArrayType(int byteSize, boolean isFloat) {
        this.byteSize = byteSize;
        this.isFloat = isFloat;
    }

    /** Tells whether the array holds every value of a dtype; a {@code byte[]} holds {@code u8} as bits. */
    private boolean holds(DType dtype) {
        if (isFloat) {                                      // more than half of a float is its fraction
            return dtype.byteSize() <= (dtype.isFloat() ? byteSize : byteSize / 2);
        }
        int more = dtype.isUnsigned() && this != BYTE ? 1 : 0;
        return !dtype.isFloat() && dtype.byteSize() + more <= byteSize;
    }

    /** Returns the number of elements to copy. */
    int check(Tensor from, int length) {
        if (!holds(from.dtype())) {
            String others = Stream.of(values()).filter(type -> type.holds(from.dtype()))
                    .map(ArrayType::toString).collect(Collectors.joining(" or "));
            throw new IllegalArgumentException(from + ": " + this + " does not hold every " + from.dtype()
                    + ", expected " + (others.isEmpty() ? "a read of segment(), as no array does" : others));
        }
        if (from.elementCount() > length) {
            throw new IllegalArgumentException(from + ": found a " + this + " of " + length + " elements, expected "
                    + from.elementCount() + " or more");
        }
        return (int) from.elementCount();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT) + "[]";
    }
}
