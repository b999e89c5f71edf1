// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.CodecException;
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
        private byte[] bytes = new byte[0];

        @Override
        public MemorySegment of(MemorySegment record) throws IOException {
            int length = Math.toIntExact(record.byteSize());
            if (length > bytes.length) {
                bytes = new byte[Math.max(length, (int) Math.min(2L * bytes.length, Integer.MAX_VALUE - 8))];
            }
            MemorySegment.copy(record, JAVA_BYTE, 0, bytes, 0, length);
            if (Utf8.firstIllFormed(bytes, 0, length) < 0 && scanner.scan(bytes, 0, length)) {
                return MemorySegment.ofArray(scanner.text()).asSlice(scanner.textStart(), scanner.textLength());
            }
            return MemorySegment.ofArray(parsed(length).getBytes(StandardCharsets.UTF_8));
        }

        private String parsed(int length) throws CodecException {
            try {
                return JsonLine.text(bytes, 0, length, field);
            } catch (IllegalArgumentException e) {
                throw new CodecException(String.valueOf(e.getMessage()));
            }
        }
    }
}
