// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import java.util.Arrays;

/** The pieces of a window's documents, in order: document, number in the document, tokens. */
final class PieceList {

    static final int MAX_PIECES = 1 << 30;

    private final long firstDocument;
    /** Documents, counted from the window's first; empty while piece i is document i as a whole. */
    private int[] documents = {};
    /** Numbers of pieces in their documents; empty while all are 0. */
    private int[] chunks = {};
    private int[] lengths;
    private int size;

    /** Creates an empty list with room for some pieces. */
    PieceList(long firstDocument, long expected) {
        this.firstDocument = firstDocument;
        this.lengths = new int[Math.clamp(expected, 16, MAX_PIECES)];
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
            int number = (int) (document - firstDocument);
            if (documents.length == 0 && number != size) {
                documents = new int[lengths.length];
                Arrays.setAll(documents, piece -> piece);
            }
            if (documents.length > 0) {
                documents[size] = number;
            }
            if (this.chunks.length == 0 && chunk > 0) {
                this.chunks = new int[lengths.length];
            }
            if (this.chunks.length > 0) {
                this.chunks[size] = chunk;
            }
            lengths[size++] = (int) Math.min(capacity, tokens - (long) chunk * capacity);
        }
    }

    private void grow() {
        int length = (int) Math.min(MAX_PIECES, 2L * size);
        documents = documents.length == 0 ? documents : Arrays.copyOf(documents, length);
        chunks = chunks.length == 0 ? chunks : Arrays.copyOf(chunks, length);
        lengths = Arrays.copyOf(lengths, length);
    }

    int size() {
        return size;
    }

    long document(int piece) {
        return firstDocument + (documents.length == 0 ? piece : documents[piece]);
    }

    int chunk(int piece) {
        return chunks.length == 0 ? 0 : chunks[piece];
    }

    int length(int piece) {
        return lengths[piece];
    }
}
