// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.json.FieldScanner;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** Finds the text in a record. Thread-safe. */
@FunctionalInterface
public interface RecordText {

    /** The whole record is the text, in UTF-8. */
    RecordText WHOLE = record -> record;

    /**
     * Finds the text.
     *
     * @param record the record's bytes
     * @return the text in UTF-8; may be a slice of the record
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
        ThreadLocal<FieldScanner> scanners = ThreadLocal.withInitial(() -> new FieldScanner(field));
        return record -> {
            boolean isArray = record.heapBase().orElse(null) instanceof byte[];
            byte[] line = isArray ? (byte[]) record.heapBase().orElseThrow() : record.toArray(JAVA_BYTE);
            int from = isArray ? (int) record.address() : 0;
            int end = from + (int) record.byteSize();
            FieldScanner scanner = scanners.get();
            if (Utf8.firstIllFormed(line, from, end) >= 0 || !scanner.scan(line, from, end)) {
                return MemorySegment.ofArray(parsed(line, from, end, field).getBytes(StandardCharsets.UTF_8));
            }
            int start = scanner.textStart();
            return scanner.text() == line ? record.asSlice(start - from, scanner.textLength())
                    : MemorySegment.ofArray(Arrays.copyOfRange(scanner.text(), start, start + scanner.textLength()));
        };
    }

    private static String parsed(byte[] line, int from, int end, String field) throws IOException {
        try {
            Object value = Json.parse(line, from, end);
            if (!(value instanceof Map<?, ?> object)) {
                throw new IOException("found " + Json.shown(value) + ", expected an object");
            }
            if (object.get(field) instanceof String text) {
                return text;
            }
            throw new IOException("field '" + field + "': found " + Json.shown(object.get(field))
                    + ", expected a text");
        } catch (JsonException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
