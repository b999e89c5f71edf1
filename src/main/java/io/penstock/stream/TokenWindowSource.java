// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.memory.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * Windows of tokens made of a stream of documents, which are never stored. The tokens of a partition are cut into
 * windows that overlap by one token, as in {@link io.penstock.dataset.TokenWindows}. The rest at the partition's end is
 * left out.
 *
 * <p>A record is a window, of the dtype of the documents' tokens.
 *
 * @param documents the documents
 * @param length tokens in a window: for a context of {@code n} tokens and their labels, {@code n + 1}; at least 2
 */
public record TokenWindowSource(StreamSource.OfTokens documents, int length) implements StreamSource {

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if the length is below 2
     */
    public TokenWindowSource {
        Objects.requireNonNull(documents, "documents");
        if (length < 2) {
            throw new IllegalArgumentException("windows of " + length + " tokens, expected 2 or more");
        }
    }

    /** {@return the dtype of a window's tokens} */
    public DType dtype() {
        return documents.dtype();
    }

    @Override
    public String fingerprint() {
        return "windows of " + length + " tokens:" + documents.fingerprint();
    }

    @Override
    public List<String> partitions() {
        return documents.partitions();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The cursor is the number of tokens of a document that are done, a colon, and the cursor before this document.
     */
    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        int colon = cursor.indexOf(':');
        String name = partitions().get(partition);
        if (cursor.isEmpty()) {
            return new Windows(name, documents.open(partition, ""), 0);
        }
        try {
            int done = Integer.parseInt(cursor, 0, Math.max(0, colon), 10);
            return new Windows(name, documents.open(partition, cursor.substring(colon + 1)), done);
        } catch (NumberFormatException e) {
            throw new IOException(name + ": found cursor '" + cursor + "', expected a number of tokens, a colon and"
                    + " the cursor of a document", e);
        }
    }

    /** The windows of one partition. */
    private final class Windows implements PartitionReader {

        private final String name;
        private final PartitionReader source;
        private final int tokenBytes = dtype().byteSize();
        private final MemorySegment window = MemorySegment.ofArray(new byte[Math.multiplyExact(length, tokenBytes)]);
        /** Tokens in the window. */
        private int filled;
        /** A document, of which the tokens from {@code at} on come next; and the cursor before it. */
        private final RecordBuffer document = new RecordBuffer();
        private long tokens;
        private long at;
        private String documentCursor;
        /** Where the window begins: with a token of a document. */
        private String startCursor;
        private long startToken;
        /** Tokens of the first document that an earlier run has given. */
        private long skip;

        Windows(String name, PartitionReader source, int skip) throws IOException {
            this.name = name;
            this.source = source;
            this.documentCursor = source.cursor();
            this.startCursor = documentCursor;
            this.startToken = skip;
            this.skip = skip;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            while (true) {
                while (at < tokens) {
                    long taken = Math.min(tokens - at, length - filled);
                    MemorySegment.copy(document.bytes(), at * tokenBytes, window, (long) filled * tokenBytes,
                            taken * tokenBytes);
                    at += taken;
                    filled += (int) taken;
                    if (filled == length) {
                        into.add(window, 0, window.byteSize());
                        // The next window's first token is this one's last.
                        MemorySegment.copy(window, window.byteSize() - tokenBytes, window, 0, tokenBytes);
                        filled = 1;
                        startCursor = documentCursor;
                        startToken = at - 1;
                        return Found.RECORD;
                    }
                }
                Found found = nextDocument();
                if (found != Found.RECORD) {
                    return found;
                }
            }
        }

        private Found nextDocument() throws IOException {
            String before = source.cursor();
            document.clear();
            tokens = 0;
            at = 0;
            Found found = source.poll(document);
            if (found != Found.RECORD) {
                return found;
            }
            documentCursor = before;
            tokens = document.end() / tokenBytes;
            if (skip >= tokens) {
                throw new IOException(name + ", record behind cursor '" + before + "': found " + tokens
                        + " tokens, expected more than the " + skip + " that the saved state has read");
            }
            at = skip;
            skip = 0;
            return Found.RECORD;
        }

        @Override
        public String cursor() throws IOException {
            return startToken + ":" + startCursor;
        }

        @Override
        public void keep() throws IOException {
            source.keep();
        }

        @Override
        public boolean hasMetEnd() {
            return source.hasMetEnd();
        }

        @Override
        public Lag lag() {
            return source.lag();
        }

        @Override
        public void close() throws IOException {
            document.close();
            source.close();
        }
    }
}
