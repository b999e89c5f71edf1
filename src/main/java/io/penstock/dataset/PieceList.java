// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import java.util.Arrays;

/** The pieces of a window's documents, in order: document, number in the document, tokens. */
final class PieceList {

    static final int MAX_PIECES = 1 << 30;

    private final long firstDocument;
    /** Documents, counted from the window's first. */
    private int[] documents = new int[1024];
    private int[] chunks = new int[1024];
    private int[] lengths = new int[1024];
    private int size;

    PieceList(long firstDocument) {
        this.firstDocument = firstDocument;
    }

    /** Cuts a document into pieces of the capacity and a rest; an empty one has none. */
    void add(long document, long tokens, int capacity) {
        long chunks = Math.ceilDiv(tokens, (long) capacity);
        if (chunks > MAX_PIECES - size || document - firstDocument > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("document " + document + ": its window has more than " + MAX_PIECES
                    + " pieces of up to " + capacity + " tokens, expected a smaller window");
        }
        for (int chunk = 0; chunk < chunks; chunk++) {
            if (size == lengths.length) {
                grow();
            }
            documents[size] = (int) (document - firstDocument);
            this.chunks[size] = chunk;
            lengths[size++] = (int) Math.min(capacity, tokens - (long) chunk * capacity);
        }
    }

    private void grow() {
        int length = (int) Math.min(MAX_PIECES, 2L * size);
        documents = Arrays.copyOf(documents, length);
        chunks = Arrays.copyOf(chunks, length);
        lengths = Arrays.copyOf(lengths, length);
    }

    int size() {
        return size;
    }

    long document(int piece) {
        return firstDocument + documents[piece];
    }

    int chunk(int piece) {
        return chunks[piece];
    }

    int length(int piece) {
        return lengths[piece];
    }
}
