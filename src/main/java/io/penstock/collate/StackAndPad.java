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
import java.util.ArrayList;
import java.util.List;

/**
 * Collates samples of several fields, each by its shape. A field of fixed shape {@code [...]} is stacked to
 * {@code [B, ...]}. A field whose first dimension varies, {@code [*, ...]}, becomes two: itself as {@code [B, L, ...]},
 * zero-padded to the length L of the batch's longest sample after truncation, and right after it
 * {@code <name>_lengths}, {@code i32[B]}.
 *
 * <p>Padding is zero bytes: 0, 0.0 or false. For token ids with an attention mask, use {@link Pad}.
 */
public final class StackAndPad implements Collator {

    /** The suffix of a lengths field's name. */
    public static final String LENGTHS_SUFFIX = "_lengths";

    private final long maxLength;

    private StackAndPad(long maxLength) {
        this.maxLength = maxLength;
    }

    /** {@return a collator that truncates nothing} */
    public static StackAndPad fields() {
        return new StackAndPad(Integer.MAX_VALUE);
    }

    /**
     * {@return a collator that truncates samples}
     *
     * @param maxLength the most elements kept of a varying dimension. It bounds the slab, which holds a batch of the
     *     longest samples
     * @throws IllegalArgumentException if the limit is below 1 or beyond {@link Integer#MAX_VALUE}
     */
    public static StackAndPad cutTo(long maxLength) {
        if (maxLength < 1 || maxLength > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("samples cut to " + maxLength + ": must be 1 to " + Integer.MAX_VALUE);
        }
        return new StackAndPad(maxLength);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Samples must have exactly one field of varying length, which the budget bounds.
     */
    @Override
    public SlabLayout layout(Dataset dataset, TokenBudget budget) {
        int variable = -1;
        for (int f = 0; f < dataset.fields().size(); f++) {
            if (dataset.fields().get(f).isVariable()) {
                if (variable >= 0) {
                    throw new IllegalArgumentException("token budget: found two fields of varying length, "
                            + dataset.fields().get(variable) + " and " + dataset.fields().get(f) + ", expected one");
                }
                variable = f;
            }
        }
        if (variable < 0) {
            throw new IllegalArgumentException("token budget: found " + dataset.fields()
                    + ", expected a field of varying length");
        }
        // The fields before it are one batch field each, so its index is the same in the batch.
        long rowBytes = dataset.fields().get(variable).rowBytes();
        return layout(dataset, budget.maxSamples(), budget.tokens()).bounded(variable,
                rowBytes > Long.MAX_VALUE / budget.tokens() ? Long.MAX_VALUE : budget.tokens() * rowBytes);
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        return layout(dataset, batchSize, maxLength);
    }

    private SlabLayout layout(Dataset dataset, int batchSize, long mostLength) {
        List<TensorSpec> batched = new ArrayList<>();
        for (int f = 0; f < dataset.fields().size(); f++) {
            TensorSpec field = dataset.fields().get(f);
            if (field.isVariable()) {
                long longest = Math.min(Math.min(maxLength, mostLength), dataset.maxLength(f));
                batched.add(Stack.batched(field.withLength(longest), batchSize));
                batched.add(new TensorSpec(field.name() + LENGTHS_SUFFIX, DType.I32, batchSize));
            } else {
                batched.add(Stack.batched(field, batchSize));
            }
        }
        return new SlabLayout(batched);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        List<TensorSpec> fields = in.samples().fields();
        int b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            out.setDim(b, 0, plan.count());
            if (fields.get(f).isVariable()) {
                out.setDim(b, 1, longest(in, plan, f, fields.get(f).rowBytes()));
                out.setDim(++b, 0, plan.count());
            }
        }
        out.layOut();
        b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            if (fields.get(f).isVariable()) {
                pad(in, plan, f, out, b++);
            } else {
                in.copyAll(plan, f, out.segment(), out.offset(b));
            }
        }
    }

    private long longest(BatchReader in, BatchPlan plan, int f, long rowBytes) {
        long longest = 0;
        if (rowBytes > 0) {
            in.locateAll(plan, f);
            for (int i = 0; i < plan.count(); i++) {
                longest = Math.max(longest, Math.min(maxLength, in.locatedBytes(i) / rowBytes));
            }
        }
        return longest;
    }

    private void pad(BatchReader in, BatchPlan plan, int f, Slab out, int b) {
        long rowBytes = in.samples().fields().get(f).rowBytes();
        long sampleBytes = out.dim(b, 1) * rowBytes;
        long at = out.offset(b);
        long lengths = out.offset(b + 1);
        for (int i = 0; i < plan.count(); i++, at += sampleBytes) {
            long bytes = 0;
            if (rowBytes > 0) {
                Span value = in.locate(plan, i, f);
                bytes = Math.min(sampleBytes, value.byteSize() / rowBytes * rowBytes);
                in.copyPart(value, 0, bytes, out.segment(), at);
            }
            Integers.fill(out.segment(), at + bytes, DType.U8, sampleBytes - bytes, 0);
            out.segment().set(I32, lengths + 4L * i, rowBytes == 0 ? 0 : (int) (bytes / rowBytes));
        }
    }

    @Override
    public String toString() {
        return "stack and pad" + (maxLength == Integer.MAX_VALUE ? "" : " to at most " + maxLength);
    }
}
