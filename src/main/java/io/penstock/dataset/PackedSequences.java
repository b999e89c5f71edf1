package io.penstock.dataset;

import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;

/**
 * Sequences that several documents share: sample {@code i} is sequence {@code i}, whose one field {@code tokens} of
 * shape {@code [*]} has its pieces one behind the other, at most the capacity together. {@link Packing} makes them.
 *
 * <p>Owns the index of the pieces, 8 bytes each and 8 a sequence, in native memory: whoever packed closes it, when
 * nobody reads.
 */
public final class PackedSequences implements Dataset, AutoCloseable {

    private static final int CHUNK_BITS = 26;
    private static final long MAX_DOCUMENT = (1L << 63 - CHUNK_BITS) - 1;

    private final Packing packing;
    private final FieldSource.Place documents;
    private final List<TensorSpec> fields;
    private final int tokenBytes;
    private final Arena arena;
    /** The first piece of each sequence, and the number of pieces at the end. */
    private final MemorySegment starts;
    /** Tokens of each sequence. */
    private final MemorySegment lengths;
    /** Each piece's document and which of its chunks it is. */
    private final MemorySegment pieces;
    private final long size;
    private final long tokens;

    private PackedSequences(Builder builder) {
        this.packing = builder.packing;
        this.documents = packing.places();
        TensorSpec stored = packing.documents().fields().getFirst();
        this.fields = List.of(new TensorSpec(TokenWindows.TOKENS, stored.dtype(), TensorSpec.VARIABLE));
        this.tokenBytes = stored.dtype().byteSize();
        this.arena = builder.arena;
        this.size = builder.sequences;
        this.starts = builder.starts;
        this.pieces = builder.pieces;
        this.lengths = builder.lengths;
        this.tokens = builder.tokens;
    }

    /**
     * The number of sequences.
     *
     * @return the count
     */
    @Override
    public long size() {
        return size;
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return new FieldSource.InParts(this::parts, this::locatePart);
    }

    /**
     * The pieces of a sequence.
     *
     * @param sample the sequence's index
     * @return the count
     * @throws IndexOutOfBoundsException if there is no such sequence
     */
    public int parts(long sample) {
        Objects.checkIndex(sample, size);
        return (int) (starts.getAtIndex(ValueLayout.JAVA_LONG, sample + 1)
                - starts.getAtIndex(ValueLayout.JAVA_LONG, sample));
    }

    private void locatePart(long sample, int part, Span into) {
        long piece = piece(sample, part);
        documents.locate(document(piece), into);
        long first = firstToken(piece);
        into.setPart(into, first * tokenBytes, Math.min(packing.capacity() * (long) tokenBytes,
                into.byteSize() - first * tokenBytes));
    }

    /**
     * Points at a piece and the token of its document that follows it, if there is one: the label of its last token.
     *
     * @param sample the sequence's index
     * @param part which piece of the sequence
     * @param into set to the piece's tokens, and one more if the document goes on
     * @return the tokens of the piece
     * @throws IndexOutOfBoundsException if there is no such sequence or piece
     */
    public int locateWithNext(long sample, int part, Span into) {
        long piece = piece(sample, part);
        documents.locate(document(piece), into);
        long first = firstToken(piece);
        long left = into.byteSize() / tokenBytes - first;
        into.setPart(into, first * tokenBytes, Math.min(packing.capacity() + 1L, left) * tokenBytes);
        return (int) Math.min(packing.capacity(), left);
    }

    /**
     * The tokens of a sequence.
     *
     * @param sample the sequence's index
     * @return the sum of its pieces, at most the capacity
     * @throws IndexOutOfBoundsException if there is no such sequence
     */
    public int length(long sample) {
        Objects.checkIndex(sample, size);
        return lengths.getAtIndex(ValueLayout.JAVA_INT, sample);
    }

    /**
     * The document that a piece is of.
     *
     * @param sample the sequence's index
     * @param part which piece of the sequence
     * @return the document's index
     * @throws IndexOutOfBoundsException if there is no such sequence or piece
     */
    public long document(long sample, int part) {
        return document(piece(sample, part));
    }

    /**
     * Where in its document a piece begins.
     *
     * @param sample the sequence's index
     * @param part which piece of the sequence
     * @return a multiple of the capacity
     * @throws IndexOutOfBoundsException if there is no such sequence or piece
     */
    public long firstToken(long sample, int part) {
        return firstToken(piece(sample, part));
    }

    private long piece(long sample, int part) {
        Objects.checkIndex(part, parts(sample));
        return pieces.getAtIndex(ValueLayout.JAVA_LONG, starts.getAtIndex(ValueLayout.JAVA_LONG, sample) + part);
    }

    private static long document(long piece) {
        return piece >>> CHUNK_BITS;
    }

    private long firstToken(long piece) {
        return (piece & (1L << CHUNK_BITS) - 1) * packing.capacity();
    }

    /**
     * How the documents were packed.
     *
     * @return the settings
     */
    public Packing packing() {
        return packing;
    }

    /**
     * Tokens of all sequences together: those of all documents.
     *
     * @return the count
     */
    public long tokenCount() {
        return tokens;
    }

    /**
     * The pieces of all sequences.
     *
     * @return the count
     */
    public long pieceCount() {
        return pieces.byteSize() / Long.BYTES;
    }

    /**
     * What part of the sequences' capacity holds no token.
     *
     * @return the share, 0 to 1
     */
    public double paddingShare() {
        return 1 - tokens / ((double) size * packing.capacity());
    }

    /**
     * The most pieces that a sequence has.
     *
     * @return the count; takes a pass over the sequences
     */
    public int maxParts() {
        int max = 0;
        for (long sample = 0; sample < size; sample++) {
            max = Math.max(max, parts(sample));
        }
        return max;
    }

    @Override
    public long maxLength(int field) {
        return packing.capacity();
    }

    @Override
    public String name(long sample) {
        return "sequence " + sample + ", from document " + document(sample, 0) + " on";
    }

    @Override
    public String fingerprint() {
        return "packed:" + packing.method() + ":capacity=" + packing.capacity() + ":window=" + packing.window() + "|"
                + packing.documents().fingerprint();
    }

    /** Frees the index. Calling it again does nothing. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    @Override
    public String toString() {
        return size + " sequences of up to " + packing.capacity() + " tokens, " + tokens + " tokens in " + pieceCount()
                + " pieces";
    }

    /** Takes window after window. */
    static final class Builder {

        private final Packing packing;
        private final Arena arena = Arena.ofShared();
        private final Growing growingStarts = new Growing();
        private final Growing growingPieces = new Growing();
        private final Growing growingLengths = new Growing();
        private MemorySegment starts;
        private MemorySegment pieces;
        private MemorySegment lengths;
        private long sequences;
        private long pieceCount;
        private long tokens;

        Builder(Packing packing) {
            this.packing = packing;
        }

        /** The bins of a window become sequences in the order in which they were begun, pieces in that of documents. */
        void add(PieceList window, Bins bins) {
            starts = growingStarts.of((sequences + bins.count() + 1) * Long.BYTES);
            pieces = growingPieces.of((pieceCount + window.size()) * Long.BYTES);
            lengths = growingLengths.of((sequences + bins.count()) * Integer.BYTES);
            int[] next = new int[bins.count() + 1];
            for (int piece = 0; piece < window.size(); piece++) {
                next[bins.binOf(piece) + 1]++;
            }
            for (int bin = 0; bin < bins.count(); bin++) {
                starts.setAtIndex(ValueLayout.JAVA_LONG, sequences + bin, pieceCount + next[bin]);
                next[bin + 1] += next[bin];
            }
            for (int piece = 0; piece < window.size(); piece++) {
                long document = window.document(piece);
                if (document > MAX_DOCUMENT || window.chunk(piece) >= 1 << CHUNK_BITS) {
                    throw new IllegalArgumentException("document " + document + ", piece " + window.chunk(piece)
                            + ": expected below 2^37 documents and 2^26 pieces of each");
                }
                pieces.setAtIndex(ValueLayout.JAVA_LONG, pieceCount + next[bins.binOf(piece)]++,
                        document << CHUNK_BITS | window.chunk(piece));
                long sequence = sequences + bins.binOf(piece);
                lengths.setAtIndex(ValueLayout.JAVA_INT, sequence,
                        lengths.getAtIndex(ValueLayout.JAVA_INT, sequence) + window.length(piece));
                tokens += window.length(piece);
            }
            sequences += bins.count();
            pieceCount += window.size();
        }

        PackedSequences build() {
            if (sequences == 0) {
                close();
                throw new IllegalArgumentException("nothing to pack: " + packing.documents().size()
                        + " documents without a token");
            }
            starts.setAtIndex(ValueLayout.JAVA_LONG, sequences, pieceCount);
            starts = kept(starts, (sequences + 1) * Long.BYTES);
            pieces = kept(pieces, pieceCount * Long.BYTES);
            lengths = kept(lengths, sequences * Integer.BYTES);
            growingStarts.close();
            growingPieces.close();
            growingLengths.close();
            return new PackedSequences(this);
        }

        private MemorySegment kept(MemorySegment grown, long bytes) {
            return arena.allocate(bytes, Long.BYTES).copyFrom(grown.asSlice(0, bytes));
        }

        private void close() {
            growingStarts.close();
            growingPieces.close();
            growingLengths.close();
            arena.close();
        }
    }

    /** Memory that keeps what is in it when it grows, and is zero where it is new. */
    private static final class Growing implements AutoCloseable {

        private static final long FIRST_BYTES = 1 << 15;

        private Arena arena = Arena.ofShared();
        private MemorySegment segment = arena.allocate(FIRST_BYTES, Long.BYTES);

        MemorySegment of(long bytes) {
            if (bytes > segment.byteSize()) {
                Arena larger = Arena.ofShared();
                segment = larger.allocate(Math.max(bytes, 2 * segment.byteSize()), Long.BYTES).copyFrom(segment);
                arena.close();
                arena = larger;
            }
            return segment;
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
