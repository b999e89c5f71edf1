package io.penstock.dataset.source;

import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The fields of one sample for a {@link SampleGenerator} to write: zeroed native memory. */
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
     * Returns a field by position.
     *
     * @param field the position in the dataset's fields
     * @return the tensor to write
     */
    public Tensor tensor(int field) {
        return tensors[field];
    }

    /**
     * Returns a field by name.
     *
     * @param field the name
     * @return the tensor to write
     * @throws IllegalArgumentException if the field does not exist
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
