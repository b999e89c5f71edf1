// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;

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
        return record -> {
            try {
                Object value = Json.parse(record.toArray(JAVA_BYTE));
                if (!(value instanceof Map<?, ?> object)) {
                    throw new IOException("found " + Json.shown(value) + ", expected an object");
                }
                if (object.get(field) instanceof String text) {
                    return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
                }
                throw new IOException("field '" + field + "': found " + Json.shown(object.get(field))
                        + ", expected a text");
            } catch (JsonException e) {
                throw new IOException(e.getMessage(), e);
            }
        };
    }
}
