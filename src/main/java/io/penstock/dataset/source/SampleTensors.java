// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.memory.Tensor;

/** The fields of one sample for a {@link SampleGenerator} to write: zeroed native memory. */
public interface SampleTensors {

    /**
     * Returns a field by position.
     *
     * @param field the position in the dataset's fields
     * @return the tensor to write
     */
    Tensor tensor(int field);

    /**
     * Returns a field by name.
     *
     * @param field the name
     * @return the tensor to write
     * @throws IllegalArgumentException if the field does not exist
     */
    Tensor tensor(String field);
}
