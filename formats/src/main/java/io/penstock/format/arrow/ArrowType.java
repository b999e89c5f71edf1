// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.table.JsonText;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A type of Arrow without its children, which also describes columns of other formats.
 *
 * @param bits the width of an integer, float, decimal, date, time or interval
 * @param size the items of a fixed-size list, the bytes of a fixed-size binary, the digits after the point of a
 *     decimal, or after the second of a time
 * @param text its name in Arrow's own libraries; of a nested type, the part before its children
 * @param codes the code of each child of a union; empty if it is the child's position
 */
public record ArrowType(Id id, int bits, boolean isSigned, int size, String text, List<Integer> codes) {

    /** The kinds of types, in the order of their codes, which start at 1. */
    public enum Id {
        NULL, INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL, LIST, STRUCT, UNION,
        FIXED_SIZE_BINARY, FIXED_SIZE_LIST, MAP, DURATION, LARGE_BINARY, LARGE_UTF8, LARGE_LIST, RUN_END_ENCODED,
        BINARY_VIEW, UTF8_VIEW, LIST_VIEW, LARGE_LIST_VIEW;

        private String text() {
            return name().toLowerCase(Locale.ROOT).replace("utf8", "string");
        }
    }

    static final int VIEW_BYTES = 16;
    /** Views have values of up to this size in themselves. */
    static final int INLINE_BYTES = 12;
    private static final int MAX_CODES = 128;
    private static final long MILLIS_OF_DAY = 86_400_000;
    private static final List<String> FLOATS = List.of("halffloat", "float", "double");
    private static final List<String> INTERVALS = List.of("month_interval", "day_time_interval",
            "month_day_nano_interval");
    private static final List<String> UNITS = List.of("s", "ms", "us", "ns");
    private static final Id[] IDS = Id.values();

    private ArrowType(Id id, int bits, int size, String text) {
        this(id, bits, true, size, text, List.of());
    }

    /** {@return the type of a kind without parameters} */
    public static ArrowType of(Id id) {
        return sized(id, 0);
    }

    private static ArrowType sized(Id id, int size) {
        return new ArrowType(id, 0, false, size, id.text(), List.of());
    }

    /** {@return the type of integers of 8, 16, 32 or 64 bits} */
    public static ArrowType integer(int bits, boolean isSigned) {
        return new ArrowType(Id.INT, bits, isSigned, 0, (isSigned ? "int" : "uint") + bits, List.of());
    }

    /** {@return the type of floats of 16, 32 or 64 bits} */
    public static ArrowType floating(int bits) {
        return new ArrowType(Id.FLOAT, bits, 0, FLOATS.get(bits / 32));
    }

    /** {@return the type of binary values of one size} */
    public static ArrowType fixedBinary(int bytes) {
        return new ArrowType(Id.FIXED_SIZE_BINARY, 0, bytes, Id.FIXED_SIZE_BINARY.text() + "[" + bytes + "]");
    }

    /** {@return the type of decimals of so many bits, digits, and digits after the point} */
    public static ArrowType decimal(int bits, String name, int precision, int scale) {
        return new ArrowType(Id.DECIMAL, bits, scale, name + "(" + precision + ", " + scale + ")");
    }

    /** {@return the type of dates since 1970: days in 32 bits, or milliseconds in 64} */
    public static ArrowType date(int bits) {
        return new ArrowType(Id.DATE, bits, 0, bits == Integer.SIZE ? "date32[day]" : "date64[ms]");
    }

    /** {@return the type of times of day of 32 or 64 bits; units go from 0, seconds, to 3, nanoseconds} */
    public static ArrowType time(int bits, int unit) {
        return new ArrowType(Id.TIME, bits, 3 * unit, "time" + bits + "[" + UNITS.get(unit) + "]");
    }

    /** {@return the type of timestamps in a unit; the zone is empty if they are not instants} */
    public static ArrowType timestamp(int unit, String zone) {
        return new ArrowType(Id.TIMESTAMP, Long.SIZE, 3 * unit,
                "timestamp[" + UNITS.get(unit) + (zone.isEmpty() ? "" : ", tz=" + zone) + "]");
    }

    /** Reads the type of a field from its code and the table with its parameters. */
    static ArrowType read(FlatTable field, int code, @Nullable FlatTable table) {
        if (code < 1 || code > IDS.length || table == null) {
            throw field.malformed("type code " + code + (table == null ? " without its table" : ""),
                    "a type, 1 to " + IDS.length);
        }
        Id id = IDS[code - 1];
        return switch (id) {
            case INT -> integer(table);
            case FLOAT -> floating(16 << oneOf(table, table.i16(0, 0), FLOATS.size(), "floats of precision"));
            case BOOL -> new ArrowType(id, 1, false, 0, id.text(), List.of());
            case DECIMAL -> {
                int bits = table.i32(2, 128);
                yield decimal(bits, "decimal" + bits, table.i32(0, 0), table.i32(1, 0));
            }
            case DATE -> date(table.i16(0, 1) == 0 ? Integer.SIZE : Long.SIZE);
            case TIME -> {
                int bits = table.i32(1, 32);
                if (bits != Integer.SIZE && bits != Long.SIZE) {
                    throw table.malformed("times of " + bits + " bits", "32 or 64");
                }
                yield time(bits, unit(table, 1));
            }
            case TIMESTAMP -> {
                String zone = table.string(1);
                yield timestamp(unit(table, 0), zone == null ? "" : zone);
            }
            case INTERVAL -> {
                int unit = oneOf(table, table.i16(0, 0), INTERVALS.size(), "unit of an interval");
                yield new ArrowType(id, 32 << unit, 0, INTERVALS.get(unit));
            }
            case DURATION -> {
                int unit = unit(table, 1);
                yield new ArrowType(id, Long.SIZE, 3 * unit, "duration[" + UNITS.get(unit) + "]");
            }
            case UNION -> union(table);
            case FIXED_SIZE_BINARY -> fixedBinary(size(id, table));
            case FIXED_SIZE_LIST -> sized(id, size(id, table));
            default -> of(id);
        };
    }

    static ArrowType integer(FlatTable table) {
        int bits = table.i32(0, 0);
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
            throw table.malformed("integers of " + bits + " bits", "8, 16, 32 or 64");
        }
        return integer(bits, table.bool(1));
    }

    private static ArrowType union(FlatTable table) {
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

    private static int unit(FlatTable table, int byDefault) {
        return oneOf(table, table.i16(0, byDefault), UNITS.size(), "unit of time");
    }

    private static int oneOf(FlatTable table, int code, int codes, String called) {
        if (code < 0 || code >= codes) {
            throw table.malformed(called + " " + code, "0 to " + (codes - 1));
        }
        return code;
    }

    private static int size(Id id, FlatTable table) {
        int size = table.i32(0, 0);
        if (size < 0) {
            throw table.malformed("a " + id.text() + " of " + size, "a size of 0 or more");
        }
        return size;
    }

    /** Returns the dtype of a tensor of such values; null if there is none. Dates and times become integers. */
    public @Nullable DType dtype() {
        return switch (id) {
            case BOOL -> DType.BOOL;
            case FLOAT -> DType.of("f" + bits);
            case INT, DATE, TIME, TIMESTAMP, DURATION -> DType.of((isSigned ? "i" : "u") + bits);
            default -> null;
        };
    }

    /**
     * Returns a store's column of this type; null if values are neither numbers nor bytes nor text. {@code encoding}
     * describes texts, for example {@code json}; empty if unknown.
     */
    public @Nullable Column column(String name, String encoding) {
        DType dtype = dtype();
        return switch (id) {
            case NULL, BINARY, LARGE_BINARY, BINARY_VIEW -> Column.bytes(name, "");
            case UTF8, LARGE_UTF8, UTF8_VIEW -> Column.text(name, encoding);
            case FIXED_SIZE_BINARY -> new Column(new TensorSpec(name, DType.U8, size), Column.Kind.BYTES, "");
            default -> dtype == null ? null : Column.numbers(name, dtype);
        };
    }

    /** Tells whether a union has an offset per value. */
    boolean isDense() {
        return text.equals("dense_union");
    }

    boolean isText() {
        return id == Id.UTF8 || id == Id.LARGE_UTF8 || id == Id.UTF8_VIEW;
    }

    /** Tells whether values are within 16 bytes, or where those bytes point. */
    boolean isView() {
        return id == Id.BINARY_VIEW || id == Id.UTF8_VIEW;
    }

    /** Tells whether values are lists with offsets and sizes. */
    boolean isListView() {
        return id == Id.LIST_VIEW || id == Id.LARGE_LIST_VIEW;
    }

    /** Returns the size of an offset: 4 or 8. */
    int offsetBytes() {
        return switch (id) {
            case LARGE_BINARY, LARGE_UTF8, LARGE_LIST, LARGE_LIST_VIEW -> Long.BYTES;
            default -> Integer.BYTES;
        };
    }

    /** Returns the size of a value; 0 if values are bits or have no fixed size. */
    int valueBytes() {
        return switch (id) {
            case INT, FLOAT, DECIMAL, DATE, TIME, TIMESTAMP, DURATION, INTERVAL -> bits / Byte.SIZE;
            case FIXED_SIZE_BINARY -> size;
            default -> 0;
        };
    }

    /** Reads an integer, date or time of the type's width. */
    long number(MemorySegment from, long at) {
        return switch (bits) {
            case Byte.SIZE -> isSigned ? from.get(JAVA_BYTE, at) : from.get(JAVA_BYTE, at) & 0xFF;
            case Short.SIZE -> isSigned ? from.get(LittleEndian.I16, at) : from.get(LittleEndian.I16, at) & 0xFFFF;
            case Integer.SIZE -> isSigned ? from.get(LittleEndian.I32, at)
                    : from.get(LittleEndian.I32, at) & 0xFFFFFFFFL;
            default -> from.get(LittleEndian.I64, at);
        };
    }

    /** Appends a little-endian value as JSON; not for booleans, nor for values of variable size. */
    public void write(MemorySegment from, long at, JsonText out) {
        switch (id) {
            case INT -> {
                if (isSigned) {
                    out.integer(number(from, at));
                } else {
                    out.unsigned(number(from, at));
                }
            }
            case FLOAT -> out.real(switch (bits) {
                case Short.SIZE -> Float.float16ToFloat(from.get(LittleEndian.I16, at));
                case Integer.SIZE -> Float.intBitsToFloat(from.get(LittleEndian.I32, at));
                default -> Double.longBitsToDouble(from.get(LittleEndian.I64, at));
            });
            case DECIMAL -> out.decimal(highestFirst(from, at), size);
            case DATE -> out.date(bits == Integer.SIZE ? number(from, at)
                    : Math.floorDiv(number(from, at), MILLIS_OF_DAY));
            case TIME -> out.time(number(from, at), size);
            case TIMESTAMP -> out.timestamp(number(from, at), size, text.contains(", tz="));
            case DURATION -> out.integer(number(from, at));
            case INTERVAL -> interval(from, at, out);
            case FIXED_SIZE_BINARY -> out.base64(from, at, size);
            default -> throw new IllegalStateException(text + " values have no size of their own");
        }
    }

    private byte[] highestFirst(MemorySegment from, long at) {
        byte[] bytes = new byte[valueBytes()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[bytes.length - 1 - i] = from.get(JAVA_BYTE, at + i);
        }
        return bytes;
    }

    private void interval(MemorySegment from, long at, JsonText out) {
        if (bits == Integer.SIZE) {
            out.integer(from.get(LittleEndian.I32, at));
            return;
        }
        out.sign('[');
        out.integer(from.get(LittleEndian.I32, at));
        out.sign(',');
        out.integer(from.get(LittleEndian.I32, at + Integer.BYTES));
        if (bits > Long.SIZE) {
            out.sign(',');
            out.integer(from.get(LittleEndian.I64, at + Long.BYTES));
        }
        out.sign(']');
    }
}
