// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.FieldScanner;
import io.penstock.json.JsonException;
import io.penstock.json.JsonLine;
import io.penstock.text.LineFeeds;
import io.penstock.text.Utf8;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a corpus file's uncompressed bytes that a thread decodes independently: whole lines, or text cut where no
 * token can span the cut. {@link CorpusReader} fills it again and again.
 */
final class Chunk {

    /** Receives a chunk's texts, in order. */
    @FunctionalInterface
    interface Sink {
        /**
         * Receives a document, or a part of one.
         *
         * @param utf8 contains the text, in well-formed UTF-8; valid during the call
         * @param from the text's first byte
         * @param length the text's length in bytes
         * @param endsDocument whether the document ends with it
         */
        void accept(byte[] utf8, int from, int length, boolean endsDocument);
    }

    private @Nullable CorpusFile file;
    private byte[] bytes;
    private int length;
    private long offset;
    private long firstLine;
    private boolean endsFile;

    Chunk(int bytes) {
        this.bytes = new byte[bytes];
    }

    /**
     * Sets the content.
     *
     * @param holder contains the piece from index 0
     * @param count its length in bytes
     * @param start its start in the uncompressed file
     * @param line the number of its first line, from 1, within the part of the file that is read
     * @param isLast whether it is the file's last
     * @return the chunk's former array, which the caller may reuse
     */
    byte[] set(CorpusFile source, byte[] holder, int count, long start, long line, boolean isLast) {
        byte[] free = bytes;
        file = source;
        bytes = holder;
        length = count;
        offset = start;
        firstLine = line;
        endsFile = isLast;
        return free;
    }

    int length() {
        return length;
    }

    boolean endsFile() {
        return endsFile;
    }

    private CorpusFile file() {
        return Objects.requireNonNull(file);
    }

    /**
     * Decodes the chunk's documents.
     *
     * @param textField the JSON field that contains the document
     * @param scanner reads that field
     * @throws MalformedStoreException if a byte is not UTF-8, or a line is not an object with that field
     */
    void decode(String textField, FieldScanner scanner, Sink sink) throws IOException {
        int bad = Utf8.firstIllFormed(bytes, 0, length);
        switch (file().format()) {
            case TEXT -> {
                if (bad >= 0) {
                    throw new MalformedStoreException(file().path(), "at byte " + (offset + bad) + ": "
                            + String.format(Locale.ROOT, "found byte 0x%02x, expected UTF-8", bytes[bad]));
                }
                sink.accept(bytes, 0, length, endsFile);
            }
            case JSON_LINES, TABLE -> lines(textField, scanner, bad < 0 ? length : bad, sink);
        }
    }

    /** Receives a line. */
    @FunctionalInterface
    interface LineSink {
        /** Receives the bytes of a line from {@code from} up to, not including, {@code end}. */
        void accept(byte[] utf8, int from, int end);
    }

    /**
     * Passes on the chunk's lines, without blank ones.
     *
     * @throws MalformedStoreException if the file is not JSON lines, or the sink refuses a line
     */
    void lines(LineSink sink) throws IOException {
        if (file().format() == CorpusFile.Format.TEXT) {
            throw new MalformedStoreException(file().path(),
                    "found a text, expected JSON lines (.jsonl, .ndjson or .json) or a table (.parquet or .arrow)");
        }
        long line = firstLine;
        for (int start = 0; start < length; line++) {
            int end = LineFeeds.first(bytes, start, length);
            if (!isBlank(start, end)) {
                try {
                    sink.accept(bytes, start, end);
                } catch (IllegalArgumentException e) {
                    boolean isNoJson = e instanceof JsonException json && json.offset() >= 0;
                    throw bad(line, (isNoJson ? "not JSON: " : "") + e.getMessage());
                }
            }
            start = end + 1;
        }
    }

    /** Decodes lines; those that end within the first {@code wellFormed} bytes can be scanned. */
    private void lines(String textField, FieldScanner scanner, int wellFormed, Sink sink) throws IOException {
        long line = firstLine;
        for (int start = 0; start < length; line++) {
            int end = LineFeeds.first(bytes, start, length);
            if (end <= wellFormed && scanner.scan(bytes, start, end)) {
                sink.accept(scanner.text(), scanner.textStart(), scanner.textLength(), true);
            } else if (!isBlank(start, end)) {
                byte[] utf8 = document(textField, line, start, end).getBytes(StandardCharsets.UTF_8);
                sink.accept(utf8, 0, utf8.length, true);
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

    private String document(String textField, long line, int start, int end) throws IOException {
        try {
            return JsonLine.text(bytes, start, end, textField);
        } catch (IllegalArgumentException e) {
            throw bad(line, String.valueOf(e.getMessage()));
        }
    }

    private MalformedStoreException bad(long line, String problem) throws IOException {
        return new MalformedStoreException(file().path(), (file().format() == CorpusFile.Format.TABLE ? "row "
                + (line - 1) : "at line " + (file().linesBefore() + line)) + ": " + problem);
    }
}
