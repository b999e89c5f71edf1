// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;

/**
 * Stacks samples of fixed shapes: a field of shape {@code [...]} becomes {@code [B, ...]}, with the same name and
 * dtype.
 */
public final class Stack implements Collator {

    private static final Stack FIELDS = new Stack();

    private Stack() {
    }

    /** {@return the collator, which has no settings} */
    public static Stack fields() {
        return FIELDS;
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        dataset.fields().stream().filter(TensorSpec::isVariable).findFirst().ifPresent(field -> {
            String decode = field.dtype() == DType.U8 && field.rank() == 1
                    ? "decode them if they are pictures (ImageDecoder.rgb), or " : "";
            throw new IllegalArgumentException(field + ": samples of different lengths cannot be stacked: " + decode
                    + "pad them (StackAndPad.fields())");
        });
        return new SlabLayout(dataset.fields().stream().map(field -> batched(field, batchSize)).toList());
    }

    /** Adds a leading batch dimension to a sample's field. */
    static TensorSpec batched(TensorSpec field, int batchSize) {
        long[] shape = new long[field.rank() + 1];
        shape[0] = batchSize;
        System.arraycopy(field.shape(), 0, shape, 1, field.rank());
        return new TensorSpec(field.name(), field.dtype(), shape);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        int fields = in.samples().fields().size();
        for (int f = 0; f < fields; f++) {
            out.setDim(f, 0, plan.count());
        }
        out.layOut();
        for (int f = 0; f < fields; f++) {
            in.copyAll(plan, f, out.segment(), out.offset(f));
        }
    }

    @Override
    public String toString() {
        return "stack";
    }
}
