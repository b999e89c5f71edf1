// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.TokenBudget;
import io.penstock.store.TokenContent;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Pads token sequences of different lengths to the batch's longest. With B samples, truncated to the limit, and T the
 * longest one's length rounded up to a multiple of {@code multipleOf}:
 *
 * <ul>
 *   <li>{@code input_ids}, {@code [B, T]}: each row a sample's tokens, then the pad value;
 *   <li>{@code attention_mask}, {@code bool[B, T]}: 1 for a token, 0 for padding;
 *   <li>{@code lengths}, {@code i32[B]}: the number of tokens in each row;
 *   <li>{@code labels}, {@code [B, T]} like the ids, of a field {@code masked_tokens}: the next token, or
 *       {@value PackedLm#IGNORED} where it is not trained on, at the last token and in padding.
 * </ul>
 *
 * <p>Only the bytes of {@code [B, T]} are copied to the device.
 */
public final class Pad implements Collator {

    /** The field that holds the ids. */
    public static final String INPUT_IDS = CausalLm.INPUT_IDS;
    /** The field that tells tokens from padding. */
    public static final String ATTENTION_MASK = "attention_mask";
    /** The field with the number of tokens in each row. */
    public static final String LENGTHS = "lengths";
    private static final int LABELS = 3;

    /** What ids are widened to; null for the store's own dtype. */
    final @Nullable DType widened;
    final long padValue;
    final int multipleOf;
    final long maxLength;

    private Pad(@Nullable DType widened, long padValue, int multipleOf, long maxLength) {
        if (multipleOf < 1 || maxLength < 1) {
            throw new IllegalArgumentException("padding to a multiple of " + multipleOf + ", at most " + maxLength
                    + ": both must be at least 1");
        }
        this.widened = widened;
        this.padValue = padValue;
        this.multipleOf = multipleOf;
        this.maxLength = maxLength;
    }

    /**
     * {@return a collator that pads to the longest sample of each batch}
     *
     * @param dtype the ids' dtype in the batch: {@link DType#I32} or {@link DType#I64}
     * @param padValue the value after a row's tokens
     * @throws IllegalArgumentException if the dtype is another
     */
    public static Pad toLongest(DType dtype, long padValue) {
        return new Pad(Integers.widened(dtype), padValue, 1, Long.MAX_VALUE);
    }

    /**
     * {@return a collator that pads to the longest sample of each batch, with ids at the store's own width}
     *
     * @param padValue the value after a row's tokens, in the store's dtype
     */
    public static Pad toLongest(long padValue) {
        return new Pad(null, padValue, 1, Long.MAX_VALUE);
    }

    /**
     * {@return this collator, with the padded length rounded up}
     *
     * @param multiple rounds the padded length up to a multiple of this: 8 or 64 for tensor cores
     * @throws IllegalArgumentException if it is below 1
     */
    public Pad toMultipleOf(int multiple) {
        return new Pad(widened, padValue, multiple, maxLength);
    }

    /**
     * {@return this collator, with samples truncated}
     *
     * @param tokens the most tokens kept of a sample; also bounds the slab
     * @throws IllegalArgumentException if it is below 1
     */
    public Pad cutTo(long tokens) {
        return new Pad(widened, padValue, multipleOf, tokens);
    }

    @Override
    public SlabLayout layout(Dataset dataset, TokenBudget budget) {
        if (budget.multipleOf() % multipleOf != 0) {
            throw new IllegalArgumentException("padding to a multiple of " + multipleOf + ": found a token budget that "
                    + "counts multiples of " + budget.multipleOf());
        }
        SlabLayout most = layout(dataset, budget.maxSamples(), budget.tokens());
        long idBytes = budget.tokens() * most.fields().get(0).dtype().byteSize();
        SlabLayout bounded = most.bounded(0, idBytes).bounded(1, budget.tokens());
        return most.fields().size() > LABELS ? bounded.bounded(LABELS, idBytes) : bounded;
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        return layout(dataset, batchSize, Long.MAX_VALUE);
    }

    /** The layout with rows of at most {@code mostTokens}, whatever the dataset holds. */
    private SlabLayout layout(Dataset dataset, int batchSize, long mostTokens) {
        TensorSpec tokens = dataset.fields().getFirst();
        if (dataset.fields().size() != 1 || tokens.rank() != 1) {
            throw new IllegalArgumentException("padding takes one field of shape [*], not " + dataset.fields());
        }
        if (tokens.name().equals(TokenContent.ANSWERS.fieldName())) {
            throw new IllegalArgumentException("padding takes tokens, found " + tokens + ": PadAnswers takes them");
        }
        DType dtype = Integers.dtype(widened, tokens.dtype());
        checkPadValue(padValue, dtype);
        long kept = Math.min(maxLength, dataset.maxLength(0));
        if (kept > BatchReader.MAX_INTEGERS) {
            throw new IllegalArgumentException("samples of up to " + kept + " tokens cannot be padded, expected at "
                    + "most " + BatchReader.MAX_INTEGERS + ": cut them");
        }
        long longest = Math.min(mostTokens, roundUp(kept));
        TensorSpec ids = new TensorSpec(INPUT_IDS, dtype, batchSize, longest);
        TensorSpec mask = new TensorSpec(ATTENTION_MASK, DType.BOOL, batchSize, longest);
        TensorSpec lengths = new TensorSpec(LENGTHS, DType.I32, batchSize);
        return Context.isIn(tokens) ? SlabLayout.of(ids, mask, lengths,
                new TensorSpec(CausalLm.LABELS, dtype, batchSize, longest)) : SlabLayout.of(ids, mask, lengths);
    }

    static void checkPadValue(long padValue, DType dtype) {
        int bits = 8 * dtype.byteSize();
        long max = dtype.isUnsigned() ? (1L << bits) - 1 : Long.MAX_VALUE >>> 64 - bits;
        long min = dtype.isUnsigned() ? 0 : Long.MIN_VALUE >> 64 - bits;
        if (bits < 64 && (padValue < min || padValue > max)) {
            throw new IllegalArgumentException("pad value " + padValue + " does not fit " + dtype);
        }
    }

    private long roundUp(long length) {
        return Math.multiplyExact(Math.ceilDiv(length, (long) multipleOf), (long) multipleOf);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        DType from = in.samples().fields().getFirst().dtype();
        DType to = out.layout().fields().getFirst().dtype();
        long length = layOut(in, plan, out, from);
        MemorySegment slab = out.segment();
        long idRowBytes = length * to.byteSize();
        long ids = out.offset(0);
        long mask = out.offset(1);
        long lengths = out.offset(2);
        boolean isMasked = Context.isIn(in.samples().fields().getFirst());
        long labels = isMasked ? out.offset(LABELS) : Integers.NONE;
        for (int i = 0; i < plan.count(); i++) {
            Span sample = in.located(i);
            int tokens = (int) tokens(sample.byteSize(), from);
            int labeled = Math.max(0, tokens - 1);
            Integers.storeTokens(in, sample, from, tokens, labeled, slab, to, ids, labels);
            if (isMasked) {
                Context.decode(slab, to, ids, tokens, labels, labeled);
                Integers.fill(slab, labels + (long) labeled * to.byteSize(), to, length - labeled, PackedLm.IGNORED);
                labels += idRowBytes;
            }
            Integers.fill(slab, ids + (long) tokens * to.byteSize(), to, length - tokens, padValue);
            Integers.fill(slab, mask, DType.BOOL, tokens, 1);
            Integers.fill(slab, mask + tokens, DType.BOOL, length - tokens, 0);
            slab.set(I32, lengths + 4L * i, tokens);
            ids += idRowBytes;
            mask += length;
        }
    }

    /** Sets the batch's shapes and returns the padded length. */
    private long layOut(BatchReader in, BatchPlan plan, Slab out, DType from) {
        in.locateAll(plan, 0);
        long longest = 0;
        for (int i = 0; i < plan.count(); i++) {
            longest = Math.max(longest, tokens(in.locatedBytes(i), from));
        }
        long length = roundUp(longest);
        for (int f = 0; f < out.layout().fields().size(); f++) {
            out.setDim(f, 0, plan.count());
            if (f != 2) {
                out.setDim(f, 1, length);
            }
        }
        out.layOut();
        return length;
    }

    private long tokens(long bytes, DType from) {
        return Math.min(maxLength, bytes / from.byteSize());
    }

    @Override
    public String toString() {
        return "pad(" + (widened == null ? "store" : widened) + ") with " + padValue
                + (multipleOf == 1 ? "" : " to multiples of " + multipleOf)
                + (maxLength == Long.MAX_VALUE ? "" : ", at most " + maxLength);
    }
}
