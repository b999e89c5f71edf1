// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.numpy;

import io.penstock.memory.DType;
import io.penstock.store.StoredArray;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An element type, as {@code descr} of a {@code .npy} names it. The dtype is null for uninterpreted bytes (numpy's
 * {@code V}), which hold types that numpy lacks: bfloat16, 8-bit floats.
 */
record NpyType(@Nullable DType dtype, int byteSize, boolean isBigEndian) {

    private static final Pattern CODE = Pattern.compile("([<>=|]?)([a-zA-Z?])(\\d{0,9})(\\[.*\\])?");

    private static final Map<String, String> CODE_OF_NAME = Map.ofEntries(
            Map.entry("bool", "b1"), Map.entry("?", "b1"),
            Map.entry("int8", "i1"), Map.entry("uint8", "u1"), Map.entry("b", "i1"), Map.entry("B", "u1"),
            Map.entry("int16", "i2"), Map.entry("uint16", "u2"), Map.entry("h", "i2"), Map.entry("H", "u2"),
            Map.entry("int32", "i4"), Map.entry("uint32", "u4"), Map.entry("i", "i4"), Map.entry("I", "u4"),
            Map.entry("int64", "i8"), Map.entry("uint64", "u8"), Map.entry("q", "i8"), Map.entry("Q", "u8"),
            Map.entry("l", "i8"), Map.entry("L", "u8"), Map.entry("int", "i8"), Map.entry("uint", "u8"),
            Map.entry("float16", "f2"), Map.entry("e", "f2"), Map.entry("float32", "f4"), Map.entry("f", "f4"),
            Map.entry("float64", "f8"), Map.entry("d", "f8"), Map.entry("float", "f8"));

    private static final Map<String, DType> DTYPE_OF_CODE = Map.ofEntries(
            Map.entry("b1", DType.BOOL),
            Map.entry("u1", DType.U8), Map.entry("u2", DType.U16), Map.entry("u4", DType.U32),
            Map.entry("u8", DType.U64),
            Map.entry("i1", DType.I8), Map.entry("i2", DType.I16), Map.entry("i4", DType.I32),
            Map.entry("i8", DType.I64),
            Map.entry("f2", DType.F16), Map.entry("f4", DType.F32), Map.entry("f8", DType.F64));

    /** Returns the type that a {@code descr} string names; empty if it is unsupported, see {@link #describe}. */
    static Optional<NpyType> of(String descr) {
        Matcher code = CODE.matcher(descr);
        if (code.matches() && code.group(2).equals("V") && code.group(4) == null && !code.group(3).isEmpty()) {
            return Optional.of(new NpyType(null, Integer.parseInt(code.group(3)), false));
        }
        boolean hasOrder = !descr.isEmpty() && "<>=|".indexOf(descr.charAt(0)) >= 0;
        String name = hasOrder ? descr.substring(1) : descr;
        return Optional.ofNullable(DTYPE_OF_CODE.get(CODE_OF_NAME.getOrDefault(name, name))).map(dtype ->
                new NpyType(dtype, dtype.byteSize(), descr.startsWith(">") && dtype.byteSize() > 1));
    }

    static String describe(String descr) {
        Matcher code = CODE.matcher(descr);
        if (!code.matches()) {
            return "an unknown type";
        }
        return switch (code.group(2)) {
            case "O" -> "Python objects in a pickle, which is never unpickled";
            case "f", "g" -> "floats of over 64 bits (long double)";
            case "c", "F", "D", "G" -> "complex numbers";
            case "M" -> "dates";
            case "m" -> "time spans";
            case "S", "a", "U" -> "strings";
            case "V" -> "uninterpreted bytes";
            default -> "an unknown type";
        };
    }

    /** Returns numpy's notation, with the byte order. */
    @Override
    public String toString() {
        if (dtype == null) {
            return "|V" + byteSize;
        }
        String littleEndian = StoredArray.storedDtypeOf(dtype);
        return isBigEndian ? ">" + littleEndian.substring(1) : littleEndian;
    }

    /** Returns what numpy writes for a dtype. It writes types that it lacks as bytes. */
    static String descrOf(DType dtype) {
        return dtype == DType.BF16 ? "<V2" : StoredArray.storedDtypeOf(dtype);
    }
}
