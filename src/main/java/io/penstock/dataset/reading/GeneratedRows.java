// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleTensors;
import io.penstock.internal.Scratch;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * One worker's generated samples, a row each of the current batch, so collators can go field by field while user code
 * runs once per sample. For samples with one field only the last is kept. For one thread.
 */
final class GeneratedRows implements AutoCloseable {

    private static final int ALIGNMENT_BYTES = 64;
    /** An epoch that no row has. */
    private static final long NOTHING = Long.MIN_VALUE;

    private final FieldSource.Generated source;
    private final ReadContext context;
    private final long step;
    /** Each field's offset in a row, and the row size. */
    private final long[] offsets;
    private final Scratch memory = new Scratch();
    private Row[] rows = {};
    /** Each row's sample, position and epoch. */
    private long[] samples = {};
    private long[] positions = {};
    private long[] epochs = {};

    GeneratedRows(FieldSource.Generated source, ReadContext context) {
        this.source = source;
        this.context = context;
        this.step = KeyedRandom.step(source.name());
        this.offsets = new long[source.fields().size() + 1];
        for (int f = 0; f < source.fields().size(); f++) {
            offsets[f + 1] = Math.ceilDiv(offsets[f] + source.fields().get(f).byteSize(), ALIGNMENT_BYTES)
                    * (long) ALIGNMENT_BYTES;
        }
    }

    /** Tells whether these samples belong to a source's generator. */
    boolean isOf(FieldSource.Generated other) {
        return source.generator() == other.generator() && source.fields().equals(other.fields())
                && source.name().equals(other.name());
    }

    /** Forgets all samples, so they are generated again. */
    void forget() {
        Arrays.fill(epochs, NOTHING);
    }

    /** Locates a field of the context's sample, given the generator's index. */
    void locate(long sample, int field, Span into) {
        boolean keepsOne = source.fields().size() == 1;
        int row = keepsOne ? 0 : context.row();
        if (row >= rows.length) {
            grow(keepsOne ? 1 : context.rows());
        }
        if (epochs[row] != context.epoch() || positions[row] != context.position() || samples[row] != sample) {
            make(sample, row);
        }
        into.set(memory.of(0), row * rowBytes() + offsets[field], source.fields().get(field).byteSize());
    }

    private long rowBytes() {
        return offsets[offsets.length - 1];
    }

    private void make(long sample, int row) {
        epochs[row] = NOTHING;
        rows[row].bytes.fill((byte) 0);
        long begin = context.clock.now();
        try {
            source.generator().generate(sample, context.chance(step), rows[row]);
        } catch (IOException e) {
            throw context.bad(null, e);
        } catch (RuntimeException e) {
            throw context.failed(null, "generator '" + source.name() + "'", e);
        }
        for (int f = 0; f < source.fields().size(); f++) {
            TensorSpec spec = source.fields().get(f);
            if (spec.dtype() == DType.BOOL) {
                TruthValues.normalize(memory.of(0), row * rowBytes() + offsets[f], spec.byteSize());
            }
        }
        context.clock.transformedSince(begin);
        samples[row] = sample;
        positions[row] = context.position();
        epochs[row] = context.epoch();
    }

    private void grow(int count) {
        MemorySegment grown = memory.of(count * rowBytes());
        rows = new Row[count];
        samples = new long[count];
        positions = new long[count];
        epochs = new long[count];
        forget();
        for (int row = 0; row < count; row++) {
            Tensor[] tensors = new Tensor[source.fields().size()];
            for (int f = 0; f < tensors.length; f++) {
                TensorSpec spec = source.fields().get(f);
                tensors[f] = Tensor.of(grown.asSlice(row * rowBytes() + offsets[f], spec.byteSize()), spec.dtype(),
                        spec.shape());
            }
            rows[row] = new Row(source.fields(), tensors, grown.asSlice(row * rowBytes(), rowBytes()));
        }
    }

    private record Row(List<TensorSpec> fields, Tensor[] tensors, MemorySegment bytes) implements SampleTensors {

        @Override
        public Tensor tensor(int field) {
            return tensors[field];
        }

        @Override
        public Tensor tensor(String field) {
            for (int f = 0; f < tensors.length; f++) {
                if (fields.get(f).name().equals(field)) {
                    return tensors[f];
                }
            }
            throw new IllegalArgumentException("no field '" + field + "', found " + fields);
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
