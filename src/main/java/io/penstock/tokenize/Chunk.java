// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A piece of a corpus file's uncompressed bytes that a worker decodes independently: whole lines, or text cut where no
 * token can span the cut.
 *
 * @param file the file
 * @param bytes contains the piece from index 0
 * @param length its length in bytes
 * @param offset its start in the uncompressed file
 * @param firstLine the number of its first line, from 1
 * @param endsFile whether it is the file's last
 */
record Chunk(CorpusFile file, byte[] bytes, int length, long offset, long firstLine, boolean endsFile) {

    /** Receives a chunk's texts, in order. */
    @FunctionalInterface
    interface Sink {
        /**
         * Receives a document, or a part of one.
         *
         * @param utf8 contains the text, in well-formed UTF-8, from index 0
         * @param length the text's length in bytes
         * @param endsDocument whether the document ends with it
         */
        void accept(byte[] utf8, int length, boolean endsDocument);
    }

    /**
     * Decodes the chunk's documents.
     *
     * @param textField the JSON field that contains the document
     * @throws CorpusException if a byte is not UTF-8, or a line is not an object with that field
     */
    void decode(String textField, Sink sink) throws CorpusException {
        switch (file.format()) {
            case TEXT -> {
                checkUtf8();
                sink.accept(bytes, length, endsFile);
            }
            case JSON_LINES -> lines(textField, sink);
        }
    }

    private void checkUtf8() throws CorpusException {
        int at = Utf8.firstIllFormed(bytes, 0, length);
        if (at >= 0) {
            throw CorpusException.atByte(file.path(), offset + at,
                    String.format("found byte 0x%02x, expected UTF-8", bytes[at]));
        }
    }

    private void lines(String textField, Sink sink) throws CorpusException {
        long line = firstLine;
        for (int start = 0; start < length; line++) {
            int end = start;
            while (end < length && bytes[end] != '\n') {
                end++;
            }
            if (!isBlank(start, end)) {
                byte[] utf8 = document(textField, line, start, end).getBytes(StandardCharsets.UTF_8);
                sink.accept(utf8, utf8.length, true);
            }
            start = end + 1;
        }
    }

    private boolean isBlank(int start, int end) {
        for (int i = start; i < end; i++) {
            if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r') {
                return false;
            }
        }
        return true;
    }

    private String document(String textField, long line, int start, int end) throws CorpusException {
        Object value;
        try {
            value = Json.parse(bytes, start, end);
        } catch (JsonException e) {
            throw CorpusException.atLine(file.path(), line, "at byte " + e.offset() + " of the line: found " + e.found()
                    + ", expected " + e.expected());
        }
        if (!(value instanceof Map<?, ?> object)) {
            throw CorpusException.atLine(file.path(), line, "found " + Json.shown(value) + ", expected a JSON object");
        }
        Object text = object.get(textField);
        if (text == null && !object.containsKey(textField)) {
            throw CorpusException.atLine(file.path(), line, "no field '" + textField + "', found "
                    + object.keySet().stream().limit(8).map(key -> "'" + key + "'").toList());
        }
        if (!(text instanceof String string)) {
            throw CorpusException.atLine(file.path(), line,
                    "field '" + textField + "': found " + Json.shown(text) + ", expected a string");
        }
        return string;
    }
}
