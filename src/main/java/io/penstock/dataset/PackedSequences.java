// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.Packing.PackedWindow;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.io.publish.NativeBytes;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * Sequences packed from documents by {@link Packing}: sample {@code i} is sequence {@code i}. Its one field,
 * {@code tokens} of shape {@code [*]}, is the concatenation of its pieces, at most the capacity.
 *
 * <p>Owns the index of the pieces in native memory, 8 bytes per piece and 8 per sequence: the packer closes it after
 * the last read.
 */
public final class PackedSequences implements PackedSamples, AutoCloseable {

    private static final int CHUNK_BITS = 26;
    private static final long MAX_DOCUMENT = (1L << 63 - CHUNK_BITS) - 1;

    private final Packing packing;
    private final FieldSource.Place documents;
    private final List<TensorSpec> fields;
    private final int tokenBytes;
    private final List<NativeBytes> index;
    /** The first piece of each sequence, and the number of pieces at the end. */
    private final MemorySegment starts;
    /** Tokens of each sequence. */
    private final MemorySegment lengths;
    /** Each piece's document, and its number in that document. */
    private final MemorySegment pieces;
    private final long size;
    private final long tokens;

    /** Owns the builder's index. */
    private PackedSequences(Builder builder) {
        this.packing = builder.packing;
        this.documents = packing.places();
        TensorSpec stored = packing.documents().fields().getFirst();
        boolean isMasked = stored.name().equals(TokenWindows.MASKED_TOKENS);
        this.fields = List.of(new TensorSpec(isMasked ? stored.name() : TokenWindows.TOKENS, stored.dtype(),
                TensorSpec.VARIABLE));
        this.tokenBytes = stored.dtype().byteSize();
        this.index = List.copyOf(builder.index);
        this.size = builder.sequences;
        this.starts = index.get(Builder.STARTS).written();
        this.pieces = index.get(Builder.PIECES).written();
        this.lengths = index.get(Builder.LENGTHS).written();
        this.tokens = builder.tokens;
    }

    /** {@return the number of sequences} */
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

    @Override
    public int capacity() {
        return packing.capacity();
    }

    @Override
    public int parts(long sample) {
        Objects.checkIndex(sample, size);
        return (int) (starts.getAtIndex(LittleEndian.I64, sample + 1)
                - starts.getAtIndex(LittleEndian.I64, sample));
    }

    private void locatePart(long sample, int part, Span into) {
        int tokens = locateWithNext(sample, part, into);
        into.setPart(into, 0, (long) tokens * tokenBytes);
    }

    @Override
    public int locateWithNext(long sample, int part, Span into) {
        long piece = piece(sample, part);
        documents.locate(document(piece), into);
        long first = firstToken(piece);
        long left = into.byteSize() / tokenBytes - first;
        into.setPart(into, first * tokenBytes, Math.min(packing.capacity() + 1L, left) * tokenBytes);
        return (int) Math.min(packing.capacity(), left);
    }

    @Override
    public int length(long sample) {
        Objects.checkIndex(sample, size);
        return lengths.getAtIndex(LittleEndian.I32, sample);
    }

    /**
     * {@return the index of a piece's document}
     *
     * @param sample the sequence's index
     * @param part the piece's number in the sequence
     * @throws IndexOutOfBoundsException if the sequence or piece does not exist
     */
    public long document(long sample, int part) {
        return document(piece(sample, part));
    }

    /**
     * {@return the position in its document where a piece starts: a multiple of the capacity}
     *
     * @param sample the sequence's index
     * @param part the piece's number in the sequence
     * @throws IndexOutOfBoundsException if the sequence or piece does not exist
     */
    public long firstToken(long sample, int part) {
        return firstToken(piece(sample, part));
    }

    private long piece(long sample, int part) {
        Objects.checkIndex(part, parts(sample));
        return pieces.getAtIndex(LittleEndian.I64, starts.getAtIndex(LittleEndian.I64, sample) + part);
    }

    private static long document(long piece) {
        return piece >>> CHUNK_BITS;
    }

    private long firstToken(long piece) {
        return (piece & (1L << CHUNK_BITS) - 1) * packing.capacity();
    }

    /** {@return how the documents were packed} */
    public Packing packing() {
        return packing;
    }

    /** {@return the number of tokens in all sequences, equal to that in all documents} */
    public long tokenCount() {
        return tokens;
    }

    /** {@return the number of pieces in all sequences} */
    public long pieceCount() {
        return pieces.byteSize() / Long.BYTES;
    }

    /** {@return the share of the sequences' capacity that is padding, 0 to 1} */
    public double paddingShare() {
        return 1 - tokens / ((double) size * packing.capacity());
    }

    /** {@return the most pieces in a sequence, which takes a pass over the sequences} */
    @Override
    public int maxParts() {
        return LongStream.range(0, size).mapToInt(this::parts).max().orElse(0);
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
    public String key(long sample) {
        throw new UnsupportedOperationException("packed sequences hold other documents when some are added: split the"
                + " documents, and pack the parts");
    }

    @Override
    public String fingerprint() {
        return "packed:" + packing.method() + ":capacity=" + packing.capacity() + ":window=" + packing.window() + "|"
                + packing.documents().fingerprint();
    }

    /** Frees the index. Calling it again does nothing. */
    @Override
    public void close() {
        if (starts.scope().isAlive()) {
            index.forEach(NativeBytes::close);
        }
    }

    @Override
    public String toString() {
        return size + " sequences of up to " + packing.capacity() + " tokens, " + tokens + " tokens in " + pieceCount()
                + " pieces";
    }

    static final class Builder implements AutoCloseable {

        private final Packing packing;
        private static final int STARTS = 0;
        private static final int PIECES = 1;
        private static final int LENGTHS = 2;

        /** Empty before the first window, which tells how much room all need, and once the sequences own it. */
        private final List<NativeBytes> index = new ArrayList<>();
        private long sequences;
        private long tokens;

        Builder(Packing packing) {
            this.packing = packing;
        }

        /** Adds the sequences of a window; {@code windows} is the number of all. */
        void add(PieceList window, PackedWindow packed, long windows) {
            if (index.isEmpty()) {
                long sequencesBytes = (packed.sequences() * windows + 1) * Long.BYTES;
                index.add(NativeBytes.shared(sequencesBytes));
                index.add(NativeBytes.shared(window.size() * windows * Long.BYTES));
                index.add(NativeBytes.shared(sequencesBytes / 2));
            }
            NativeBytes starts = index.get(STARTS);
            NativeBytes pieces = index.get(PIECES);
            NativeBytes lengths = index.get(LENGTHS);
            for (int sequence = 0; sequence < packed.sequences(); sequence++) {
                starts.putLong(pieces.byteSize() / Long.BYTES);
                for (int part = 0; part < packed.parts(sequence); part++) {
                    int piece = packed.piece(sequence, part);
                    long document = window.document(piece);
                    if (document > MAX_DOCUMENT || window.chunk(piece) >= 1 << CHUNK_BITS) {
                        throw new IllegalArgumentException("document " + document + ", piece " + window.chunk(piece)
                                + ": expected below 2^37 documents and 2^26 pieces of each");
                    }
                    pieces.putLong(document << CHUNK_BITS | window.chunk(piece));
                }
                lengths.putInt(packed.length(sequence));
                tokens += packed.length(sequence);
            }
            sequences += packed.sequences();
        }

        PackedSequences build() {
            if (sequences == 0) {
                throw new IllegalArgumentException("nothing to pack: " + packing.documents().size()
                        + " documents without a token");
            }
            index.get(STARTS).putLong(index.get(PIECES).byteSize() / Long.BYTES);
            PackedSequences built = new PackedSequences(this);
            index.clear();
            return built;
        }

        @Override
        public void close() {
            index.forEach(NativeBytes::close);
        }
    }
}
