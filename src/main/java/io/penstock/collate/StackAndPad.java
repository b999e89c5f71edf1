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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collates samples of several fields, each by its shape. A field of fixed shape {@code [...]} is stacked to
 * {@code [B, ...]}. A field whose first dimension varies, {@code [*, ...]}, becomes two: itself as {@code [B, L, ...]},
 * zero-padded to the length L of the batch's longest sample after truncation, and right after it
 * {@code <name>_lengths}, {@code i32[B]}.
 *
 * <p>Padding is zero bytes: 0, 0.0 or false. For token ids with an attention mask, use {@link Pad}.
 */
public final class StackAndPad implements Collator {

    /** Which of several shapes each sample has, for {@link #shaped}. Immutable; any thread may use it. */
    public interface SampleShapes {

        /** {@return the shapes of samples, at least one, of one number of dimensions; not to be changed} */
        List<long[]> shapes();

        /** {@return the number of samples} */
        long size();

        /**
         * {@return the number of a sample's shape among {@link #shapes}}
         *
         * @param sample the sample's index in the dataset
         */
        int shapeOf(long sample);
    }

    /** The suffix of a lengths field's name. */
    public static final String LENGTHS_SUFFIX = "_lengths";

    private final long maxLength;
    /** The field whose samples have one of several shapes, and which; both null without one. */
    private final @Nullable String shaped;
    private final @Nullable SampleShapes shapes;

    private StackAndPad(long maxLength, @Nullable String shaped, @Nullable SampleShapes shapes) {
        this.maxLength = maxLength;
        this.shaped = shaped;
        this.shapes = shapes;
    }

    /**
     * {@return this collator, with a field that is stacked to the shape that the samples of a batch have} A field
     * {@code [*]} of values in a row becomes {@code [B, ...]}, another shape in each batch, without lengths. All
     * samples of a batch must have one shape: {@link io.penstock.sampling.Sampler#bucketed} orders them so. A sample
     * without weight may have another, and becomes zeros. Not for a token budget.
     *
     * @param field the field
     * @param of the shapes of its samples
     */
    public StackAndPad shaped(String field, SampleShapes of) {
        return new StackAndPad(maxLength, Objects.requireNonNull(field, "field"), Objects.requireNonNull(of, "of"));
    }

    private boolean isShaped(TensorSpec field) {
        return field.name().equals(shaped);
    }

    /** {@return a collator that truncates nothing} */
    public static StackAndPad fields() {
        return new StackAndPad(Integer.MAX_VALUE, null, null);
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
        return new StackAndPad(maxLength, null, null);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Samples must have exactly one field of varying length, which the budget bounds.
     */
    @Override
    public SlabLayout layout(Dataset dataset, TokenBudget budget) {
        if (shaped != null) {
            throw new IllegalArgumentException("token budget: found '" + shaped + "', whose samples have shapes of"
                    + " their own, expected batches of one number of samples");
        }
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
        int bounded = -1;
        for (int f = 0; f < dataset.fields().size(); f++) {
            TensorSpec field = dataset.fields().get(f);
            if (isShaped(field)) {
                bounded = batched.size();
                batched.add(greatest(dataset, field, batchSize));
            } else if (field.isVariable()) {
                long longest = Math.min(Math.min(maxLength, mostLength), dataset.maxLength(f));
                batched.add(Stack.batched(field.withLength(longest), batchSize));
                batched.add(new TensorSpec(field.name() + LENGTHS_SUFFIX, DType.I32, batchSize));
            } else {
                batched.add(Stack.batched(field, batchSize));
            }
        }
        if (shapes == null) {
            return new SlabLayout(batched);
        }
        if (bounded < 0) {
            throw new IllegalArgumentException("found no field '" + shaped + "' in " + dataset.fields());
        }
        long most = shapes.shapes().stream().mapToLong(StackAndPad::elements).max().orElseThrow();
        return new SlabLayout(batched).bounded(bounded, most * batched.get(bounded).dtype().byteSize() * batchSize);
    }

    /** A batch of the greatest size of each dimension. */
    private TensorSpec greatest(Dataset dataset, TensorSpec field, int batchSize) {
        SampleShapes all = Objects.requireNonNull(shapes);
        if (!field.isVariable() || field.rank() != 1) {
            throw new IllegalArgumentException(field + ": found for samples of several shapes, expected values in a"
                    + " row, [*]");
        }
        if (all.size() != dataset.size()) {
            throw new IllegalArgumentException("'" + shaped + "': found the shapes of " + all.size()
                    + " samples, expected " + dataset.size() + ", those of the dataset");
        }
        long[] most = new long[all.shapes().getFirst().length + 1];
        most[0] = batchSize;
        for (long[] shape : all.shapes()) {
            if (shape.length != most.length - 1) {
                throw new IllegalArgumentException("'" + shaped + "': found shapes of " + shape.length + " and "
                        + (most.length - 1) + " dimensions, expected one number");
            }
            for (int d = 0; d < shape.length; d++) {
                most[d + 1] = Math.max(most[d + 1], shape[d]);
            }
        }
        return new TensorSpec(field.name(), field.dtype(), most);
    }

    private static long elements(long[] shape) {
        long elements = 1;
        for (long dim : shape) {
            elements *= dim;
        }
        return elements;
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        List<TensorSpec> fields = in.samples().fields();
        int b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            out.setDim(b, 0, plan.count());
            if (isShaped(fields.get(f))) {
                long[] shape = shape(plan);
                for (int d = 0; d < shape.length; d++) {
                    out.setDim(b, d + 1, shape[d]);
                }
            } else if (fields.get(f).isVariable()) {
                out.setDim(b, 1, longest(in, plan, f, fields.get(f).rowBytes()));
                out.setDim(++b, 0, plan.count());
            }
        }
        out.layOut();
        b = 0;
        for (int f = 0; f < fields.size(); f++, b++) {
            if (isShaped(fields.get(f))) {
                stackShaped(in, plan, f, out, b);
            } else if (fields.get(f).isVariable()) {
                pad(in, plan, f, out, b++);
            } else {
                in.copyAll(plan, f, out.segment(), out.offset(b));
            }
        }
    }

    /** The shape of the batch: that of its first sample. */
    private long[] shape(BatchPlan plan) {
        SampleShapes all = Objects.requireNonNull(shapes);
        return all.shapes().get(plan.count() == 0 ? 0 : all.shapeOf(plan.sample(0)));
    }

    private void stackShaped(BatchReader in, BatchPlan plan, int f, Slab out, int b) {
        SampleShapes all = Objects.requireNonNull(shapes);
        long sampleBytes = elements(shape(plan)) * in.samples().fields().get(f).dtype().byteSize();
        long at = out.offset(b);
        for (int i = 0; i < plan.count(); i++, at += sampleBytes) {
            if (all.shapeOf(plan.sample(i)) == all.shapeOf(plan.sample(0))) {
                Span value = in.locate(plan, i, f);
                if (value.byteSize() != sampleBytes) {
                    throw new IllegalStateException(in.samples().name(plan.sample(i)) + ": '" + shaped + "' has "
                            + value.byteSize() + " bytes, expected " + sampleBytes + " by its shape");
                }
                in.copyPart(value, 0, sampleBytes, out.segment(), at);
            } else if (i >= plan.valid()) {
                Integers.fill(out.segment(), at, DType.U8, sampleBytes, 0);
            } else {
                throw new IllegalStateException(in.samples().name(plan.sample(i)) + ": '" + shaped
                        + "' has another shape than the batch's first sample; order them by Sampler.bucketed, in groups"
                        + " of the samples of a step, and skip bad samples rather than replace them");
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
