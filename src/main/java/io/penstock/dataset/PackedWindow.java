// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import java.util.Objects;
import java.util.function.IntToLongFunction;

/**
 * Documents that were packed together by {@link Packing}: which pieces of them are in which sequence. Sequences are in
 * order of creation, the pieces of each in document order. Immutable.
 */
public final class PackedWindow {

    private final PieceList pieces;
    private final int capacity;
    /** The first piece of each sequence in {@link #order}, and the number of pieces at the end. */
    private final int[] starts;
    private final int[] order;
    /** The tokens of each sequence. */
    private final int[] lengths;

    private PackedWindow(PieceList pieces, int capacity, Bins bins) {
        this.pieces = pieces;
        this.capacity = capacity;
        this.starts = new int[bins.count() + 1];
        this.order = new int[pieces.size()];
        this.lengths = new int[bins.count()];
        for (int piece = 0; piece < order.length; piece++) {
            int bin = bins.binOf(piece);
            starts[bin + 1]++;
            lengths[bin] += pieces.length(piece);
        }
        for (int bin = 0; bin < bins.count(); bin++) {
            starts[bin + 1] += starts[bin];
        }
        int[] next = starts.clone();
        for (int piece = 0; piece < order.length; piece++) {
            order[next[bins.binOf(piece)]++] = piece;
        }
    }

    /**
     * Packs documents.
     *
     * @param documents the number of documents
     * @param lengths the tokens of each, by its number from 0
     * @param capacity tokens per sequence, at least 1
     * @param method how to choose the sequence of a piece
     * @return the sequences
     * @throws IllegalArgumentException if there are more than 2^30 pieces
     */
    public static PackedWindow of(int documents, IntToLongFunction lengths, int capacity, Packing.Method method) {
        PieceList pieces = new PieceList(0, documents);
        for (int document = 0; document < documents; document++) {
            pieces.add(document, lengths.applyAsLong(document), capacity);
        }
        return of(pieces, capacity, method);
    }

    static PackedWindow of(PieceList pieces, int capacity, Packing.Method method) {
        return new PackedWindow(pieces, capacity, method == Packing.Method.BEST_FIT ? Bins.bestFit(pieces, capacity)
                : Bins.firstFit(pieces, capacity));
    }

    /** {@return the number of sequences} */
    public int sequences() {
        return starts.length - 1;
    }

    /**
     * {@return the number of pieces in a sequence}
     *
     * @param sequence the sequence's number
     */
    public int parts(int sequence) {
        return starts[sequence + 1] - starts[sequence];
    }

    /**
     * {@return the number of a piece's document}
     *
     * @param sequence the sequence's number
     * @param part the piece's number in the sequence
     */
    public int document(int sequence, int part) {
        return (int) pieces.document(piece(sequence, part));
    }

    /**
     * {@return where a piece starts in its document: a multiple of the capacity}
     *
     * @param sequence the sequence's number
     * @param part the piece's number in the sequence
     */
    public long firstToken(int sequence, int part) {
        return (long) pieces.chunk(piece(sequence, part)) * capacity;
    }

    /**
     * {@return the tokens of a piece, at most the capacity}
     *
     * @param sequence the sequence's number
     * @param part the piece's number in the sequence
     */
    public int length(int sequence, int part) {
        return pieces.length(piece(sequence, part));
    }

    /** The tokens of a sequence. */
    int length(int sequence) {
        return lengths[sequence];
    }

    /** The number of a piece in the list that was packed. */
    int piece(int sequence, int part) {
        return order[starts[sequence] + Objects.checkIndex(part, parts(sequence))];
    }
}
