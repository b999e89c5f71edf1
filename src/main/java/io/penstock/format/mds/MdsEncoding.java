package io.penstock.format.mds;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * How the values of a column are stored, from the text that the index has for it, such as {@code int},
 * {@code jpeg:90} or {@code ndarray:uint16:3,4} ({@code streaming/base/format/mds/encodings.py}).
 *
 * @param text the text
 * @param base its first part, up to the colon
 * @param dtype of the elements of numbers; null of anything else, and of arrays that say it value by value
 * @param shape of a value; null if it is of another size than others
 */
record MdsEncoding(String text, String base, DType dtype, List<Long> shape) {

    /** Arrays, whose element type or shape may be a matter of each value. */
    static final String NDARRAY = "ndarray";
    /** Python's pickle, which is code. */
    static final String PICKLE = "pkl";

    private static final int MAX_RANK = 63;

    /** The element types, as numpy names them. */
    private static final Map<String, DType> DTYPES = Map.ofEntries(
            Map.entry("uint8", DType.U8), Map.entry("int8", DType.I8),
            Map.entry("uint16", DType.U16), Map.entry("int16", DType.I16), Map.entry("float16", DType.F16),
            Map.entry("uint32", DType.U32), Map.entry("int32", DType.I32), Map.entry("float32", DType.F32),
            Map.entry("uint64", DType.U64), Map.entry("int64", DType.I64), Map.entry("float64", DType.F64));

    private static final List<String> TEXTS = List.of("str", "str_int", "str_float", "str_decimal", "json");

    /**
     * Parses.
     *
     * @throws IllegalArgumentException if the text has arguments that it cannot have; says which
     */
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
        if (dtype == null || arguments.length > 2) {
            throw new IllegalArgumentException("the encoding '" + text + "'");
        }
        if (arguments.length == 1) {
            return new MdsEncoding(text, NDARRAY, dtype, null);
        }
        String[] dims = arguments[1].split(",", -1);
        List<Long> shape;
        try {
            shape = Arrays.stream(dims).map(dim -> Long.valueOf(dim.strip())).toList();
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("the encoding '" + text + "'", e);
        }
        if (shape.size() > MAX_RANK || shape.stream().anyMatch(dim -> dim < 1)) {
            throw new IllegalArgumentException("the encoding '" + text + "'");
        }
        return new MdsEncoding(text, NDARRAY, dtype, shape);
    }

    /** Whether all values are numbers of one type and shape. */
    boolean isNumbers() {
        return dtype != null && shape != null;
    }

    boolean isText() {
        return TEXTS.contains(base);
    }

    /** Whether each value says its own shape, and its type unless that is known. */
    boolean isDynamicArray() {
        return base.equals(NDARRAY) && shape == null;
    }

    /**
     * The column that it makes.
     *
     * @throws IllegalArgumentException if a value exceeds 2^63 bytes
     */
    Column column(String name) {
        if (isNumbers()) {
            return Column.numbers(name, dtype, shape.stream().mapToLong(Long::longValue).toArray());
        }
        String encoding = base.equals(NDARRAY) ? text : base.equals("bytes") ? "" : base;
        return isText() ? Column.text(name, encoding) : Column.bytes(name, encoding);
    }

    /** Bytes of every value; -1 if they differ. */
    long fixedBytes(TensorSpec spec) {
        return isNumbers() ? spec.byteSize() : -1;
    }

    /** The name that numpy has for an element type. */
    static String numpyName(DType dtype) {
        return DTYPES.entrySet().stream().filter(entry -> entry.getValue() == dtype).findFirst().orElseThrow().getKey();
    }
}
