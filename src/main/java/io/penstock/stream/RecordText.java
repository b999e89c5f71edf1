// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Finds the text in a record. Thread-safe. */
@FunctionalInterface
public interface RecordText {

    /** The whole record is the text, but for a byte order mark; one that is not in UTF-8 is an error. */
    RecordText WHOLE = new RecordText() {

        @Override
        public MemorySegment of(MemorySegment record) throws IOException {
            return new WholeRecord().of(record);
        }

        @Override
        public RecordText forOneThread() {
            return new WholeRecord();
        }
    };

    /**
     * Finds the text.
     *
     * @param record the record's bytes
     * @return the text in UTF-8; may be a slice of the record
     * @throws IOException if the record has no text; says what was found and expected
     */
    MemorySegment of(MemorySegment record) throws IOException;

    /**
     * {@return a text that identifies what this finds, such as the name of a field; states of another one are refused}
     * Empty by default.
     */
    default String fingerprint() {
        return "";
    }

    /**
     * {@return the same for one thread at a time, which may reuse its memory: a text is valid until the next one is
     * asked for} By default this itself.
     */
    default RecordText forOneThread() {
        return this;
    }

    /**
     * The text is a field of a JSON object.
     *
     * @param field the field's name
     * @return what finds it
     */
    static RecordText jsonField(String field) {
        return new JsonField(field);
    }
}
