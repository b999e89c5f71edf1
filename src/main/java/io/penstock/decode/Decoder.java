// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes a stored value into a tensor: an image file into pixels, a text into a number. It runs in a loader's worker
 * and writes into the batch's slot.
 *
 * <p>A decoder is immutable and shared by all workers. It is deterministic: its output depends only on the stored
 * bytes.
 */
public interface Decoder {

    /**
     * The field that a column decodes to.
     *
     * @param column the stored column
     * @return dtype and shape of one decoded value, with the column's name or, where that says how the values are read,
     *     one of its own; the first dimension may be {@linkplain TensorSpec#VARIABLE variable}
     * @throws IllegalArgumentException if it cannot decode such a column; gives the reason
     */
    TensorSpec field(Column column);

    /** {@return a session for one worker, which closes it} */
    Session open();

    /** {@return the name of the time that it takes, in a loader's report; one that begins with {@code decode}} */
    default String part() {
        return "decode";
    }

    /**
     * {@return the decoder for a column of bytes or text, by its {@linkplain Column#suffix suffix}, like the webdataset
     * library's basic handlers}
     *
     * <table>
     * <caption>Decoders by suffix</caption>
     * <tr><th>suffix</th><th>decodes to</th></tr>
     * <tr><td>{@code cls cls2 class count index inx id}</td><td>{@code i64[]}: {@link #decimal}</td></tr>
     * <tr><td>{@code pyd pickle pkl pth pt}</td><td>rejected: a pickle runs code</td></tr>
     * <tr><td>all others</td><td>{@code u8[*]}, the stored bytes: {@link #bytes}</td></tr>
     * </table>
     *
     * <p>Arrays, JSON and images need a decoder that you name.
     *
     * @param column the stored column
     * @throws IllegalArgumentException if the column holds numbers, which need no decoder, or pickles, which are never
     *     loaded
     */
    static Decoder of(Column column) {
        Scalars.requireBytes(column, "bytes or text");
        return Scalars.DECIMAL.contains(column.suffix()) ? decimal(DType.I64) : bytes();
    }

    /** {@return a decoder that keeps the stored bytes, {@code u8[*]}: UTF-8 texts, and what the trainer decodes} */
    static Decoder bytes() {
        return StoredBytes.INSTANCE;
    }

    /**
     * {@return a decoder of an integer in decimal digits, such as a WebDataset's {@code cls}} An optional sign and
     * digits, with optional white space around them, as Python's {@code int} accepts it.
     *
     * @param dtype the integer type, usually {@code i64}; a number that does not fit is an error
     * @throws IllegalArgumentException if the type is not an integer type
     */
    static Decoder decimal(DType dtype) {
        return new DecimalText(dtype);
    }

    /**
     * {@return a decoder of raw numbers of a known dtype and shape, little-endian and packed}
     *
     * @param dtype the element type
     * @param shape the shape; empty for a scalar; the first dimension may be {@link TensorSpec#VARIABLE}, which the
     *     byte size determines
     * @throws IllegalArgumentException if the shape is invalid, or its first dimension is variable and its rows are
     *     empty
     */
    static Decoder numbers(DType dtype, long... shape) {
        return new Numbers(dtype, shape);
    }

    /**
     * {@return a decoder of NumPy arrays ({@code .npy}) of a known dtype and shape, in any stored order and byte order,
     * to row-major, little-endian elements}
     *
     * @param dtype the element type; an array of another type is an error
     * @param shape the shape; empty for a scalar; the first dimension may be {@link TensorSpec#VARIABLE}
     * @throws IllegalArgumentException if the shape is invalid
     */
    static Decoder npy(DType dtype, long... shape) {
        return new NpyDecoder(new TensorSpec("", dtype, shape));
    }

    /**
     * {@return a decoder of NumPy arrays with the dtype and the shape of a given one, for example the first sample's}
     *
     * @param npy all bytes of a {@code .npy}
     * @throws IOException if the array is malformed or of an unsupported type
     */
    static Decoder npyLike(byte[] npy) throws IOException {
        return NpyDecoder.like(npy);
    }

    /**
     * {@return a decoder of MDS's encoding {@code ndarray}, whose values store their own dtype and shape} A value of
     * another dtype or shape is an error: it is not cast or reshaped.
     *
     * @param dtype the required dtype
     * @param shape the required shape; the first dimension may be {@link TensorSpec#VARIABLE}
     */
    static Decoder ndarray(DType dtype, long... shape) {
        return NdarrayDecoder.untyped(dtype, shape);
    }

    /**
     * {@return a decoder of MDS's encodings {@code ndarray} with a dtype, such as {@code ndarray:float32}, whose values
     * store their own shape}
     *
     * @param dtype that dtype
     * @param shape the required shape; the first dimension may be {@link TensorSpec#VARIABLE}
     */
    static Decoder typedNdarray(DType dtype, long... shape) {
        return NdarrayDecoder.typed(dtype, shape);
    }

    /**
     * {@return a decoder of a number or a truth value inside a JSON text} The whole text is parsed, on the heap.
     *
     * {@snippet :
     * Decoder label = Decoder.jsonNumber("annotations.0.label", DType.I64);
     * }
     *
     * @param path the names that lead to the number, separated by dots, of which those of array elements are their
     *     indices; {@code ""} if the text is the number
     * @param dtype the target type: integers, {@code f16}, {@code f32}, {@code f64}, or {@code bool} for a truth value.
     *     A number that does not fit an integer type is an error
     * @throws IllegalArgumentException if the type is not one of these
     */
    static Decoder jsonNumber(String path, DType dtype) {
        return new JsonNumber(path, dtype);
    }

    /** Decodes one value after another, for one thread at a time. Avoids allocation on the heap. */
    interface Session extends AutoCloseable {

        /**
         * {@return the decoded byte size of a value} Called only for a field of variable length, possibly several times
         * for a value, so it should read a header rather than decode.
         *
         * @param stored native memory that starts with the stored value; not a file mapping
         * @param storedBytes the stored value's byte size
         * @throws IOException if the value is malformed; says what was found and expected, but not where
         */
        long byteSize(MemorySegment stored, long storedBytes) throws IOException;

        /**
         * Decodes a value.
         *
         * @param stored native memory that starts with the stored value; not a file mapping
         * @param storedBytes the stored value's byte size
         * @param target the native memory to write, with any content
         * @param targetOffset the first byte to write
         * @param targetBytes the decoded size: the field's, or that from {@link #byteSize}; exactly these bytes are
         *     written
         * @throws IOException if the value is malformed or has another size; says what was found and expected, but not
         *     where
         */
        void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset, long targetBytes)
                throws IOException;

        /** Frees the session's resources. Further calls do nothing. The default is for a session without any. */
        @Override
        default void close() {
        }
    }
}
