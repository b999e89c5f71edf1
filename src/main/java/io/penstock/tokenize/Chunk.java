package io.penstock.tokenize;

import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
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

    private static final char REPLACEMENT = '\uFFFD';

    /** Receives a chunk's texts, in order. */
    @FunctionalInterface
    interface Sink {
        /**
         * Receives a document, or a part of one.
         *
         * @param text the text
         * @param endsDocument whether the document ends with it
         */
        void accept(String text, boolean endsDocument);
    }

    /**
     * Decodes the chunk's documents.
     *
     * @param textField the JSON field that contains the document
     * @throws CorpusException if a byte is not UTF-8, or a line is not an object with that field
     */
    void decode(String textField, Sink sink) throws CorpusException {
        switch (file.format()) {
            case TEXT -> sink.accept(text(), endsFile);
            case JSON_LINES -> lines(textField, sink);
        }
    }

    private String text() throws CorpusException {
        String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0) {
            checkUtf8();
        }
        return text;
    }

    /** The replacement character may also be in the file itself: only a strict decoder can tell. */
    private void checkUtf8() throws CorpusException {
        CharsetDecoder strict = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
        CharBuffer out = CharBuffer.allocate(8192);
        CoderResult result;
        do {
            out.clear();
            result = strict.decode(in, out, true);
        } while (result.isOverflow());
        if (result.isError()) {
            int at = in.position();
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
                sink.accept(document(textField, line, start, end), true);
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
