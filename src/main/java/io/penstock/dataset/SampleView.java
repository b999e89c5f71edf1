package io.penstock.dataset;

import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.Scratch;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/**
 * One sample after the other, as code of users looks at them: its fields as tensors, read only when they are asked for.
 * One thread at a time; what it gives is valid until the next sample.
 */
public final class SampleView implements AutoCloseable {

    private final Dataset dataset;
    private final SampleReader reader;
    private final Scratch[] values;
    private long sample = -1;

    SampleView(Dataset dataset) {
        this.dataset = dataset;
        this.reader = new SampleReader(dataset, ReadMode.AUTO);
        this.values = new Scratch[dataset.fields().size()];
        for (int f = 0; f < values.length; f++) {
            values[f] = new Scratch();
        }
    }

    SampleView moveTo(long to) {
        sample = to;
        return this;
    }

    /**
     * Which sample it is.
     *
     * @return its index in the dataset
     */
    public long index() {
        return sample;
    }

    /**
     * What users call it.
     *
     * @return the dataset's name for it
     */
    public String name() {
        return dataset.name(sample);
    }

    /**
     * How long a field is along its first dimension: cheaper than its value where that is stored as it is.
     *
     * @param field the field's name
     * @return the length; of a fixed field its first dimension, 1 of a single value
     * @throws IllegalArgumentException if there is no such field
     * @throws BadSampleException if the sample is damaged or cannot be decoded
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
     * A field's value, decoded where it is stored encoded.
     *
     * @param field the field's name
     * @return a copy of its own, which the next sample overwrites
     * @throws IllegalArgumentException if there is no such field
     * @throws BadSampleException if the sample is damaged or cannot be decoded
     */
    public Tensor tensor(String field) {
        int f = dataset.indexOf(field);
        TensorSpec spec = dataset.fields().get(f);
        Span span = reader.locate(sample, f);
        long bytes = span.byteSize();
        MemorySegment value = values[f].of(bytes).asSlice(0, bytes);
        reader.copyPart(0, bytes, value, 0);
        long[] shape = spec.shape();
        if (spec.isVariable()) {
            shape[0] = spec.rowBytes() == 0 ? 0 : bytes / spec.rowBytes();
        }
        return Tensor.of(value, spec.dtype(), shape);
    }

    /** Frees the memory that values are in. Calling it again does nothing. */
    @Override
    public void close() {
        for (Scratch value : values) {
            value.close();
        }
        reader.close();
    }
}
