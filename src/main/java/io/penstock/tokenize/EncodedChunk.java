// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** A chunk's tokens and document ends. One thread fills it, then another reads it. */
final class EncodedChunk {

    private final TokenBuffer tokens = new TokenBuffer();
    private int[] documentEnds = new int[16];
    private int documentCount;
    private long textBytes;

    /** Receives tokens and document ends in order. */
    interface Output {
        void append(int[] tokens, int from, int count) throws IOException;

        void endDocument() throws IOException;
    }

    static EncodedChunk of(Chunk chunk, Tokenizer tokenizer, String textField, boolean appendEndOfText)
            throws CorpusException {
        EncodedChunk encoded = new EncodedChunk();
        chunk.decode(textField, (utf8, length, endsDocument) -> {
            tokenizer.encode(MemorySegment.ofArray(utf8).asSlice(0, length), SpecialText.ORDINARY, encoded.tokens);
            encoded.textBytes += length;
            if (endsDocument) {
                encoded.endDocument(appendEndOfText ? tokenizer.endOfText() : -1);
            }
        });
        return encoded;
    }

    private void endDocument(int endOfText) {
        if (endOfText >= 0) {
            tokens.append(endOfText);
        }
        if (documentCount == documentEnds.length) {
            documentEnds = Arrays.copyOf(documentEnds, 2 * documentCount);
        }
        documentEnds[documentCount++] = tokens.size();
    }

    void writeTo(Output output) throws IOException {
        int from = 0;
        for (int d = 0; d < documentCount; d++) {
            output.append(tokens.array(), from, documentEnds[d] - from);
            output.endDocument();
            from = documentEnds[d];
        }
        output.append(tokens.array(), from, tokens.size() - from);
    }

    int tokenCount() {
        return tokens.size();
    }

    int documentCount() {
        return documentCount;
    }

    /** The UTF-8 bytes of the encoded text, without JSON syntax. */
    long textBytes() {
        return textBytes;
    }
}
