// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.memory.Tensor;

/** The fields of one sample for a {@link SampleGenerator} to write: zeroed native memory. */
public interface SampleTensors {

    /**
     * {@return a field's tensor, to be written}
     *
     * @param field the position in the dataset's fields
     */
    Tensor tensor(int field);

    /**
     * {@return a field's tensor, to be written}
     *
     * @param field the name
     * @throws IllegalArgumentException if the field does not exist
     */
    Tensor tensor(String field);
}
