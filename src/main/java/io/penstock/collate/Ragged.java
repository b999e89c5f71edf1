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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Collates samples of several fields without padding. A field of fixed shape {@code [...]} is stacked to
 * {@code [B, ...]}. A field whose first dimension varies, {@code [*, ...]}, becomes two: {@code <name>_offsets},
 * {@code i32[B + 1]}, and right after it the values of all samples one after the other as {@code [N, ...]}. Sample i
 * has the values from offset i up to, not including, offset i + 1. PyTorch's nested tensors and kernels for sequences
 * of different lengths take it like that.
 */
public final class Ragged implements Collator {

    /** The suffix of an offsets field's name. */
    public static final String OFFSETS_SUFFIX = "_offsets";

    private final long maxLength;
    /** The most values of some fields in a batch. */
    private final Map<String, Long> rooms;

    private Ragged(long maxLength, Map<String, Long> rooms) {
        this.maxLength = maxLength;
        this.rooms = rooms;
    }

    /** {@return a collator that truncates nothing} */
    public static Ragged fields() {
        return new Ragged(Integer.MAX_VALUE, Map.of());
    }

    /**
     * {@return a collator that truncates samples}
     *
     * @param maxLength the most elements kept of a varying dimension. It bounds the slab, which holds a batch of the
     *     longest samples
     * @throws IllegalArgumentException if the limit is below 1 or beyond {@link Integer#MAX_VALUE}
     */
    public static Ragged cutTo(long maxLength) {
        if (maxLength < 1 || maxLength > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("samples cut to " + maxLength + ": must be 1 to " + Integer.MAX_VALUE);
        }
        return new Ragged(maxLength, Map.of());
    }

    /**
     * {@return a collator whose batches have room for so many values of a field, instead of a batch of the longest
     * samples} For batches that a budget bounds, as {@link ModelTokens#collator} computes it; a batch that has more is
     * an error.
     *
     * @param field the name of a field of varying length
     * @param values the most values, along the varying dimension, of all samples of a batch
     * @throws IllegalArgumentException if there is room for none, or for more than {@link Integer#MAX_VALUE}
     */
    public Ragged room(String field, long values) {
        if (values < 1 || values > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("room for " + values + " values of '" + field + "', expected 1 to "
                    + Integer.MAX_VALUE);
        }
        Map<String, Long> more = new HashMap<>(rooms);
        more.put(field, values);
        return new Ragged(maxLength, Map.copyOf(more));
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if a batch of the longest samples has more values than {@code i32} counts
     */
    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        List<TensorSpec> batched = new ArrayList<>();
        for (int f = 0; f < dataset.fields().size(); f++) {
            TensorSpec field = dataset.fields().get(f);
            if (!field.isVariable()) {
                batched.add(Stack.batched(field, batchSize));
                continue;
            }
            long most = Math.min(Math.min(maxLength, dataset.maxLength(f)) * batchSize,
                    rooms.getOrDefault(field.name(), Long.MAX_VALUE));
            if (most > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(field + ": a batch of " + batchSize + " may have " + most
                        + " values, expected at most " + Integer.MAX_VALUE + " (cut samples, or take fewer)");
            }
            batched.add(new TensorSpec(field.name() + OFFSETS_SUFFIX, DType.I32, batchSize + 1L));
            batched.add(field.withLength(most));
        }
        return new SlabLayout(batched);
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        List<TensorSpec> fields = in.samples().fields();
        int b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            boolean isVariable = fields.get(f).isVariable();
            if (isVariable) {
                out.setDim(b++, 0, plan.count() + 1L);
            }
            out.setDim(b, 0, isVariable ? 0 : plan.count());
        }
        b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            // The fields before have their sizes now, so this one has its place.
            out.layOut();
            if (fields.get(f).isVariable()) {
                join(in, plan, f, out, b++);
            } else {
                in.copyAll(plan, f, out.segment(), out.offset(b));
            }
        }
        out.layOut();
    }

    private void join(BatchReader in, BatchPlan plan, int f, Slab out, int b) {
        long rowBytes = in.samples().fields().get(f).rowBytes();
        long room = out.layout().fields().get(b + 1).dim(0);
        long offsets = out.offset(b);
        long values = out.offset(b + 1);
        long count = 0;
        out.segment().set(I32, offsets, 0);
        for (int i = 0; i < plan.count(); i++) {
            Span value = in.locate(plan, i, f);
            long length = rowBytes == 0 ? 0 : Math.min(maxLength, value.byteSize() / rowBytes);
            if (count + length > room) {
                throw new IllegalStateException("sample " + plan.sample(i) + " is longer than its dataset or the "
                        + "budget said: no room for " + (count + length) + " values, expected at most " + room);
            }
            in.copyPart(value, 0, length * rowBytes, out.segment(), values + count * rowBytes);
            count += length;
            out.segment().set(I32, offsets + 4L * (i + 1), (int) count);
        }
        out.setDim(b + 1, 0, count);
    }

    @Override
    public String toString() {
        return "ragged" + (maxLength == Integer.MAX_VALUE ? "" : ", cut to " + maxLength);
    }
}
