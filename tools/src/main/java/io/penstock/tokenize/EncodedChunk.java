// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.json.FieldScanner;
import io.penstock.memory.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A chunk's tokens, in the store's dtype, and where its documents end. One thread fills it, another reads it, then it
 * is reused.
 */
final class EncodedChunk implements Chunk.Sink {

    /** Larger buffers, made for a long line, are not reused. */
    private static final int KEPT_TOKENS = 1 << 20;

    private final BytePairTokenizer tokenizer;
    private final DType dtype;
    /** The token that ends each document, or -1. */
    private final int endOfText;
    private final FieldScanner scanner;
    private final String textField;
    /** Encodes whole lines; null if documents are texts. */
    private final @Nullable LineEncoder lines;
    private TokenBuffer tokens = new TokenBuffer();
    private MemorySegment stored = MemorySegment.ofArray(new byte[0]);
    private int[] documentEnds = new int[16];
    /** The bytes of text to the end of each document, from the start of the chunk. */
    private long[] textEnds = new long[16];
    private int documentCount;
    private long textBytes;
    private long leftOut;

    /** Receives chunks in order. */
    @FunctionalInterface
    interface Output {
        /** Writes a chunk; returns false if no more is wanted. */
        boolean write(EncodedChunk chunk) throws IOException;
    }

    /**
     * Creates buffers.
     *
     * @param dtype the store's dtype
     * @param endOfText the token to append to each document, or -1
     * @param lines encodes whole lines; null if documents are texts
     */
    EncodedChunk(BytePairTokenizer tokenizer, DType dtype, String textField, int endOfText,
            @Nullable LineEncoder lines) {
        this.lines = lines;
        this.tokenizer = tokenizer;
        this.dtype = dtype;
        this.textField = textField;
        this.endOfText = endOfText;
        this.scanner = new FieldScanner(textField);
    }

    /** Encodes a chunk, replacing the earlier content. */
    void encode(Chunk chunk) throws IOException {
        if (tokens.array().length > KEPT_TOKENS) {
            tokens = new TokenBuffer();
        }
        tokens.clear();
        documentCount = 0;
        textBytes = 0;
        leftOut = 0;
        if (lines == null) {
            chunk.decode(textField, scanner, this);
        } else {
            chunk.lines(this::acceptLine);
        }
        store();
    }

    private void acceptLine(byte[] utf8, int from, int end) {
        int size = tokens.size();
        if (Objects.requireNonNull(lines).encode(utf8, from, end, tokens)) {
            textBytes += end - from;
            endDocument();
        } else {
            tokens.setSize(size);
            leftOut++;
        }
    }

    @Override
    public void accept(byte[] utf8, int from, int length, boolean endsDocument) {
        tokenizer.encodeWellFormed(utf8, from, from + length, SpecialText.ORDINARY, tokens);
        textBytes += length;
        if (endsDocument) {
            endDocument();
        }
    }

    private void endDocument() {
        if (endOfText >= 0) {
            tokens.append(endOfText);
        }
        if (documentCount == documentEnds.length) {
            documentEnds = Arrays.copyOf(documentEnds, 2 * documentCount);
            textEnds = Arrays.copyOf(textEnds, 2 * documentCount);
        }
        textEnds[documentCount] = textBytes;
        documentEnds[documentCount++] = tokens.size();
    }

    private void store() {
        long bytes = (long) tokens.size() * dtype.byteSize();
        if (stored.byteSize() < bytes || stored.byteSize() > (long) KEPT_TOKENS * dtype.byteSize()) {
            stored = MemorySegment.ofArray(new byte[Math.toIntExact(Math.max(bytes + bytes / 4, 1024))]);
        }
        tokens.copyTo(stored, dtype);
    }

    /** The tokens, in the store's dtype. The segment may be longer than they are. */
    MemorySegment stored() {
        return stored;
    }

    int tokenCount() {
        return tokens.size();
    }

    /** The documents that end in the chunk. */
    int documentCount() {
        return documentCount;
    }

    /** The end of a document in the chunk's tokens. */
    int documentEnd(int document) {
        return documentEnds[document];
    }

    /** The bytes of text, in UTF-8 and without JSON syntax, from the chunk's start to the end of a document. */
    long textEnd(int document) {
        return textEnds[document];
    }

    /** The lines that became no document. */
    long leftOut() {
        return leftOut;
    }

    /** The bytes of text in the chunk. */
    long textBytes() {
        return textBytes;
    }
}
