package io.penstock.decode;

import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Turns the stored bytes of a value into a tensor: an image file into pixels, a text into a number. It works in a
 * loader's worker and writes into the batch's slot.
 *
 * <p>A decoder is immutable: any number of workers open it. It is deterministic: what it writes follows from the stored
 * bytes alone.
 */
public interface Decoder {

    /**
     * What it makes of a column's values.
     *
     * @param column what is stored
     * @return dtype and shape of one decoded value, under the column's name; the first dimension may be
     *     {@linkplain TensorSpec#VARIABLE variable}
     * @throws IllegalArgumentException if it cannot decode such a column; says why
     */
    TensorSpec field(Column column);

    /**
     * One worker's decoder.
     *
     * @return to be closed by the worker
     */
    Session open();

    /** Decodes value after value; one thread at a time. Allocates nothing on the heap, as far as it can. */
    interface Session extends AutoCloseable {

        /**
         * How many bytes a value decodes to. It is asked only where the field's length is variable, and may be asked
         * more than once for a value: it should look at a header, not decode.
         *
         * @param stored memory that starts with the stored value; native, no mapping of a file
         * @param storedBytes the stored value's length
         * @return the size
         * @throws IOException if the value is malformed; says what was found and expected, the caller says where
         */
        long byteSize(MemorySegment stored, long storedBytes) throws IOException;

        /**
         * Decodes a value.
         *
         * @param stored memory that starts with the stored value; native, no mapping of a file
         * @param storedBytes the stored value's length
         * @param target where to; native memory, with anything in it
         * @param targetOffset the first byte to write
         * @param targetBytes what the value decodes to: the field's size, or what {@link #byteSize} said; all of it is
         *     written, and nothing else
         * @throws IOException if the value is malformed, or of another size; says what was found and expected, the
         *     caller says where
         */
        void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset, long targetBytes)
                throws IOException;

        /** Frees what the session holds. Calling it again does nothing. */
        @Override
        void close();
    }
}
