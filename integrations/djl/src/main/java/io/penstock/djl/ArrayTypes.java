// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.ndarray.types.DataType;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which type of NDArray holds a dtype. DJL's PyTorch engine names eight types. It ends the process when it is asked to
 * make an NDArray of another, and reports a wrong type of one that torch made.
 */
final class ArrayTypes {

    /** The types that DJL's PyTorch engine can make and report. */
    static final Set<DataType> NAMED = Collections.unmodifiableSet(EnumSet.of(DataType.FLOAT16, DataType.FLOAT32,
            DataType.FLOAT64, DataType.UINT8, DataType.INT8, DataType.INT32, DataType.INT64, DataType.BOOLEAN));

    private ArrayTypes() {
    }

    static boolean isNamed(DataType type) {
        return NAMED.contains(type);
    }

    /**
     * The type that holds all values of a field: its own, else the narrowest one that DJL names.
     *
     * @throws UnsupportedOperationException if there is none
     */
    static DataType of(TensorSpec field) {
        return switch (field.dtype()) {
            case U8 -> DataType.UINT8;
            case I8 -> DataType.INT8;
            case U16, I16, I32 -> DataType.INT32;
            case U32, I64 -> DataType.INT64;
            case F16 -> DataType.FLOAT16;
            case BF16, F32, F8E4M3, F8E5M2 -> DataType.FLOAT32;
            case F64 -> DataType.FLOAT64;
            case BOOL -> DataType.BOOLEAN;
            case U64 -> throw new UnsupportedOperationException("field " + field + ": DJL has no type that holds every"
                    + " u64; name one with as(\"" + field.name() + "\", DataType.INT64), where values from 2^63 on wrap"
                    + " around, or leave the field out");
        };
    }

    /** Whether an NDArray of the type can be an alias of memory of the dtype. */
    static boolean isSame(DType dtype, DataType type) {
        return switch (dtype) {
            case U8 -> type == DataType.UINT8;
            case I8 -> type == DataType.INT8;
            case I32 -> type == DataType.INT32;
            case I64 -> type == DataType.INT64;
            case F16 -> type == DataType.FLOAT16;
            case F32 -> type == DataType.FLOAT32;
            case F64 -> type == DataType.FLOAT64;
            case BOOL -> type == DataType.BOOLEAN;
            case U16, I16, U32, U64, BF16, F8E4M3, F8E5M2 -> false;
        };
    }
}
