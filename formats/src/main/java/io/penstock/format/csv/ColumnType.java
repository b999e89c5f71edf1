// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The type of a column, declared or found.
 *
 * @param buckets the number of values of a {@link Kind#HASH}; otherwise 0
 * @param unit the unit of a {@link Kind#TIMESTAMP}; otherwise days
 */
record ColumnType(Kind kind, long buckets, TimeUnit unit) {

    /** What a field is parsed to. */
    enum Kind {
        I32(DType.I32), I64(DType.I64), F32(DType.F32), F64(DType.F64), BOOL(DType.BOOL),
        /** Days since 1970. */
        DATE(DType.I32),
        /** Units since 1970 in UTC. */
        TIMESTAMP(DType.I64),
        /** The number of a text in the column's {@link Categories}. */
        CATEGORY(DType.I32),
        /** The hash of a text, modulo the buckets. */
        HASH(DType.I32),
        TEXT(DType.U8),
        /** No column of the table. */
        SKIP(DType.U8);

        final DType dtype;

        Kind(DType dtype) {
            this.dtype = dtype;
        }

        boolean isNumber() {
            return dtype.isFloat() || this == I32 || this == I64;
        }
    }

    // What the fields of a column are, as bits of one number.
    /** An integer of 64 bits. */
    static final int INTEGER = 1;
    /** Another number. */
    static final int REAL = 1 << 1;
    static final int TRUTH = 1 << 2;
    static final int DAY = 1 << 3;
    /** A time without a zone. */
    static final int LOCAL_TIME = 1 << 4;
    static final int ZONED_TIME = 1 << 5;
    static final int OTHER_TEXT = 1 << 6;
    /** A missing word: an empty field or one such as {@code NA}. */
    static final int MISSING = 1 << 7;
    /** A time, and a fraction of it below a microsecond. */
    static final int FINE_TIME = 1 << 8;
    /** A day or a time, and it is no number of nanoseconds of 64 bits: before September 1677 or after April 2262. */
    static final int FAR_TIME = 1 << 9;
    /** A field of JSON lines: a line may be broken, so that none of its fields has a value. */
    static final int ANYTHING = 1 << 10;
    private static final int VALUES = ~(MISSING | FINE_TIME | FAR_TIME);

    static ColumnType of(Kind kind) {
        return new ColumnType(kind, 0, TimeUnit.DAYS);
    }

    /** Returns the type of a column whose fields are all of some kinds. */
    static ColumnType found(int fields) {
        int values = fields & VALUES;
        if (values == 0) {
            return of(Kind.F64);
        }
        if ((values & ~(INTEGER | REAL)) == 0) {
            return of(values == INTEGER ? Kind.I64 : Kind.F64);
        }
        if (values == TRUTH || values == DAY) {
            return of(values == TRUTH ? Kind.BOOL : Kind.DATE);
        }
        if ((values & ~(DAY | LOCAL_TIME)) == 0 || values == ZONED_TIME) {
            return new ColumnType(Kind.TIMESTAMP, 0,
                    (fields & FINE_TIME) == 0 ? TimeUnit.MICROSECONDS : TimeUnit.NANOSECONDS);
        }
        return of(Kind.TEXT);
    }

    /** Tells whether a column whose fields are all of some kinds has values of this type only. */
    boolean holds(int fields) {
        int values = fields & VALUES;
        return switch (kind) {
            case I64 -> (values & ~INTEGER) == 0;
            case F32, F64 -> (values & ~(INTEGER | REAL)) == 0;
            case BOOL -> (values & ~TRUTH) == 0;
            case DATE -> (values & ~DAY) == 0;
            case TIMESTAMP -> equals(found(fields)) && (unit != TimeUnit.NANOSECONDS || (fields & FAR_TIME) == 0);
            case CATEGORY, HASH -> (fields & ANYTHING) == 0;
            default -> false;
        };
    }

    /**
     * Returns the type that a text names: {@code f32}, {@code category}, {@code hash:1000}, {@code timestamp[ms]}.
     *
     * @throws IllegalArgumentException if it names none
     */
    static ColumnType parse(String text) {
        if (text.startsWith("hash:")) {
            long buckets = Long.parseLong(text.substring("hash:".length()));
            if (buckets >= 1 && buckets <= Integer.MAX_VALUE) {
                return new ColumnType(Kind.HASH, buckets, TimeUnit.DAYS);
            }
        }
        switch (text) {
            case "timestamp[s]" -> {
                return new ColumnType(Kind.TIMESTAMP, 0, TimeUnit.SECONDS);
            }
            case "timestamp[ms]" -> {
                return new ColumnType(Kind.TIMESTAMP, 0, TimeUnit.MILLISECONDS);
            }
            case "timestamp[us]" -> {
                return new ColumnType(Kind.TIMESTAMP, 0, TimeUnit.MICROSECONDS);
            }
            case "timestamp[ns]" -> {
                return new ColumnType(Kind.TIMESTAMP, 0, TimeUnit.NANOSECONDS);
            }
            default -> {
                return of(Arrays.stream(Kind.values()).filter(kind -> kind != Kind.HASH && kind != Kind.TIMESTAMP)
                        .filter(kind -> kind.toString().toLowerCase(Locale.ROOT).equals(text)).findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("found the type '" + text + "', expected i32,"
                                + " i64, f32, f64, bool, date, timestamp[s], timestamp[ms], timestamp[us],"
                                + " timestamp[ns], text, category, hash:BUCKETS or skip")));
            }
        }
    }

    Column column(String name) {
        return kind == Kind.TEXT ? Column.text(name, "") : Column.numbers(name, kind.dtype);
    }

    /** Returns what a field of this type is, in the words by which a column is declared. */
    String expected() {
        return switch (kind) {
            case TIMESTAMP -> arrowName();
            case TEXT, SKIP, CATEGORY, HASH -> "text in UTF-8";
            default -> kind.toString().toLowerCase(Locale.ROOT);
        };
    }

    /** Returns Arrow's name of the type. */
    String arrowName() {
        return switch (kind) {
            case I32, HASH, CATEGORY -> "int32";
            case I64 -> "int64";
            case F32 -> "float";
            case F64 -> "double";
            case BOOL -> "bool";
            case DATE -> "date32[day]";
            case TEXT, SKIP -> "string";
            case TIMESTAMP -> "timestamp[" + switch (unit) {
                case SECONDS -> "s";
                case MILLISECONDS -> "ms";
                case MICROSECONDS -> "us";
                default -> "ns";
            } + "]";
        };
    }
}
