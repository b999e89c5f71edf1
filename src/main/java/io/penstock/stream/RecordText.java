// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Finds the text in a record. Stateless. */
@FunctionalInterface
public interface RecordText {

    /** The whole record is the text, in UTF-8. */
    RecordText WHOLE = record -> record;

    /**
     * Finds the text.
     *
     * @param record the record's bytes
     * @return the text in UTF-8
     * @throws IOException if the record has no text; says what was found and expected
     */
    MemorySegment of(MemorySegment record) throws IOException;

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
