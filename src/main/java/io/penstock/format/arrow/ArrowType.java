package io.penstock.format.arrow;

import io.penstock.io.MalformedStoreException;
import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * A type as a schema has it, without its children.
 *
 * @param id which
 * @param bits of an integer, a float, a decimal, a time or an interval
 * @param isSigned whether an integer is
 * @param size items of a fixed-size list, bytes of a fixed-size binary, digits behind the point of a decimal and behind
 *     the second of a time
 * @param text what Arrow's own libraries call it; the part before the children of a nested one
 * @param codes of a union, what stands for each of its children; empty if that is its position
 */
record ArrowType(Id id, int bits, boolean isSigned, int size, String text, List<Integer> codes) {

    /** The types, in the order of their codes, which start with 1. */
    enum Id {
        NULL, INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL, LIST, STRUCT, UNION,
        FIXED_SIZE_BINARY, FIXED_SIZE_LIST, MAP, DURATION, LARGE_BINARY, LARGE_UTF8, LARGE_LIST, RUN_END_ENCODED,
        BINARY_VIEW, UTF8_VIEW, LIST_VIEW, LARGE_LIST_VIEW
    }

    private static final int MAX_CODES = 128;
    private static final int[] INTERVAL_BITS = {32, 64, 128};
    private static final String[] UNITS = {"s", "ms", "us", "ns"};
    private static final Id[] IDS = Id.values();

    ArrowType(Id id, int bits, boolean isSigned, int size, String text) {
        this(id, bits, isSigned, size, text, List.of());
    }

    private static ArrowType plain(Id id, String text) {
        return new ArrowType(id, 0, false, 0, text);
    }

    /** Reads the type of a field: its code and the table that says the rest. */
    static ArrowType read(FlatTable field, int code, FlatTable table) throws MalformedStoreException {
        if (code < 1 || code > IDS.length || table == null) {
            throw field.malformed("type code " + code + (table == null ? " without its table" : ""),
                    "a type, 1 to " + IDS.length);
        }
        Id id = IDS[code - 1];
        return switch (id) {
            case NULL -> plain(id, "null");
            case INT -> integer(table);
            case FLOAT -> floating(table);
            case BINARY -> plain(id, "binary");
            case UTF8 -> plain(id, "string");
            case BOOL -> new ArrowType(id, 1, false, 0, "bool");
            case DECIMAL -> decimal(table);
            case DATE -> table.i16(0, 1) == 0 ? new ArrowType(id, 32, true, 0, "date32[day]")
                    : new ArrowType(id, 64, true, 0, "date64[ms]");
            case TIME -> time(table);
            case TIMESTAMP -> new ArrowType(id, 64, true, digits(table, 0), timestamp(table));
            case INTERVAL -> interval(table);
            case LIST -> plain(id, "list");
            case STRUCT -> plain(id, "struct");
            case UNION -> union(table);
            case FIXED_SIZE_BINARY -> sized(id, table, "fixed_size_binary");
            case FIXED_SIZE_LIST -> sized(id, table, "fixed_size_list");
            case MAP -> plain(id, "map");
            case DURATION -> new ArrowType(id, 64, true, digits(table, 1), "duration[" + unit(table, 1) + "]");
            case LARGE_BINARY -> plain(id, "large_binary");
            case LARGE_UTF8 -> plain(id, "large_string");
            case LARGE_LIST -> plain(id, "large_list");
            case RUN_END_ENCODED -> plain(id, "run_end_encoded");
            case BINARY_VIEW -> plain(id, "binary_view");
            case UTF8_VIEW -> plain(id, "string_view");
            case LIST_VIEW -> plain(id, "list_view");
            case LARGE_LIST_VIEW -> plain(id, "large_list_view");
        };
    }

    static ArrowType integer(FlatTable table) throws MalformedStoreException {
        int bits = table.i32(0, 0);
        boolean signed = table.bool(1);
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
            throw table.malformed("integers of " + bits + " bits", "8, 16, 32 or 64");
        }
        return new ArrowType(Id.INT, bits, signed, 0, (signed ? "int" : "uint") + bits);
    }

    private static ArrowType floating(FlatTable table) throws MalformedStoreException {
        return switch (table.i16(0, 0)) {
            case 0 -> new ArrowType(Id.FLOAT, 16, true, 0, "halffloat");
            case 1 -> new ArrowType(Id.FLOAT, 32, true, 0, "float");
            case 2 -> new ArrowType(Id.FLOAT, 64, true, 0, "double");
            default -> throw table.malformed("floats of precision " + table.i16(0, 0), "0, 1 or 2");
        };
    }

    private static ArrowType decimal(FlatTable table) throws MalformedStoreException {
        int bits = table.i32(2, 128);
        return new ArrowType(Id.DECIMAL, bits, true, table.i32(1, 0),
                "decimal" + bits + "(" + table.i32(0, 0) + ", " + table.i32(1, 0) + ")");
    }

    private static ArrowType time(FlatTable table) throws MalformedStoreException {
        int bits = table.i32(1, 32);
        if (bits != 32 && bits != 64) {
            throw table.malformed("times of " + bits + " bits", "32 or 64");
        }
        return new ArrowType(Id.TIME, bits, true, digits(table, 1), "time" + bits + "[" + unit(table, 1) + "]");
    }

    private static String timestamp(FlatTable table) throws MalformedStoreException {
        String zone = table.string(1);
        return "timestamp[" + unit(table, 0) + (zone == null || zone.isEmpty() ? "" : ", tz=" + zone) + "]";
    }

    private static ArrowType interval(FlatTable table) throws MalformedStoreException {
        int unit = table.i16(0, 0);
        if (unit < 0 || unit >= INTERVAL_BITS.length) {
            throw table.malformed("unit of an interval " + unit, "0, 1 or 2");
        }
        return new ArrowType(Id.INTERVAL, INTERVAL_BITS[unit], true, 0, unit == 0 ? "month_interval"
                : unit == 1 ? "day_time_interval" : "month_day_nano_interval");
    }

    private static ArrowType union(FlatTable table) throws MalformedStoreException {
        FlatTable.Vector vector = table.vector(1, Integer.BYTES);
        if (vector.count() > MAX_CODES) {
            throw table.malformed("a union of " + vector.count() + " types", "at most " + MAX_CODES);
        }
        List<Integer> codes = new ArrayList<>();
        for (long i = 0; i < vector.count(); i++) {
            codes.add(vector.i32(i, 0));
        }
        return new ArrowType(Id.UNION, 0, false, 0, table.i16(0, 0) == 0 ? "sparse_union" : "dense_union",
                List.copyOf(codes));
    }

    /** How many digits behind the second a unit of time has. */
    private static int digits(FlatTable table, int byDefault) throws MalformedStoreException {
        unit(table, byDefault);
        return 3 * table.i16(0, byDefault);
    }

    private static String unit(FlatTable table, int byDefault) throws MalformedStoreException {
        int unit = table.i16(0, byDefault);
        if (unit < 0 || unit >= UNITS.length) {
            throw table.malformed("unit of time " + unit, "0 to " + (UNITS.length - 1));
        }
        return UNITS[unit];
    }

    private static ArrowType sized(Id id, FlatTable table, String text) throws MalformedStoreException {
        int size = table.i32(0, 0);
        if (size < 0) {
            throw table.malformed("a " + text + " of " + size, "a size of 0 or more");
        }
        return new ArrowType(id, 0, false, size, text);
    }

    /** What one value is as an element of a tensor; null if it is none. Dates and times are their integers. */
    DType dtype() {
        return switch (id) {
            case BOOL -> DType.BOOL;
            case FLOAT -> DType.of("f" + bits);
            case INT, DATE, TIME, TIMESTAMP, DURATION -> DType.of((isSigned ? "i" : "u") + bits);
            default -> null;
        };
    }

    /** Whether a union says for each value where in its child it is. */
    boolean isDense() {
        return text.equals("dense_union");
    }

    /** Whether offsets, sizes or counts of values are 64 bits wide. */
    boolean isLarge() {
        return id == Id.LARGE_BINARY || id == Id.LARGE_UTF8 || id == Id.LARGE_LIST || id == Id.LARGE_LIST_VIEW;
    }

    /** Whether values are texts. */
    boolean isText() {
        return id == Id.UTF8 || id == Id.LARGE_UTF8 || id == Id.UTF8_VIEW;
    }

    /** Bytes of a value of one size; 0 if values have none, or are bits. */
    int valueBytes() {
        return switch (id) {
            case INT, FLOAT, DECIMAL, DATE, TIME, TIMESTAMP, DURATION, INTERVAL -> bits / Byte.SIZE;
            case FIXED_SIZE_BINARY -> size;
            default -> 0;
        };
    }
}
