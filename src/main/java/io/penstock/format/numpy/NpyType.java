package io.penstock.format.numpy;

import io.penstock.memory.DType;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An element type as a {@code .npy} names it in {@code descr}.
 *
 * @param dtype ours; null if it is one of uninterpreted bytes (numpy's {@code V}), as which the types of other
 *     libraries are stored: bfloat16, the 8-bit floats
 * @param byteSize of an element
 * @param isBigEndian whether the bytes of an element come most significant first
 */
record NpyType(DType dtype, int byteSize, boolean isBigEndian) {

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

    /** The type that a {@code descr} string names; empty if it is none that is read, see {@link #describe}. */
    static Optional<NpyType> of(String descr) {
        Matcher code = CODE.matcher(descr);
        if (code.matches() && code.group(2).equals("V") && code.group(4) == null && !code.group(3).isEmpty()) {
            return Optional.of(new NpyType(null, Integer.parseInt(code.group(3)), false));
        }
        boolean hasOrder = !descr.isEmpty() && "<>=|".indexOf(descr.charAt(0)) >= 0;
        String name = hasOrder ? descr.substring(1) : descr;
        DType dtype = DTYPE_OF_CODE.get(CODE_OF_NAME.getOrDefault(name, name));
        if (dtype == null) {
            return Optional.empty();
        }
        return Optional.of(new NpyType(dtype, dtype.byteSize(), descr.startsWith(">") && dtype.byteSize() > 1));
    }

    /** What a {@code descr} string that is not read stands for, in words. */
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

    /** The type as numpy writes it, with its byte order. */
    @Override
    public String toString() {
        return (byteSize == 1 || dtype == null ? "|" : isBigEndian ? ">" : "<") + code();
    }

    private String code() {
        if (dtype == null) {
            return "V" + byteSize;
        }
        return DTYPE_OF_CODE.entrySet().stream().filter(e -> e.getValue() == dtype).findAny().orElseThrow().getKey();
    }

    /** What numpy writes for a dtype of ours; types that numpy has not are bytes to it. */
    static String descrOf(DType dtype) {
        return switch (dtype) {
            case BF16 -> "<V2";
            case F8E4M3, F8E5M2 -> "|V1";
            default -> new NpyType(dtype, dtype.byteSize(), false).toString();
        };
    }
}
