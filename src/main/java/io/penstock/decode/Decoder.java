// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

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
