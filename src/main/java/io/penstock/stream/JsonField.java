// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.CodecException;
import io.penstock.json.FieldScanner;
import io.penstock.json.JsonLine;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * The text in a field of a JSON object.
 *
 * @param field the field's name
 */
record JsonField(String field) implements RecordText {

    @Override
    public MemorySegment of(MemorySegment record) throws IOException {
        return new Reader().of(record);
    }

    @Override
    public String fingerprint() {
        return "json:" + field;
    }

    @Override
    public RecordText forOneThread() {
        return new Reader();
    }

    /** Makes no objects of a record that is an object as usual. */
    private final class Reader implements RecordText {

        private final FieldScanner scanner = new FieldScanner(field);
        private final RecordBytes copy = new RecordBytes();

        @Override
        public MemorySegment of(MemorySegment record) throws IOException {
            byte[] bytes = copy.of(record);
            int length = Math.toIntExact(record.byteSize());
            if (Utf8.firstIllFormed(bytes, 0, length) < 0 && scanner.scan(bytes, 0, length)) {
                return MemorySegment.ofArray(scanner.text()).asSlice(scanner.textStart(), scanner.textLength());
            }
            return MemorySegment.ofArray(parsed(bytes, length).getBytes(StandardCharsets.UTF_8));
        }

        private String parsed(byte[] bytes, int length) {
            try {
                return JsonLine.text(bytes, 0, length, field);
            } catch (IllegalArgumentException e) {
                throw new CodecException(String.valueOf(e.getMessage()));
            }
        }
    }
}
