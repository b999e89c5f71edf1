package io.penstock.dataset;

import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.util.Locale;
import java.util.Objects;

/**
 * How documents are packed into sequences of a fixed capacity: as few sequences as can be, with no document cut that
 * fits one. A document longer than a sequence is cut into pieces of the capacity, and what is left of it is packed like
 * a document (Ding et al., "Fewer Truncations Improve Language Modeling", ICML 2024).
 *
 * {@snippet :
 * try (PackedSequences packed = Packing.of(Documents.of(store), 2048).pack();
 *         DataLoader loader = DataLoader.of(packed).collator(PackedLm.of(TokenWidth.I64)).shuffle(42).batchSize(8)
 *                 .open()) {
 *     System.out.println(packed.paddingShare());
 * }
 * }
 *
 * <p>Documents are taken window by window, and those of a window are packed together: what packing needs of memory
 * follows from the window, and a window of all documents packs best. Which documents share a sequence depends on the
 * documents, the capacity, the method and the window, and on no seed or epoch: sequences are samples, and a sampler
 * shuffles them. {@code docs/spec/packing.md} fixes all of it for ports.
 *
 * @param documents what is packed: a dataset of one field of integers of shape {@code [*]}, stored as they are
 * @param capacity tokens of a sequence, at least 1
 * @param method which sequence a piece goes to
 * @param window documents that are packed together, at least 1
 */
public record Packing(Dataset documents, int capacity, Method method, long window) {

    /** Which sequence a piece goes to, of those of its window that have room for it. */
    public enum Method {
        /**
         * Longest pieces first, each to the sequence that it fills best: the one with the least room, of equal ones the
         * one to which a piece went last. Wastes least.
         */
        BEST_FIT,
        /** Pieces in the order of the documents, each to the sequence that was begun first. Keeps neighbours near. */
        FIRST_FIT;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if a number is outside its range, the documents are not one field of integers,
     *     or some of them lie in pieces
     */
    public Packing {
        Objects.requireNonNull(method, "method");
        TensorSpec tokens = documents.fields().getFirst();
        FieldSource source = documents.source(0);
        boolean inParts = source instanceof FieldSource.InParts;
        if (documents.fields().size() != 1 || tokens.rank() != 1 || !tokens.isVariable()
                || !tokens.dtype().isInteger() || !inParts && !(source instanceof FieldSource.Stored)) {
            throw new IllegalArgumentException("packing takes documents of one stored field of integers [*], not "
                    + documents.fields());
        }
        if (inParts) {
            throw new IllegalArgumentException("packing takes documents each of which lies together, found some in"
                    + " pieces: Cached.of(documents, \"" + tokens.name() + "\") puts them together");
        }
        if (capacity < 1 || window < 1) {
            throw new IllegalArgumentException("sequences of " + capacity + " tokens, packed from " + window
                    + " documents at a time: both must be at least 1");
        }
    }

    /**
     * Packs by best fit, all documents together.
     *
     * @param documents a dataset of one field of integers of shape {@code [*]}
     * @param capacity tokens of a sequence
     * @return the packing
     * @throws IllegalArgumentException if the capacity is below 1, or the documents are not one field of integers
     */
    public static Packing of(Dataset documents, int capacity) {
        return new Packing(documents, capacity, Method.BEST_FIT, Long.MAX_VALUE);
    }

    /**
     * The same by another method.
     *
     * @param method the method
     * @return the packing
     */
    public Packing by(Method method) {
        return new Packing(documents, capacity, method, window);
    }

    /**
     * The same with a window.
     *
     * @param documentsAtATime how many documents are packed together
     * @return the packing
     */
    public Packing window(long documentsAtATime) {
        return new Packing(documents, capacity, method, documentsAtATime);
    }

    /** Where the documents are. */
    FieldSource.Place places() {
        return ((FieldSource.Stored) documents.source(0)).place();
    }

    /**
     * Packs: one pass over the documents' lengths, and no token is read.
     *
     * @return the sequences, to be closed by the caller
     * @throws IllegalArgumentException if there is no token at all, or a window has more than 2^30 pieces
     */
    public PackedSequences pack() {
        var sequences = new PackedSequences.Builder(this);
        FieldSource.Place place = places();
        Span span = new Span();
        long size = documents.size();
        int tokenBytes = documents.fields().getFirst().dtype().byteSize();
        for (long first = 0; first < size; ) {
            long end = size - first <= window ? size : first + window;
            PieceList pieces = new PieceList(first);
            for (long document = first; document < end; document++) {
                place.locate(document, span);
                pieces.add(document, span.byteSize() / tokenBytes, capacity);
            }
            Bins bins = method == Method.BEST_FIT ? Bins.bestFit(pieces, capacity) : Bins.firstFit(pieces, capacity);
            sequences.add(pieces, bins);
            first = end;
        }
        return sequences.build();
    }
}
