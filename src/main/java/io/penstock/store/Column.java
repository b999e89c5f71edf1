package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.Objects;

/**
 * A named value that records have.
 *
 * @param spec its name, dtype and the shape of one record's value; a value of bytes or text is {@code u8[*]}
 * @param kind what its bytes are
 * @param encoding what bytes encode, as the format calls it: a file's suffix such as {@code jpg}, {@code cls} or
 *     {@code seg.png}, an encoding such as {@code jpeg}; {@code ""} where the format does not say. Decoders are chosen
 *     by it
 */
public record Column(TensorSpec spec, Kind kind, String encoding) {

    /** What the bytes of a value are. */
    public enum Kind {
        /** Elements of the column's dtype, row-major, little-endian. */
        NUMBERS,
        /** Bytes of which the store knows no more than {@link Column#encoding}. */
        BYTES,
        /** UTF-8 text. */
        TEXT
    }

    /** Checks. */
    public Column {
        Objects.requireNonNull(spec, "spec");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(encoding, "encoding");
    }

    /**
     * Numbers.
     *
     * @param name the column's name
     * @param dtype of the elements
     * @param shape of one record's value; none for a scalar; the first dimension may be
     *     {@link TensorSpec#VARIABLE variable}
     * @return the column
     */
    public static Column numbers(String name, DType dtype, long... shape) {
        return new Column(new TensorSpec(name, dtype, shape), Kind.NUMBERS, "");
    }

    /**
     * Bytes.
     *
     * @param name the column's name
     * @param encoding what they encode; {@code ""} if that is not known
     * @return the column
     */
    public static Column bytes(String name, String encoding) {
        return new Column(new TensorSpec(name, DType.U8, TensorSpec.VARIABLE), Kind.BYTES, encoding);
    }

    /**
     * Text.
     *
     * @param name the column's name
     * @param encoding what the text is, for example {@code json}; {@code ""} if that is not known
     * @return the column
     */
    public static Column text(String name, String encoding) {
        return new Column(new TensorSpec(name, DType.U8, TensorSpec.VARIABLE), Kind.TEXT, encoding);
    }

    /**
     * The column's name.
     *
     * @return the name
     */
    public String name() {
        return spec.name();
    }

    @Override
    public String toString() {
        return spec + " " + kind.toString().toLowerCase(java.util.Locale.ROOT)
                + (encoding.isEmpty() ? "" : " (" + encoding + ")");
    }
}
