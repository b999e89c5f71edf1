package io.penstock.tokenize;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A chunk's tokens and document ends. One thread fills it, then another reads it. */
final class EncodedChunk {

    private int[] tokens = new int[1 << 16];
    private int tokenCount;
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
        chunk.decode(textField, (text, endsDocument) -> {
            encoded.encode(text, tokenizer);
            if (endsDocument) {
                encoded.endDocument(appendEndOfText ? tokenizer.endOfText() : -1);
            }
        });
        return encoded;
    }

    private void encode(String text, Tokenizer tokenizer) {
        if (text.length() <= CorpusReader.CHUNK_BYTES) {
            append(tokenizer.encode(text));
            textBytes += utf8Bytes(text);
            return;
        }
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        for (int start = 0; start < utf8.length; ) {
            int end = partEnd(utf8, start);
            append(tokenizer.encode(new String(utf8, start, end - start, StandardCharsets.UTF_8)));
            start = end;
        }
        textBytes += utf8.length;
    }

    /** Encodes a long document in parts, even if one JSON line: the encoder needs many times its input in memory. */
    private static int partEnd(byte[] utf8, int start) {
        int limit = start + CorpusReader.CHUNK_BYTES;
        while (limit < utf8.length) {
            int cut = TextCut.last(utf8, start + 1, limit);
            if (cut > 0) {
                return cut;
            }
            limit = (int) Math.min(utf8.length, limit + 2L * (limit - start));
        }
        return utf8.length;
    }

    private void append(int[] more) {
        if (more.length > tokens.length - tokenCount) {
            tokens = Arrays.copyOf(tokens, Math.max(tokenCount + more.length, 2 * tokens.length));
        }
        System.arraycopy(more, 0, tokens, tokenCount, more.length);
        tokenCount += more.length;
    }

    private void endDocument(int endOfText) {
        if (endOfText >= 0) {
            append(new int[] {endOfText});
        }
        if (documentCount == documentEnds.length) {
            documentEnds = Arrays.copyOf(documentEnds, 2 * documentCount);
        }
        documentEnds[documentCount++] = tokenCount;
    }

    void writeTo(Output output) throws IOException {
        int from = 0;
        for (int d = 0; d < documentCount; d++) {
            output.append(tokens, from, documentEnds[d] - from);
            output.endDocument();
            from = documentEnds[d];
        }
        output.append(tokens, from, tokenCount - from);
    }

    int tokenCount() {
        return tokenCount;
    }

    int documentCount() {
        return documentCount;
    }

    /** The UTF-8 bytes of the encoded text, without JSON syntax. */
    long textBytes() {
        return textBytes;
    }

    private static long utf8Bytes(String text) {
        long bytes = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                bytes += c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
            }
        }
        return bytes;
    }
}
