// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Locale;
import java.util.Objects;

/**
 * A column of a record store.
 *
 * @param spec its name, dtype and the shape of one record's value; a value of bytes or text is {@code u8[*]}
 * @param kind what the bytes are
 * @param encoding the format's name for what the bytes encode: a file suffix such as {@code jpg} or {@code seg.png}, an
 *     encoding such as {@code jpeg}; {@code ""} if the format declares none. It selects the decoder
 */
public record Column(TensorSpec spec, Kind kind, String encoding) {

    /** The kind of a value's bytes. */
    public enum Kind {
        /** Elements of the column's dtype, row-major, little-endian. */
        NUMBERS,
        /** Bytes; the store knows only their {@link Column#encoding}. */
        BYTES,
        /** UTF-8 text. */
        TEXT
    }

    /** Refuses components that are null. */
    public Column {
        Objects.requireNonNull(spec, "spec");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(encoding, "encoding");
    }

    /**
     * Creates a column of numbers.
     *
     * @param name the column's name
     * @param dtype the element type
     * @param shape the shape of one record's value; empty for a scalar; the first dimension may be
     *     {@link TensorSpec#VARIABLE variable}
     * @return the column
     */
    public static Column numbers(String name, DType dtype, long... shape) {
        return new Column(new TensorSpec(name, dtype, shape), Kind.NUMBERS, "");
    }

    /**
     * Creates a column of bytes.
     *
     * @param name the column's name
     * @param encoding what they encode; {@code ""} if unknown
     * @return the column
     */
    public static Column bytes(String name, String encoding) {
        return new Column(new TensorSpec(name, DType.U8, TensorSpec.VARIABLE), Kind.BYTES, encoding);
    }

    /**
     * Creates a column of text.
     *
     * @param name the column's name
     * @param encoding what the text is, for example {@code json}; {@code ""} if unknown
     * @return the column
     */
    public static Column text(String name, String encoding) {
        return new Column(new TensorSpec(name, DType.U8, TensorSpec.VARIABLE), Kind.TEXT, encoding);
    }

    /** {@return the column's name} */
    public String name() {
        return spec.name();
    }

    /** {@return the encoding's part after the last dot, in lower case: {@code jpg} of {@code img.JPG}} */
    public String suffix() {
        return encoding.substring(encoding.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return spec + " " + kind.toString().toLowerCase(Locale.ROOT)
                + (encoding.isEmpty() ? "" : " (" + encoding + ")");
    }
}
