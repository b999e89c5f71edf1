package io.penstock.collate;

import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.SampleReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Batches of {@link PackedSequences} for a causal language model in which documents that share a sequence do not attend
 * to each other. Each of the B sequences of capacity S holds pieces of documents, then padding:
 *
 * <ul>
 *   <li>{@code input_ids}, {@code [B, S]}: the tokens, and 0 in padding;
 *   <li>{@code labels}, {@code i32[B, S]} or {@code i64[B, S]} like the ids: the document's next token, or
 *       {@value #IGNORED} at its last token and in padding. Not available at the store's own width;
 *   <li>{@code position_ids}, {@code i32[B, S]}: tokens since the piece's first; 0, 1, … in padding as well;
 *   <li>{@code document_ids}, {@code i32[B, S]}: 1 for the row's first piece, 2 for its second, …, and 0 for padding;
 *   <li>{@code loss_mask}, {@code bool[B, S]}: 1 where there is a label;
 *   <li>{@code cu_seqlens}, {@code i32[N + 1]}: where each piece starts in the concatenated rows, then {@code B·S}, as
 *       variable-length attention kernels take it. Each row's padding counts as a piece;
 *   <li>{@code max_seqlen}, {@code i32[]}: the length of the longest of these N pieces;
 *   <li>{@code attention_mask}, {@code bool[B, S, S]}, on request: 1 at {@code [b, q, k]} if {@code q} and {@code k}
 *       are tokens of one piece and {@code k <= q}.
 * </ul>
 */
public final class PackedLm implements Collator {

    /** The label where there is none; losses ignore it. */
    public static final int IGNORED = -100;

    /** The offset of an unwanted field. */
    private static final long NONE = -1;

    /** The optional fields of a batch. */
    public enum Field {
        /** The next tokens. */
        LABELS,
        /** Positions within each piece. */
        POSITION_IDS,
        /** The number of each token's piece in its row. */
        DOCUMENT_IDS,
        /** 1 where there is a label. */
        LOSS_MASK,
        /** Starts of the pieces, and the longest piece. */
        CU_SEQLENS,
        /** Which tokens attend to which: S bytes a token. */
        ATTENTION_MASK
    }

    private final TokenWidth width;
    private final Set<Field> wanted;

    private PackedLm(TokenWidth width, Set<Field> wanted) {
        this.width = width;
        this.wanted = EnumSet.copyOf(wanted);
    }

    /**
     * A collator of all fields except {@code attention_mask}. At the store's own width it also omits {@code labels},
     * because that dtype may be too narrow for {@value #IGNORED}.
     *
     * @param width the ids' width in the batch
     * @return the collator
     */
    public static PackedLm of(TokenWidth width) {
        Set<Field> all = EnumSet.complementOf(EnumSet.of(Field.ATTENTION_MASK));
        if (width == TokenWidth.STORE) {
            all.remove(Field.LABELS);
        }
        return new PackedLm(width, all);
    }

    /**
     * A collator of the tokens and chosen fields.
     *
     * @param width the ids' width in the batch
     * @param fields the fields besides {@code input_ids}
     * @return the collator
     * @throws IllegalArgumentException if labels are requested at the store's own width
     */
    public static PackedLm of(TokenWidth width, Set<Field> fields) {
        if (width == TokenWidth.STORE && fields.contains(Field.LABELS)) {
            throw new IllegalArgumentException("labels at the store's own width: it has no room for " + IGNORED);
        }
        return new PackedLm(width, fields.isEmpty() ? EnumSet.noneOf(Field.class) : fields);
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        if (!(dataset instanceof PackedSequences packed)) {
            throw new IllegalArgumentException("packed batches: found samples of " + dataset.fields()
                    + ", expected PackedSequences");
        }
        long capacity = packed.packing().capacity();
        if (Math.multiplyExact(capacity, (long) batchSize) > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(batchSize + " sequences of " + capacity
                    + " tokens: their positions do not fit 32 bits");
        }
        DType ids = width.dtype(packed.fields().getFirst().dtype());
        List<TensorSpec> fields = new ArrayList<>();
        fields.add(new TensorSpec(CausalLm.INPUT_IDS, ids, batchSize, capacity));
        if (wanted.contains(Field.LABELS)) {
            fields.add(new TensorSpec(CausalLm.LABELS, ids, batchSize, capacity));
        }
        if (wanted.contains(Field.POSITION_IDS)) {
            fields.add(new TensorSpec("position_ids", DType.I32, batchSize, capacity));
        }
        if (wanted.contains(Field.DOCUMENT_IDS)) {
            fields.add(new TensorSpec("document_ids", DType.I32, batchSize, capacity));
        }
        if (wanted.contains(Field.LOSS_MASK)) {
            fields.add(new TensorSpec("loss_mask", DType.BOOL, batchSize, capacity));
        }
        if (wanted.contains(Field.CU_SEQLENS)) {
            fields.add(new TensorSpec("cu_seqlens", DType.I32, batchSize * (packed.maxParts() + 1L) + 1));
            fields.add(new TensorSpec("max_seqlen", DType.I32));
        }
        if (wanted.contains(Field.ATTENTION_MASK)) {
            fields.add(new TensorSpec("attention_mask", DType.BOOL, batchSize, capacity, capacity));
        }
        return new SlabLayout(fields);
    }

    @Override
    public void collate(SampleReader in, BatchPlan plan, Slab out) {
        PackedSequences packed = (PackedSequences) in.dataset();
        layOut(in, packed, plan, out);
        int f = 0;
        long ids = out.offset(f);
        long labels = wanted.contains(Field.LABELS) ? out.offset(++f) : NONE;
        long positions = wanted.contains(Field.POSITION_IDS) ? out.offset(++f) : NONE;
        long documents = wanted.contains(Field.DOCUMENT_IDS) ? out.offset(++f) : NONE;
        long lossMask = wanted.contains(Field.LOSS_MASK) ? out.offset(++f) : NONE;
        long starts = wanted.contains(Field.CU_SEQLENS) ? out.offset(++f) : NONE;
        long longest = wanted.contains(Field.CU_SEQLENS) ? out.offset(++f) : NONE;
        long attention = wanted.contains(Field.ATTENTION_MASK) ? out.offset(++f) : NONE;
        DType from = packed.fields().getFirst().dtype();
        DType to = out.layout().fields().getFirst().dtype();
        int capacity = packed.packing().capacity();
        MemorySegment slab = out.segment();
        Span span = in.ownSpan();
        int max = 0;
        for (int row = 0; row < plan.count(); row++) {
            long sample = plan.sample(row);
            in.about(sample);
            long first = (long) row * capacity;
            int filled = 0;
            int parts = packed.parts(sample);
            for (int part = 0; part < parts; part++) {
                int length = packed.locateWithNext(sample, part, span);
                in.check(span);
                int labelled = (int) (span.byteSize() / from.byteSize()) - 1;
                long at = first + filled;
                writeTokens(in, span, length, labelled, from, slab, ids + at * to.byteSize(),
                        labels == NONE ? NONE : labels + at * to.byteSize(), to);
                writePiece(slab, length, labelled, part + 1, positions == NONE ? NONE : positions + 4 * at,
                        documents == NONE ? NONE : documents + 4 * at, lossMask == NONE ? NONE : lossMask + at);
                if (attention != NONE) {
                    writeAttention(slab, attention + at * capacity, capacity, filled, length);
                }
                if (starts != NONE) {
                    slab.set(I32, starts, (int) at);
                    starts += 4;
                }
                max = Math.max(max, length);
                filled += length;
            }
            int padding = capacity - filled;
            if (padding > 0) {
                long at = first + filled;
                Integers.fill(slab, ids + at * to.byteSize(), to, padding, 0);
                if (labels != NONE) {
                    Integers.fill(slab, labels + at * to.byteSize(), to, padding, IGNORED);
                }
                writePiece(slab, padding, 0, 0, positions == NONE ? NONE : positions + 4 * at,
                        documents == NONE ? NONE : documents + 4 * at, lossMask == NONE ? NONE : lossMask + at);
                if (attention != NONE) {
                    Integers.fill(slab, attention + at * capacity, DType.BOOL, (long) padding * capacity, 0);
                }
                if (starts != NONE) {
                    slab.set(I32, starts, (int) at);
                    starts += 4;
                }
                max = Math.max(max, padding);
            }
        }
        if (starts != NONE) {
            slab.set(I32, starts, plan.count() * capacity);
            slab.set(I32, longest, max);
        }
    }

    /** Sets the batch's shapes. */
    private static void layOut(SampleReader in, PackedSequences packed, BatchPlan plan, Slab out) {
        int pieces = 0;
        for (int row = 0; row < plan.count(); row++) {
            long sample = plan.sample(row);
            in.about(sample);
            pieces += packed.parts(sample) + (packed.length(sample) < packed.packing().capacity() ? 1 : 0);
        }
        int fields = out.layout().fields().size();
        for (int f = 0; f < fields; f++) {
            TensorSpec field = out.layout().fields().get(f);
            if (field.rank() == 1) {
                out.setDim(f, 0, pieces + 1);
            } else if (field.rank() > 1) {
                out.setDim(f, 0, plan.count());
            }
        }
        out.layOut();
    }

    /** Writes a piece's ids, and the labels of all tokens that have a next token. */
    private static void writeTokens(SampleReader in, Span span, int length, int labelled, DType from,
            MemorySegment slab, long ids, long labels, DType to) {
        if (from.byteSize() == to.byteSize()) {
            in.copyPart(span, 0, (long) length * to.byteSize(), slab, ids);
            if (labels != NONE) {
                in.copyPart(span, to.byteSize(), (long) labelled * to.byteSize(), slab, labels);
            }
        } else if (to == DType.I64) {
            long[] tokens = in.readLongs(span, Math.max(length, labelled + 1), from);
            Integers.store(tokens, 0, length, slab, ids);
            if (labels != NONE) {
                Integers.store(tokens, 1, labelled, slab, labels);
            }
        } else {
            int[] tokens = in.readIntegers(span, Math.max(length, labelled + 1), from);
            Integers.store(tokens, 0, length, slab, ids);
            if (labels != NONE) {
                Integers.store(tokens, 1, labelled, slab, labels);
            }
        }
        if (labels != NONE) {
            Integers.fill(slab, labels + (long) labelled * to.byteSize(), to, length - labelled, IGNORED);
        }
    }

    private static void writePiece(MemorySegment slab, int length, int labelled, int id, long positions,
            long documents, long lossMask) {
        if (positions != NONE) {
            for (int i = 0; i < length; i++) {
                slab.set(I32, positions + 4L * i, i);
            }
        }
        if (documents != NONE) {
            Integers.fill(slab, documents, DType.I32, length, id);
        }
        if (lossMask != NONE) {
            Integers.fill(slab, lossMask, DType.BOOL, labelled, 1);
            Integers.fill(slab, lossMask + labelled, DType.BOOL, length - labelled, 0);
        }
    }

    /** Writes the lower triangle of a piece. */
    private static void writeAttention(MemorySegment slab, long rows, int capacity, int filled, int length) {
        for (int q = 0; q < length; q++) {
            long row = rows + (long) q * capacity;
            Integers.fill(slab, row, DType.BOOL, filled, 0);
            Integers.fill(slab, row + filled, DType.BOOL, q + 1, 1);
            Integers.fill(slab, row + filled + q + 1, DType.BOOL, capacity - filled - q - 1, 0);
        }
    }

    @Override
    public String toString() {
        return "packed-lm(" + width + ", " + wanted + ")";
    }
}
