package io.penstock.store.arrow;

import io.penstock.memory.DType;
import io.penstock.store.MalformedStoreException;

/**
 * A type as a schema has it, without its children.
 *
 * @param id which
 * @param bits of an integer, a float, a decimal or a time
 * @param isSigned whether an integer is
 * @param size items of a fixed-size list, bytes of a fixed-size binary
 * @param text what Arrow's own libraries call it; the part before the children of a nested one
 */
record ArrowType(Id id, int bits, boolean isSigned, int size, String text) {

    /** The types, in the order of their codes, which start with 1. */
    enum Id {
        NULL, INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL, LIST, STRUCT, UNION,
        FIXED_SIZE_BINARY, FIXED_SIZE_LIST, MAP, DURATION, LARGE_BINARY, LARGE_UTF8, LARGE_LIST, RUN_END_ENCODED,
        BINARY_VIEW, UTF8_VIEW, LIST_VIEW, LARGE_LIST_VIEW
    }

    private static final String[] UNITS = {"s", "ms", "us", "ns"};
    private static final Id[] IDS = Id.values();

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
            case TIMESTAMP -> new ArrowType(id, 64, true, 0, timestamp(table));
            case INTERVAL -> plain(id, switch (table.i16(0, 0)) {
                case 0 -> "month_interval";
                case 1 -> "day_time_interval";
                default -> "month_day_nano_interval";
            });
            case LIST -> plain(id, "list");
            case STRUCT -> plain(id, "struct");
            case UNION -> plain(id, table.i16(0, 0) == 0 ? "sparse_union" : "dense_union");
            case FIXED_SIZE_BINARY -> sized(id, table, "fixed_size_binary");
            case FIXED_SIZE_LIST -> sized(id, table, "fixed_size_list");
            case MAP -> plain(id, "map");
            case DURATION -> new ArrowType(id, 64, true, 0, "duration[" + unit(table, 1) + "]");
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
        return new ArrowType(Id.DECIMAL, bits, true, 0,
                "decimal" + bits + "(" + table.i32(0, 0) + ", " + table.i32(1, 0) + ")");
    }

    private static ArrowType time(FlatTable table) throws MalformedStoreException {
        int bits = table.i32(1, 32);
        if (bits != 32 && bits != 64) {
            throw table.malformed("times of " + bits + " bits", "32 or 64");
        }
        return new ArrowType(Id.TIME, bits, true, 0, "time" + bits + "[" + unit(table, 1) + "]");
    }

    private static String timestamp(FlatTable table) throws MalformedStoreException {
        String zone = table.string(1);
        return "timestamp[" + unit(table, 0) + (zone == null || zone.isEmpty() ? "" : ", tz=" + zone) + "]";
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

    /** Whether it is the integer 8 to 64 bits wide that a dictionary's indices may be. */
    boolean isInteger() {
        return id == Id.INT;
    }
}
