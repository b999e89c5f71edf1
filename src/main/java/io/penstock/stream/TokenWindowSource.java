// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.memory.DType;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * Windows of tokens made of a stream of documents, which are never stored. Each document is encoded and ends with the
 * tokenizer's end-of-text token; the tokens of a partition are cut into windows that overlap by one token, as in
 * {@link io.penstock.dataset.TokenWindows}. The rest at the partition's end is left out.
 *
 * <p>A record is a window: {@code u16} if the vocabulary has at most 65,536 tokens, else {@code u32}. Encoding runs on
 * the stream's thread.
 */
public final class TokenWindowSource implements StreamSource {

    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final StreamSource documents;
    private final RecordText text;
    private final Tokenizer tokenizer;
    private final int length;

    private TokenWindowSource(StreamSource documents, RecordText text, Tokenizer tokenizer, int length) {
        this.documents = Objects.requireNonNull(documents, "documents");
        this.text = Objects.requireNonNull(text, "text");
        this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
        this.length = length;
        if (length < 2) {
            throw new IllegalArgumentException("windows of " + length + " tokens, expected 2 or more");
        }
    }

    /**
     * Windows of a stream of documents.
     *
     * @param documents the documents, one a record
     * @param text finds the text of a record
     * @param tokenizer encodes the text; special tokens in it are plain text
     * @param length tokens in a window: for a context of {@code n} tokens and their labels, {@code n + 1}
     * @return the source
     * @throws IllegalArgumentException if the length is below 2
     */
    public static TokenWindowSource of(StreamSource documents, RecordText text, Tokenizer tokenizer, int length) {
        return new TokenWindowSource(documents, text, tokenizer, length);
    }

    /** {@return the dtype of a window's tokens} */
    public DType dtype() {
        return tokenizer.vocabularySize() <= 1 << 16 ? DType.U16 : DType.U32;
    }

    @Override
    public String fingerprint() {
        return "windows of " + length + " tokens:" + tokenizer.name() + ":" + documents.fingerprint();
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
            return new Windows(name, documents.open(partition, ""), "", 0);
        }
        try {
            int done = Integer.parseInt(cursor, 0, Math.max(0, colon), 10);
            String before = cursor.substring(colon + 1);
            return new Windows(name, documents.open(partition, before), before, done);
        } catch (NumberFormatException e) {
            throw new IOException(name + ": found cursor '" + cursor + "', expected a number of tokens, a colon and"
                    + " the cursor of a document", e);
        }
    }

    /** The windows of one partition. */
    private final class Windows implements PartitionReader {

        private final String name;
        private final PartitionReader source;
        private final boolean isNarrow = dtype() == DType.U16;
        private final RecordBuffer document = new RecordBuffer();
        private final Arena arena = Arena.ofShared();
        private final MemorySegment window = arena.allocate((long) length * dtype().byteSize(), 64);
        /** Tokens in the window. */
        private int filled;
        /** The tokens of a document, of which those from {@code at} on come next; and the cursor before it. */
        private final TokenBuffer encoded = new TokenBuffer();
        private int at;
        private String documentCursor;
        /** Where the window begins: with a token of a document. */
        private String startCursor;
        private int startToken;
        /** Tokens of the first document that an earlier run has given. */
        private int skip;

        Windows(String name, PartitionReader source, String cursor, int skip) {
            this.name = name;
            this.source = source;
            this.documentCursor = cursor;
            this.startCursor = cursor;
            this.startToken = skip;
            this.skip = skip;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            while (true) {
                while (at < encoded.size()) {
                    put(filled++, encoded.get(at++));
                    if (filled == length) {
                        into.add(window, 0, window.byteSize());
                        put(0, encoded.get(at - 1));        // the next window's first token is this one's last
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
            Found found = source.poll(document);
            if (found != Found.RECORD) {
                return found;
            }
            documentCursor = before;
            encoded.clear();
            try {
                tokenizer.encode(text.of(document.record(0)), SpecialText.ORDINARY, encoded);
            } catch (IOException e) {
                throw new IOException(name + ", record behind cursor '" + before + "': " + e.getMessage(), e);
            }
            encoded.append(tokenizer.endOfText());
            if (skip >= encoded.size()) {
                throw new IOException(name + ", record behind cursor '" + before + "': found " + encoded.size()
                        + " tokens, expected more than the " + skip + " that the saved state has read");
            }
            at = skip;
            skip = 0;
            return Found.RECORD;
        }

        private void put(int index, int token) {
            if (isNarrow) {
                window.set(U16, (long) index * Short.BYTES, (short) token);
            } else {
                window.set(U32, (long) index * Integer.BYTES, token);
            }
        }

        @Override
        public String cursor() {
            return startToken + ":" + startCursor;
        }

        @Override
        public void close() throws IOException {
            document.close();
            arena.close();
            source.close();
        }
    }
}
