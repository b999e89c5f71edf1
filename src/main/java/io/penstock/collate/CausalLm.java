// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import org.jspecify.annotations.Nullable;

/**
 * Batches of token windows for a causal language model. With B windows of L + 1 tokens:
 *
 * <ul>
 *   <li>{@link #narrow()}: one field {@code tokens}, {@code [B, L + 1]}, at the store's width. Inputs are columns 0 to
 *       L - 1, labels are columns 1 to L. No token is copied twice, and a device can widen in place.
 *   <li>{@link #widened(DType)}: {@code input_ids} and {@code labels}, both {@code [B, L]}, {@code i32} or
 *       {@code i64}; {@code labels[b, t]} is the token that follows {@code input_ids[b, t]}.
 * </ul>
 */
public final class CausalLm implements Collator {

    /** The field of {@link #widened} batches that holds the inputs. */
    public static final String INPUT_IDS = "input_ids";
    /** The field of {@link #widened} batches that holds the labels. */
    public static final String LABELS = "labels";

    /** Windows prefetched together, so that their cache misses overlap. */
    private static final int PREFETCHED = 4;

    /** What ids are widened to; null for the store's own dtype. */
    private final @Nullable DType widened;

    private CausalLm(@Nullable DType widened) {
        this.widened = widened;
    }

    /** {@return a collator of windows at the store's own width: the fewest bytes to copy} */
    public static CausalLm narrow() {
        return new CausalLm(null);
    }

    /**
     * {@return a collator of inputs and labels, widened on the host}
     *
     * @param dtype {@link DType#I32}, or {@link DType#I64} as PyTorch's embedding and loss expect
     * @throws IllegalArgumentException if it is another
     */
    public static CausalLm widened(DType dtype) {
        return new CausalLm(Integers.widened(dtype));
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        TensorSpec window = dataset.fields().getFirst();
        if (dataset.fields().size() != 1 || window.rank() != 1 || window.isVariable()) {
            throw new IllegalArgumentException("token windows have one field of shape [length + 1], not "
                    + dataset.fields());
        }
        DType dtype = Integers.dtype(widened, window.dtype());
        if (widened == null) {
            return SlabLayout.of(new TensorSpec(window.name().equals(TokenWindows.MASKED_TOKENS) ? window.name()
                    : TokenWindows.TOKENS, dtype, batchSize, window.dim(0)));
        }
        if (window.dim(0) < 2) {
            throw new IllegalArgumentException("a window of " + window.dim(0)
                    + " token has no label, expected 2 tokens or more");
        }
        if (window.dim(0) > BatchReader.MAX_INTEGERS) {
            throw new IllegalArgumentException("windows of " + window.dim(0) + " tokens cannot be widened, expected at "
                    + "most " + BatchReader.MAX_INTEGERS);
        }
        long length = window.dim(0) - 1;
        return SlabLayout.of(new TensorSpec(INPUT_IDS, dtype, batchSize, length),
                new TensorSpec(LABELS, dtype, batchSize, length));
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        out.setDim(0, 0, plan.count());
        if (widened != null) {
            out.setDim(1, 0, plan.count());
        }
        out.layOut();
        if (widened == null) {
            in.copyAll(plan, 0, out.segment(), out.offset(0));
        } else {
            widenWindows(in, plan, out);
        }
    }

    private static void widenWindows(BatchReader in, BatchPlan plan, Slab out) {
        TensorSpec window = in.samples().fields().getFirst();
        DType from = window.dtype();
        boolean isMasked = Context.isIn(window);
        DType to = out.layout().fields().getFirst().dtype();
        int length = Math.toIntExact(out.dim(0, 1));
        long rowBytes = (long) length * to.byteSize();
        long ids = out.offset(0);
        long labels = out.offset(1);
        for (int i = 0; i < plan.count(); i++) {
            if (i % PREFETCHED == 0) {
                for (int j = i; j < Math.min(i + PREFETCHED, plan.count()); j++) {
                    in.prefetch(plan.sample(j), 0);
                }
            }
            Integers.storeTokens(in, in.locate(plan, i, 0), from, length, length, out.segment(), to, ids, labels);
            if (isMasked) {
                Context.decode(out.segment(), to, ids, length, labels, length);
            }
            ids += rowBytes;
            labels += rowBytes;
        }
    }

    @Override
    public String toString() {
        return "causal-lm(" + (widened == null ? "store" : widened) + ")";
    }
}
