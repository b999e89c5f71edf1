// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.memory.Tensor;

/** The fields of one sample for a {@link SampleGenerator} to write: zeroed native memory. */
public interface SampleTensors {

    /**
     * {@return a field's tensor, to be written}
     *
     * @param field the position in the dataset's fields
     * @throws IllegalArgumentException if its length varies
     */
    Tensor tensor(int field);

    /**
     * {@return a field's tensor, to be written}
     *
     * @param field the name
     * @throws IllegalArgumentException if the field does not exist, or its length varies
     */
    Tensor tensor(String field);

    /**
     * {@return a field's tensor of a length, to be written} A field that is not asked for has length 0.
     *
     * @param field the name of a field whose length varies
     * @param length its first dimension in this sample
     * @throws IllegalArgumentException if the field does not exist or its length does not vary, or if the length is
     *     negative or above the greatest one that the dataset names
     */
    Tensor tensor(String field, long length);
}
