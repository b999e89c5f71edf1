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
import java.lang.foreign.MemorySegment;

/**
 * Pads token sequences of different lengths to the batch's longest. With B samples, truncated to the limit, and T the
 * longest one's length rounded up to a multiple of {@code multipleOf}:
 *
 * <ul>
 *   <li>{@code input_ids}, {@code [B, T]}: each row a sample's tokens, then the pad value;
 *   <li>{@code attention_mask}, {@code bool[B, T]}: 1 for a token, 0 for padding;
 *   <li>{@code lengths}, {@code i32[B]}: the number of tokens in each row.
 * </ul>
 *
 * <p>Only the bytes of {@code [B, T]} are copied to the device.
 *
 * @param width the ids' width in the batch
 * @param padValue the value after a row's tokens, in the batch's dtype
 * @param multipleOf rounds the padded length up to a multiple of this: 1 for no rounding, 8 or 64 for tensor cores
 * @param maxLength the most tokens kept of a sample; {@link Long#MAX_VALUE} for all
 */
public record Pad(TokenWidth width, long padValue, int multipleOf, long maxLength) implements Collator {

    /** The field that holds the ids. */
    public static final String INPUT_IDS = CausalLm.INPUT_IDS;
    /** The field that tells tokens from padding. */
    public static final String ATTENTION_MASK = "attention_mask";
    /** The field with the number of tokens in each row. */
    public static final String LENGTHS = "lengths";

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if {@code multipleOf} or {@code maxLength} is below 1
     */
    public Pad {
        if (multipleOf < 1 || maxLength < 1) {
            throw new IllegalArgumentException("padding to a multiple of " + multipleOf + ", at most " + maxLength
                    + ": both must be at least 1");
        }
    }

    /**
     * {@return a collator that pads to the longest sample of each batch}
     *
     * @param width the ids' width in the batch
     * @param padValue the value after a row's tokens
     */
    public static Pad toLongest(TokenWidth width, long padValue) {
        return new Pad(width, padValue, 1, Long.MAX_VALUE);
    }

    /**
     * {@return this collator, with the padded length rounded up}
     *
     * @param multiple rounds the padded length up to a multiple of this
     */
    public Pad toMultipleOf(int multiple) {
        return new Pad(width, padValue, multiple, maxLength);
    }

    /**
     * {@return this collator, with samples truncated}
     *
     * @param tokens the most tokens kept of a sample; also bounds the slab
     */
    public Pad cutTo(long tokens) {
        return new Pad(width, padValue, multipleOf, tokens);
    }

    @Override
    public SlabLayout layout(Dataset dataset, TokenBudget budget) {
        if (budget.multipleOf() % multipleOf != 0) {
            throw new IllegalArgumentException("padding to a multiple of " + multipleOf + ": found a token budget that "
                    + "counts multiples of " + budget.multipleOf());
        }
        SlabLayout most = layout(dataset, budget.maxSamples(), budget.tokens());
        return most.bounded(0, budget.tokens() * most.fields().get(0).dtype().byteSize())
                .bounded(1, budget.tokens());
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
        DType dtype = width.dtype(tokens.dtype());
        checkPadValue(dtype);
        long kept = Math.min(maxLength, dataset.maxLength(0));
        if (kept > BatchReader.MAX_INTEGERS) {
            throw new IllegalArgumentException("samples of up to " + kept + " tokens cannot be padded, expected at "
                    + "most " + BatchReader.MAX_INTEGERS + ": cut them");
        }
        long longest = Math.min(mostTokens, roundUp(kept));
        return SlabLayout.of(new TensorSpec(INPUT_IDS, dtype, batchSize, longest),
                new TensorSpec(ATTENTION_MASK, DType.BOOL, batchSize, longest),
                new TensorSpec(LENGTHS, DType.I32, batchSize));
    }

    private void checkPadValue(DType dtype) {
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
        for (int i = 0; i < plan.count(); i++) {
            Span sample = in.located(i);
            int tokens = (int) tokens(sample.byteSize(), from);
            Integers.storeTokens(in, sample, from, tokens, 0, slab, to, ids, Integers.NONE);
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
        for (int f = 0; f < 3; f++) {
            out.setDim(f, 0, plan.count());
        }
        out.setDim(0, 1, length);
        out.setDim(1, 1, length);
        out.layOut();
        return length;
    }

    private long tokens(long bytes, DType from) {
        return Math.min(maxLength, bytes / from.byteSize());
    }
}
