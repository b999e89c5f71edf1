// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.internal.Scratch;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * A cursor over samples for user code: fields as tensors, read on demand. One thread at a time; results are valid until
 * the next sample.
 */
public final class SampleView implements AutoCloseable {

    private final Dataset dataset;
    private final SampleReader reader;
    private final Scratch[] values;
    private long sample = -1;

    SampleView(Dataset dataset) {
        this.dataset = dataset;
        this.reader = new SampleReader(dataset, ReadMode.AUTO);
        this.values = Stream.generate(Scratch::new).limit(dataset.fields().size()).toArray(Scratch[]::new);
    }

    SampleView moveTo(long to) {
        sample = to;
        return this;
    }

    /** {@return the sample's index in the dataset} */
    public long index() {
        return sample;
    }

    /** {@return the dataset's name for the sample} */
    public String name() {
        return dataset.name(sample);
    }

    /**
     * Returns the length of a field along its first dimension, cheaper than its value if stored raw.
     *
     * @param field the field's name
     * @return the length; the first dimension of a fixed field, 1 for a scalar
     * @throws IllegalArgumentException if the field does not exist
     * @throws BadSampleException if the sample is corrupt or cannot be decoded
     */
    public long length(String field) {
        int f = dataset.indexOf(field);
        TensorSpec spec = dataset.fields().get(f);
        if (!spec.isVariable()) {
            return spec.rank() == 0 ? 1 : spec.dim(0);
        }
        return spec.rowBytes() == 0 ? 0 : reader.byteSize(sample, f) / spec.rowBytes();
    }

    /**
     * Returns a field's value, decoded if stored encoded.
     *
     * @param field the field's name
     * @return a copy, which the next sample overwrites
     * @throws IllegalArgumentException if the field does not exist
     * @throws BadSampleException if the sample is corrupt or cannot be decoded
     */
    public Tensor tensor(String field) {
        int f = dataset.indexOf(field);
        TensorSpec spec = dataset.fields().get(f);
        Span span = reader.locate(sample, f);
        long bytes = span.byteSize();
        MemorySegment value = values[f].of(bytes).asSlice(0, bytes);
        reader.copyPart(span, 0, bytes, value, 0);
        long[] shape = spec.shape();
        if (spec.isVariable()) {
            shape[0] = spec.rowBytes() == 0 ? 0 : bytes / spec.rowBytes();
        }
        return Tensor.of(value, spec.dtype(), shape);
    }

    /** Frees the memory of the values. Calling it again does nothing. */
    @Override
    public void close() {
        for (Scratch value : values) {
            value.close();
        }
        reader.close();
    }
}
