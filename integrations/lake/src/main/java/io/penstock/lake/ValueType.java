// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.Locale;

/**
 * The type of a column of a table, and how Penstock gives its values.
 *
 * @param kind the type; that of the items for a list
 * @param scale the digits after a decimal's point; otherwise 0
 * @param isList whether a value is a list of numbers
 */
public record ValueType(Kind kind, int scale, boolean isList) {

    /** The types of single values. */
    public enum Kind {
        /** {@code bool}. */
        BOOL(DType.BOOL),
        /** {@code i8}. */
        I8(DType.I8),
        /** {@code i16}. */
        I16(DType.I16),
        /** {@code i32}. */
        I32(DType.I32),
        /** {@code i64}. */
        I64(DType.I64),
        /** {@code f32}. */
        F32(DType.F32),
        /** {@code f64}. */
        F64(DType.F64),
        /** Days since 1970-01-01, {@code i32}. */
        DATE(DType.I32),
        /** Microseconds since midnight, {@code i64}. */
        TIME(DType.I64),
        /** Microseconds since 1970-01-01, {@code i64}. */
        TIMESTAMP(DType.I64),
        /** Nanoseconds since 1970-01-01, {@code i64}. */
        TIMESTAMP_NANOS(DType.I64),
        /** A decimal number as text in JSON, {@code "12.50"}. */
        DECIMAL(DType.U8),
        /** Text in UTF-8. */
        TEXT(DType.U8),
        /** Bytes. */
        BYTES(DType.U8),
        /** Bytes of a fixed length, which {@link ValueType#scale} has. */
        FIXED(DType.U8),
        /** What has parts: a list of no numbers, a map. */
        JSON(DType.U8);

        private final DType dtype;

        Kind(DType dtype) {
            this.dtype = dtype;
        }

        boolean isNumber() {
            return dtype != DType.U8;
        }

        DType dtype() {
            return dtype;
        }
    }

    /**
     * {@return the type of single values}
     *
     * @param kind the type; no decimal
     */
    public static ValueType of(Kind kind) {
        return new ValueType(kind, 0, false);
    }

    /**
     * {@return the type of decimal numbers}
     *
     * @param scale the digits after the point
     */
    public static ValueType decimal(int scale) {
        return new ValueType(Kind.DECIMAL, scale, false);
    }

    /**
     * {@return the type of a list: numbers, or JSON if its items are not numbers}
     *
     * @param item the type of an item
     */
    public static ValueType listOf(ValueType item) {
        return item.isList || !item.kind.isNumber() ? of(Kind.JSON) : new ValueType(item.kind, 0, true);
    }

    /** Returns the column of a store for it. */
    Column column(String name) {
        if (isList) {
            return Column.numbers(name, kind.dtype, TensorSpec.VARIABLE);
        }
        return switch (kind) {
            case DECIMAL, JSON -> Column.text(name, "json");
            case TEXT -> Column.text(name, "");
            case BYTES -> Column.bytes(name, "");
            case FIXED -> new Column(new TensorSpec(name, DType.U8, scale), Column.Kind.BYTES, "");
            default -> Column.numbers(name, kind.dtype);
        };
    }

    @Override
    public String toString() {
        String name = kind == Kind.DECIMAL ? "decimal(scale " + scale + ")" : kind.name().toLowerCase(Locale.ROOT);
        return isList ? "list<" + name + ">" : name;
    }
}
