package io.penstock.dataset;

import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The fields of one sample, for a {@link SampleGenerator} to write: native memory, zeros until it is written. */
public final class SampleTensors {

    private final List<TensorSpec> fields;
    private final Tensor[] tensors;

    private final MemorySegment all;

    SampleTensors(List<TensorSpec> fields, Tensor[] tensors, MemorySegment all) {
        this.fields = fields;
        this.tensors = tensors;
        this.all = all;
    }

    void clear() {
        all.fill((byte) 0);
    }

    /**
     * A field by its position.
     *
     * @param field the position in the dataset's fields
     * @return what to write
     */
    public Tensor tensor(int field) {
        return tensors[field];
    }

    /**
     * A field by its name.
     *
     * @param field the name
     * @return what to write
     * @throws IllegalArgumentException if there is no such field
     */
    public Tensor tensor(String field) {
        for (int f = 0; f < tensors.length; f++) {
            if (fields.get(f).name().equals(field)) {
                return tensors[f];
            }
        }
        throw new IllegalArgumentException("no field '" + field + "', found " + fields);
    }
}
