// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenContent;
import java.util.Locale;
import java.util.Objects;
import java.util.function.IntToLongFunction;

/**
 * Packs documents into few sequences of a fixed capacity, without cutting a document that fits one. A longer document
 * is cut into pieces of the capacity, and its rest is packed like a document (Ding et al., "Fewer Truncations Improve
 * Language Modeling", ICML 2024).
 *
 * {@snippet :
 * try (PackedSequences packed = Packing.of(Documents.of(store), 2048).pack();
 *         DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).shuffle(42).batchSize(8)
 *                 .open()) {
 *     System.out.println(packed.paddingShare());
 * }
 * }
 *
 * <p>Each window of documents is packed separately: the window determines the memory needed, and one window of all
 * documents packs best. The result depends on the documents, the capacity, the method and the window, but not on seed
 * or epoch: sequences are samples, and a sampler shuffles them. Specified in {@code docs/spec/packing.md}.
 *
 * @param documents a dataset of one stored field of integers of shape {@code [*]}
 * @param capacity tokens per sequence, at least 1
 * @param method how to choose the sequence of a piece
 * @param window documents packed together, at least 1
 */
public record Packing(Dataset documents, int capacity, Method method, long window) {

    /** How to choose among the sequences of a window with room for a piece. */
    public enum Method {
        /**
         * Longest pieces first, each to the sequence with the least room, ties to the one most recently used. Wastes
         * least.
         */
        BEST_FIT,
        /** Pieces in document order, each to the first sequence. Keeps neighboring documents close. */
        FIRST_FIT;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if a number is out of range, the documents are not one field of integers, or a
     *     document is not contiguous
     */
    public Packing {
        Objects.requireNonNull(method, "method");
        TensorSpec tokens = documents.fields().getFirst();
        FieldSource source = documents.source(0);
        boolean inParts = source instanceof FieldSource.InParts;
        if (documents.fields().size() != 1 || tokens.rank() != 1 || !tokens.isVariable()
                || !tokens.dtype().isInteger() || tokens.name().equals(TokenContent.ANSWERS.fieldName())
                || !inParts && !(source instanceof FieldSource.Stored)) {
            throw new IllegalArgumentException("packing takes documents of one stored field of integers [*], not "
                    + documents.fields());
        }
        if (inParts) {
            throw new IllegalArgumentException("packing takes contiguous documents, found some in"
                    + " pieces: documents.cache(\"" + tokens.name() + "\") makes them contiguous");
        }
        if (documents.arrivals().isPresent()) {
            throw new IllegalArgumentException(documents + " cannot be packed: it has no index; pack it while it"
                    + " arrives, with io.penstock.stream.PackedSource");
        }
        if (capacity < 1 || window < 1) {
            throw new IllegalArgumentException("sequences of " + capacity + " tokens, packed from " + window
                    + " documents at a time: both must be at least 1");
        }
    }

    /**
     * Creates a best-fit packing of all documents together.
     *
     * @param documents a dataset of one field of integers of shape {@code [*]}
     * @param capacity tokens per sequence
     * @return the packing
     * @throws IllegalArgumentException if the capacity is below 1, or the documents are not one field of integers
     */
    public static Packing of(Dataset documents, int capacity) {
        return new Packing(documents, capacity, Method.BEST_FIT, Long.MAX_VALUE);
    }

    /**
     * {@return this packing with another method}
     *
     * @param method the method
     */
    public Packing by(Method method) {
        return new Packing(documents, capacity, method, window);
    }

    /**
     * {@return this packing with a window}
     *
     * @param documentsAtATime the number of documents packed together
     */
    public Packing window(long documentsAtATime) {
        return new Packing(documents, capacity, method, documentsAtATime);
    }

    FieldSource.Place places() {
        return ((FieldSource.Stored) documents.source(0)).place();
    }

    /**
     * Packs in one pass over the documents' lengths, without reading tokens.
     *
     * @return the sequences, to be closed by the caller
     * @throws IllegalArgumentException if there are no tokens, or a window has more than 2^30 pieces
     */
    public PackedSequences pack() {
        FieldSource.Place place = places();
        Span span = new Span();
        long size = documents.size();
        int tokenBytes = documents.fields().getFirst().dtype().byteSize();
        try (var sequences = new PackedSequences.Builder(this)) {
            for (long first = 0; first < size; ) {
                long end = size - first <= window ? size : first + window;
                PieceList pieces = new PieceList(first, end - first);
                for (long document = first; document < end; document++) {
                    place.locate(document, span);
                    pieces.add(document, span.byteSize() / tokenBytes, capacity);
                }
                sequences.add(pieces, PackedWindow.of(pieces, capacity, method), Math.ceilDiv(size, end - first));
                first = end;
            }
            return sequences.build();
        }
    }

    /**
     * Documents that were packed together by {@link Packing}: which pieces of them are in which sequence. Sequences are
     * in order of creation, the pieces of each in document order. Immutable.
     */
    public static final class PackedWindow {

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
}
