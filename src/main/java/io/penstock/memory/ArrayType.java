package io.penstock.memory;

import static io.penstock.memory.DType.BF16;
import static io.penstock.memory.DType.BOOL;
import static io.penstock.memory.DType.F16;
import static io.penstock.memory.DType.F32;
import static io.penstock.memory.DType.F64;
import static io.penstock.memory.DType.F8E4M3;
import static io.penstock.memory.DType.F8E5M2;
import static io.penstock.memory.DType.I16;
import static io.penstock.memory.DType.I32;
import static io.penstock.memory.DType.I64;
import static io.penstock.memory.DType.I8;
import static io.penstock.memory.DType.U16;
import static io.penstock.memory.DType.U32;
import static io.penstock.memory.DType.U8;

import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The arrays that a tensor can be copied to, and the dtypes of which each holds every value. */
enum ArrayType {
    BYTE(U8, I8, BOOL),
    INT(U8, I8, BOOL, I16, U16, I32),
    LONG(U8, I8, BOOL, I16, U16, I32, U32, I64),
    FLOAT(U8, I8, BOOL, I16, U16, F8E4M3, F8E5M2, F16, BF16, F32),
    DOUBLE(U8, I8, BOOL, I16, U16, I32, U32, F8E4M3, F8E5M2, F16, BF16, F32, F64);

    private final Set<DType> dtypes;

    ArrayType(DType... dtypes) {
        this.dtypes = Set.of(dtypes);
    }

    /** Returns the number of elements to copy. */
    int check(Tensor from, int length) {
        if (!dtypes.contains(from.dtype())) {
            String others = Stream.of(values()).filter(type -> type.dtypes.contains(from.dtype()))
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
