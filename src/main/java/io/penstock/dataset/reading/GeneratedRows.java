// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleGenerator.SampleTensors;
import io.penstock.error.PenstockException;
import io.penstock.internal.Scratch;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * One worker's generated samples, a row each of the current batch, so collators can go field by field while user code
 * runs once per sample. Of samples with one field of a fixed shape, which is read once, only the last is kept. For one
 * thread.
 */
final class GeneratedRows implements AutoCloseable {

    private static final int ALIGNMENT_BYTES = 64;
    /** An epoch that no row has. */
    private static final long NOTHING = Long.MIN_VALUE;

    private final FieldSource.Generated source;
    private final ReadContext context;
    private final long step;
    private final boolean keepsOne;
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
        this.keepsOne = source.fields().size() == 1 && !source.fields().getFirst().isVariable();
        this.offsets = new long[source.fields().size() + 1];
        for (int f = 0; f < source.fields().size(); f++) {
            offsets[f + 1] = Math.ceilDiv(offsets[f] + mostBytes(source.fields().get(f)), ALIGNMENT_BYTES)
                    * (long) ALIGNMENT_BYTES;
        }
    }

    private long mostBytes(TensorSpec field) {
        return field.isVariable() ? Math.multiplyExact(source.maxLength(), field.rowBytes()) : field.byteSize();
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
        int row = keepsOne ? 0 : context.row();
        if (row >= rows.length) {
            grow(keepsOne ? 1 : context.rows());
        }
        if (epochs[row] != context.epoch() || positions[row] != context.position() || samples[row] != sample) {
            make(sample, row);
        }
        into.set(memory.of(0), row * rowBytes() + offsets[field], rows[row].byteSize(field));
    }

    private long rowBytes() {
        return offsets[offsets.length - 1];
    }

    private void make(long sample, int row) {
        epochs[row] = NOTHING;
        rows[row].clear();
        long begin = context.clock.now();
        try {
            source.generator().generate(sample, context.chance(step), rows[row]);
        } catch (IOException | PenstockException e) {
            throw context.bad(null, e);
        } catch (RuntimeException e) {
            throw context.failed(null, "generator '" + source.name() + "'", e);
        }
        for (int f = 0; f < source.fields().size(); f++) {
            if (source.fields().get(f).dtype() == DType.BOOL) {
                TruthValues.normalize(memory.of(0), row * rowBytes() + offsets[f], rows[row].byteSize(f));
            }
        }
        context.clock.transformedSince(begin, context.sample());
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
            rows[row] = new Row(grown.asSlice(row * rowBytes(), rowBytes()));
        }
    }

    /** One sample as its generator sees it. */
    private final class Row implements SampleTensors {

        private final MemorySegment bytes;
        /** What each field has; of a field whose length varies, the last sample's. */
        private final Tensor[] tensors = new Tensor[source.fields().size()];
        private final Tensor[] none = new Tensor[tensors.length];

        Row(MemorySegment bytes) {
            this.bytes = bytes;
            for (int f = 0; f < tensors.length; f++) {
                TensorSpec spec = source.fields().get(f);
                none[f] = of(f, spec.isVariable() ? spec.withLength(0) : spec);
            }
        }

        private Tensor of(int f, TensorSpec spec) {
            return Tensor.of(bytes.asSlice(offsets[f], spec.byteSize()), spec.dtype(), spec.shape());
        }

        void clear() {
            for (int f = 0; f < tensors.length; f++) {
                tensors[f] = none[f];
                none[f].segment().fill((byte) 0);
            }
        }

        long byteSize(int field) {
            return tensors[field].segment().byteSize();
        }

        @Override
        public Tensor tensor(int field) {
            if (source.fields().get(field).isVariable()) {
                throw new IllegalArgumentException(source.fields().get(field) + ": its length varies, say it by"
                        + " tensor(field, length)");
            }
            return tensors[field];
        }

        @Override
        public Tensor tensor(String field) {
            return tensor(indexOf(field));
        }

        @Override
        public Tensor tensor(String field, long length) {
            int f = indexOf(field);
            TensorSpec spec = source.fields().get(f);
            if (!spec.isVariable() || length < 0 || length > source.maxLength()) {
                throw new IllegalArgumentException(spec + ": found length " + length + ", expected "
                        + (spec.isVariable() ? "0 to " + source.maxLength() : "a field whose length varies"));
            }
            tensors[f] = of(f, spec.withLength(length));
            tensors[f].segment().fill((byte) 0);
            return tensors[f];
        }

        private int indexOf(String field) {
            for (int f = 0; f < tensors.length; f++) {
                if (source.fields().get(f).name().equals(field)) {
                    return f;
                }
            }
            throw new IllegalArgumentException("no field '" + field + "', found " + source.fields());
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
