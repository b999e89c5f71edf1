// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import io.penstock.memory.DType;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The element types of safetensors, by its own names and in its own order of ascending alignment: its writer puts
 * tensors of the last types first.
 */
enum SafetensorsType {
    BOOL(DType.BOOL),
    F4(4, "floats of 4 bits"),
    F6_E2M3(6, "floats of 6 bits"),
    F6_E3M2(6, "floats of 6 bits"),
    U8(DType.U8),
    I8(DType.I8),
    F8_E5M2(DType.F8E5M2),
    F8_E4M3(DType.F8E4M3),
    F8_E8M0(8, "8-bit exponents without sign and fraction"),
    F8_E4M3FNUZ(8, "8-bit floats without a negative zero"),
    F8_E5M2FNUZ(8, "8-bit floats without a negative zero"),
    I16(DType.I16),
    U16(DType.U16),
    F16(DType.F16),
    BF16(DType.BF16),
    I32(DType.I32),
    U32(DType.U32),
    F32(DType.F32),
    C64(64, "complex numbers"),
    F64(DType.F64),
    I64(DType.I64),
    U64(DType.U64);

    private static final Map<String, SafetensorsType> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(Enum::name, type -> type));

    private final @Nullable DType dtype;
    private final int bits;
    private final String what;

    SafetensorsType(DType dtype) {
        this.dtype = dtype;
        this.bits = 8 * dtype.byteSize();
        this.what = dtype.toString();
    }

    SafetensorsType(int bits, String what) {
        this.dtype = null;
        this.bits = bits;
        this.what = what;
    }

    /** Returns the type of a name; null if the format has none. */
    static @Nullable SafetensorsType of(String name) {
        return BY_NAME.get(name);
    }

    static SafetensorsType of(DType dtype) {
        return Arrays.stream(values()).filter(type -> type.dtype == dtype).findAny().orElseThrow();
    }

    /** Returns our type; null if it is unsupported. */
    @Nullable DType dtype() {
        return dtype;
    }

    /** Returns the bits of an element; a tensor has whole bytes. */
    int bits() {
        return bits;
    }

    String what() {
        return what;
    }
}
