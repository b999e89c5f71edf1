// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.json.FieldScanner;
import io.penstock.memory.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

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
    private TokenBuffer tokens = new TokenBuffer();
    private MemorySegment stored = MemorySegment.ofArray(new byte[0]);
    private int[] documentEnds = new int[16];
    /** The bytes of text to the end of each document, from the start of the chunk. */
    private long[] textEnds = new long[16];
    private int documentCount;
    private long textBytes;

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
     */
    EncodedChunk(BytePairTokenizer tokenizer, DType dtype, String textField, int endOfText) {
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
        chunk.decode(textField, scanner, this);
        store();
    }

    @Override
    public void accept(byte[] utf8, int from, int length, boolean endsDocument) {
        tokenizer.encodeWellFormed(utf8, from, from + length, SpecialText.ORDINARY, tokens);
        textBytes += length;
        if (!endsDocument) {
            return;
        }
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

    /** The bytes of text in the chunk. */
    long textBytes() {
        return textBytes;
    }
}
