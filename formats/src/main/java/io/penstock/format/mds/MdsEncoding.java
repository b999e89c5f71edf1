// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of a column's values, as the index names it: {@code int}, {@code jpeg:90}, {@code ndarray:uint16:3,4}
 * ({@code streaming/base/format/mds/encodings.py}).
 *
 * @param base the first part of the name, up to the colon
 * @param dtype the element type of numbers; null for other values, and for arrays whose values declare their types
 * @param shape the shape of a value; null if sizes vary
 */
record MdsEncoding(String text, String base, @Nullable DType dtype, @Nullable List<Long> shape) {

    /** Arrays; each value may declare its own type or shape. */
    static final String NDARRAY = "ndarray";
    /** Python's pickles, which are code. */
    static final String PICKLE = "pkl";

    private static final int MAX_RANK = 63;

    private static final Map<String, DType> DTYPES = Map.ofEntries(
            Map.entry("uint8", DType.U8), Map.entry("int8", DType.I8),
            Map.entry("uint16", DType.U16), Map.entry("int16", DType.I16), Map.entry("float16", DType.F16),
            Map.entry("uint32", DType.U32), Map.entry("int32", DType.I32), Map.entry("float32", DType.F32),
            Map.entry("uint64", DType.U64), Map.entry("int64", DType.I64), Map.entry("float64", DType.F64));

    private static final List<String> TEXTS = List.of("str", "str_int", "str_float", "str_decimal", "json");

    /** Parses a name; throws an {@link IllegalArgumentException} that names invalid arguments. */
    static MdsEncoding of(String text) {
        int colon = text.indexOf(':');
        String base = colon < 0 ? text : text.substring(0, colon);
        if (base.equals(NDARRAY) && colon >= 0) {
            return array(text, text.substring(colon + 1).split(":", -1));
        }
        DType scalar = base.equals("int") ? DType.I64 : DTYPES.get(base);
        return new MdsEncoding(text, base, scalar, scalar == null ? null : List.of());
    }

    private static MdsEncoding array(String text, String[] arguments) {
        DType dtype = DTYPES.get(arguments[0]);
        IllegalArgumentException invalid = new IllegalArgumentException("the encoding '" + text + "'");
        if (dtype == null || arguments.length > 2) {
            throw invalid;
        }
        if (arguments.length == 1) {
            return new MdsEncoding(text, NDARRAY, dtype, null);
        }
        List<Long> shape;
        try {
            shape = Arrays.stream(arguments[1].split(",", -1)).map(dim -> Long.valueOf(dim.strip())).toList();
        } catch (NumberFormatException _) {
            throw invalid;
        }
        if (shape.size() > MAX_RANK || shape.stream().anyMatch(dim -> dim < 1)) {
            throw invalid;
        }
        return new MdsEncoding(text, NDARRAY, dtype, shape);
    }

    /** Tells whether all values are numbers of one type and shape. */
    boolean isNumbers() {
        return dtype != null && shape != null;
    }

    boolean isText() {
        return TEXTS.contains(base);
    }

    /** Tells whether each value declares its own shape. */
    boolean isDynamicArray() {
        return base.equals(NDARRAY) && shape == null;
    }

    /** Returns the column; throws an {@link IllegalArgumentException} if a value exceeds 2^63 bytes. */
    Column column(String name) {
        if (dtype != null && shape != null) {
            return Column.numbers(name, dtype, shape.stream().mapToLong(Long::longValue).toArray());
        }
        String encoding = base.equals(NDARRAY) ? text : base.equals("bytes") ? "" : base;
        return isText() ? Column.text(name, encoding) : Column.bytes(name, encoding);
    }

    /** Returns the size of every value; -1 if sizes vary. */
    long fixedBytes(TensorSpec spec) {
        return isNumbers() ? spec.byteSize() : -1;
    }

    /** Returns numpy's name of an element type. */
    static String numpyName(DType dtype) {
        return DTYPES.entrySet().stream().filter(entry -> entry.getValue() == dtype).findFirst().orElseThrow().getKey();
    }
}
