// SPDX-License-Identifier: Apache-2.0
package io.penstock.dlpack;

import io.penstock.memory.DType;

/** An element type in DLPack's terms: {@code DLDataType} of {@code dlpack.h}. */
record DLDataType(int code, int bits, int lanes) {

    private static final int INT = 0;
    private static final int UINT = 1;
    private static final int FLOAT = 2;
    private static final int BFLOAT = 4;
    private static final int BOOL = 6;
    private static final int FLOAT8_E4M3FN = 10;
    private static final int FLOAT8_E5M2 = 12;

    static DLDataType of(DType dtype) {
        int code = switch (dtype) {
            case I8, I16, I32, I64 -> INT;
            case U8, U16, U32, U64 -> UINT;
            case F16, F32, F64 -> FLOAT;
            case BF16 -> BFLOAT;
            case BOOL -> BOOL;
            case F8E4M3 -> FLOAT8_E4M3FN;
            case F8E5M2 -> FLOAT8_E5M2;
        };
        return new DLDataType(code, 8 * dtype.byteSize(), 1);
    }

    /** Returns the engine's matching dtype; throws {@link IllegalArgumentException} if there is none. */
    DType dtype() {
        if (lanes != 1) {
            throw new IllegalArgumentException("DLPack dtype of " + lanes + " lanes, expected 1");
        }
        for (DType dtype : DType.values()) {
            if (equals(of(dtype))) {
                return dtype;
            }
        }
        throw new IllegalArgumentException("DLPack dtype code " + code + " of " + bits
                + " bits is not a dtype of the engine");
    }
}
