// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.collate.Integers.NONE;
import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.PackedSamples;
import io.penstock.dataset.source.BatchReader;
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
import org.jspecify.annotations.Nullable;

/**
 * Batches of {@link PackedSamples} for a causal language model in which documents that share a sequence do not attend
 * to each other. Each of the B sequences of capacity S holds pieces of documents, then padding:
 *
 * <ul>
 *   <li>{@code input_ids}, {@code [B, S]}: the tokens, and 0 in padding;
 *   <li>{@code labels}, {@code i32[B, S]} or {@code i64[B, S]} like the ids: the document's next token, or
 *       {@value #IGNORED} where the next token is not trained on, at the last token and in padding. Not available at
 *       the store's own width;
 *   <li>{@code position_ids}, {@code i32[B, S]}: tokens since the piece's first; 0, 1, … in padding as well;
 *   <li>{@code document_ids}, {@code i32[B, S]}: 1 for the row's first piece, 2 for its second, …, and 0 for padding;
 *   <li>{@code loss_mask}, {@code bool[B, S]}: 1 where there is a label;
 *   <li>{@code cu_seqlens}, {@code i32[N + 1]}: where each piece starts in the concatenated rows, then {@code B·S}, as
 *       variable-length attention kernels take it. Each row's padding counts as a piece;
 *   <li>{@code max_seqlen}, {@code i32[]}: the length of the longest of these N pieces;
 *   <li>{@code attention_mask}, {@code bool[B, S, S]}, on request: 1 at {@code [b, q, k]} if {@code q} and {@code k}
 *       are tokens of one piece and {@code k <= q};
 *   <li>{@code lengths}, {@code i32[B]}, on request: the number of tokens before the row's padding;
 *   <li>{@code loss_bits}, {@code u8[B, (S + 7) / 8]}, on request: bit {@code t % 8} of byte {@code t / 8} is 1 if
 *       token {@code t} itself is trained on.
 * </ul>
 *
 * <p>With {@code CU_SEQLENS} and {@code LENGTHS} alone, at the store's own width, a batch is as small as it can be, and
 * the stage {@code PackedTokens} makes the other fields on the device.
 */
public final class PackedLm implements Collator {

    /** The label where there is none; losses ignore it. */
    public static final int IGNORED = -100;

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
        ATTENTION_MASK,
        /** Tokens before each row's padding. */
        LENGTHS,
        /** One bit a token: whether the model is trained on it. */
        LOSS_BITS
    }

    /** What ids are widened to; null for the store's own dtype. */
    private final @Nullable DType widened;
    private final Set<Field> wanted;

    private PackedLm(@Nullable DType widened, Set<Field> wanted) {
        this.widened = widened;
        this.wanted = wanted.isEmpty() ? EnumSet.noneOf(Field.class) : EnumSet.copyOf(wanted);
    }

    /**
     * {@return a collator of all fields but {@code attention_mask}, {@code lengths} and {@code loss_bits}}
     *
     * @param dtype the dtype of ids and labels: {@link DType#I32} or {@link DType#I64}
     * @throws IllegalArgumentException if it is another
     */
    public static PackedLm of(DType dtype) {
        return of(dtype, EnumSet.complementOf(EnumSet.of(Field.ATTENTION_MASK, Field.LENGTHS, Field.LOSS_BITS)));
    }

    /**
     * {@return a collator of the tokens and chosen fields}
     *
     * @param dtype the dtype of ids and labels: {@link DType#I32} or {@link DType#I64}
     * @param fields the fields besides {@code input_ids}
     * @throws IllegalArgumentException if the dtype is another
     */
    public static PackedLm of(DType dtype, Set<Field> fields) {
        return new PackedLm(Integers.widened(dtype), fields);
    }

    /**
     * {@return a collator of ids at the store's own width, the fewest bytes to copy} It has the fields of {@link
     * #of(DType)} but {@code labels}, because the store's dtype may be too narrow for {@value #IGNORED}.
     */
    public static PackedLm narrow() {
        return narrow(EnumSet.complementOf(
                EnumSet.of(Field.LABELS, Field.ATTENTION_MASK, Field.LENGTHS, Field.LOSS_BITS)));
    }

    /**
     * {@return a collator of ids at the store's own width, and chosen fields}
     *
     * @param fields the fields besides {@code input_ids}
     * @throws IllegalArgumentException if labels are among them
     */
    public static PackedLm narrow(Set<Field> fields) {
        if (fields.contains(Field.LABELS)) {
            throw new IllegalArgumentException("labels at the store's own width: it has no room for " + IGNORED);
        }
        return new PackedLm(null, fields);
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        if (!(dataset instanceof PackedSamples packed)) {
            throw new IllegalArgumentException("packed batches: found samples of " + dataset.fields()
                    + ", expected PackedSamples");
        }
        long capacity = packed.capacity();
        if (Math.multiplyExact(capacity, (long) batchSize) > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(batchSize + " sequences of " + capacity
                    + " tokens: their positions do not fit 32 bits");
        }
        DType ids = Integers.dtype(widened, packed.fields().getFirst().dtype());
        List<TensorSpec> fields = new ArrayList<>();
        fields.add(new TensorSpec(CausalLm.INPUT_IDS, ids, batchSize, capacity));
        for (Field field : wanted) {
            switch (field) {
                case LABELS -> fields.add(new TensorSpec(CausalLm.LABELS, ids, batchSize, capacity));
                case POSITION_IDS -> fields.add(new TensorSpec("position_ids", DType.I32, batchSize, capacity));
                case DOCUMENT_IDS -> fields.add(new TensorSpec("document_ids", DType.I32, batchSize, capacity));
                case LOSS_MASK -> fields.add(new TensorSpec("loss_mask", DType.BOOL, batchSize, capacity));
                case CU_SEQLENS -> {
                    fields.add(new TensorSpec("cu_seqlens", DType.I32, batchSize * (packed.maxParts() + 1L) + 1));
                    fields.add(new TensorSpec("max_seqlen", DType.I32));
                }
                case ATTENTION_MASK -> fields.add(
                        new TensorSpec("attention_mask", DType.BOOL, batchSize, capacity, capacity));
                case LENGTHS -> fields.add(new TensorSpec("lengths", DType.I32, batchSize));
                case LOSS_BITS -> fields.add(new TensorSpec("loss_bits", DType.U8, batchSize, (capacity + 7) / 8));
            }
        }
        return new SlabLayout(fields);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        PackedSamples packed = (PackedSamples) in.samples();
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
        long lengths = wanted.contains(Field.LENGTHS) ? out.offset(++f) : NONE;
        long lossBits = wanted.contains(Field.LOSS_BITS) ? out.offset(++f) : NONE;
        DType from = packed.fields().getFirst().dtype();
        boolean isMasked = Context.isIn(packed.fields().getFirst());
        DType to = out.layout().fields().getFirst().dtype();
        int capacity = packed.capacity();
        MemorySegment slab = out.segment();
        Span span = in.ownSpan();
        int max = 0;
        for (int row = 0; row < plan.count(); row++) {
            long sample = plan.sample(row);
            in.about(sample);
            int parts = packed.parts(sample);
            long rowBits = lossBits + (long) row * ((capacity + 7) / 8);
            if (lossBits != NONE) {
                Integers.fill(slab, rowBits, DType.U8, (capacity + 7) / 8, 0);
            }
            if (lengths != NONE) {
                slab.set(I32, lengths + 4L * row, packed.length(sample));
            }
            int filled = 0;
            // The padding, if any, is the last piece.
            for (int part = 0; filled < capacity; part++) {
                boolean isPadding = part == parts;
                long at = (long) row * capacity + filled;
                int length = capacity - filled;
                int labeled = 0;
                if (isPadding) {
                    Integers.fill(slab, ids + at * to.byteSize(), to, length, 0);
                } else {
                    length = packed.locateWithNext(sample, part, span);
                    in.check(span);
                    labeled = (int) (span.byteSize() / from.byteSize()) - 1;
                    Integers.storeTokens(in, span, from, length, labeled, slab, to, ids + at * to.byteSize(),
                            labels == NONE ? NONE : labels + at * to.byteSize());
                    if (isMasked) {
                        Context.decode(slab, to, ids + at * to.byteSize(), length, labels + at * to.byteSize(),
                                labels == NONE ? 0 : labeled);
                    }
                }
                if (lossBits != NONE && !isPadding) {
                    Context.setLossBits(in, span, packed.fields().getFirst(), length, slab, rowBits, filled);
                }
                if (labels != NONE) {
                    Integers.fill(slab, labels + (at + labeled) * to.byteSize(), to, length - labeled, IGNORED);
                }
                if (positions != NONE) {
                    writePositions(slab, positions + 4 * at, length);
                }
                if (documents != NONE) {
                    Integers.fill(slab, documents + 4 * at, DType.I32, length, isPadding ? 0 : part + 1);
                }
                if (lossMask != NONE) {
                    Integers.fill(slab, lossMask + at, DType.BOOL, labeled, 1);
                    if (isMasked) {
                        Context.maskLoss(in, span, from, labeled, slab, lossMask + at);
                    }
                    Integers.fill(slab, lossMask + at + labeled, DType.BOOL, length - labeled, 0);
                }
                if (attention != NONE) {
                    writeAttention(slab, attention + at * capacity, capacity, filled, length, isPadding);
                }
                if (starts != NONE) {
                    slab.set(I32, starts, (int) at);
                    starts += 4;
                }
                max = Math.max(max, length);
                filled += length;
            }
        }
        if (starts != NONE) {
            slab.set(I32, starts, plan.count() * capacity);
            slab.set(I32, longest, max);
        }
    }

    private static void layOut(BatchReader in, PackedSamples packed, BatchPlan plan, Slab out) {
        int pieces = 0;
        for (int row = 0; row < plan.count(); row++) {
            long sample = plan.sample(row);
            in.about(sample);
            pieces += packed.parts(sample) + (packed.length(sample) < packed.capacity() ? 1 : 0);
        }
        int fields = out.layout().fields().size();
        for (int f = 0; f < fields; f++) {
            TensorSpec field = out.layout().fields().get(f);
            if (field.name().equals("cu_seqlens")) {
                out.setDim(f, 0, pieces + 1);
            } else if (field.rank() > 0) {
                out.setDim(f, 0, plan.count());
            }
        }
        out.layOut();
    }

    private static void writePositions(MemorySegment slab, long positions, int length) {
        for (int i = 0; i < length; i++) {
            slab.set(I32, positions + 4L * i, i);
        }
    }

    /** Writes the lower triangle of a piece; padding attends to nothing. */
    private static void writeAttention(MemorySegment slab, long rows, int capacity, int filled, int length,
            boolean isPadding) {
        if (isPadding) {
            Integers.fill(slab, rows, DType.BOOL, (long) length * capacity, 0);
            return;
        }
        for (int q = 0; q < length; q++) {
            long row = rows + (long) q * capacity;
            Integers.fill(slab, row, DType.BOOL, filled, 0);
            Integers.fill(slab, row + filled, DType.BOOL, q + 1, 1);
            Integers.fill(slab, row + filled + q + 1, DType.BOOL, capacity - filled - q - 1, 0);
        }
    }

    @Override
    public String toString() {
        return "packed-lm(" + (widened == null ? "store" : widened) + ", " + wanted + ")";
    }
}
