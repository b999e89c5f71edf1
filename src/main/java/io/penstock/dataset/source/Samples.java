// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.memory.TensorSpec;
import java.util.List;
import java.util.Objects;

/**
 * Samples of named fields, addressed by an index from 0 to {@link #size}: what a reader of samples needs to know.
 * Implementations are immutable and thread-safe.
 */
public interface Samples {

    /** {@return the number of samples} */
    long size();

    /**
     * {@return the fields of every sample with their per-sample shapes: at least one, with unique names; the first
     * dimension may be {@linkplain TensorSpec#VARIABLE variable}}
     */
    List<TensorSpec> fields();

    /**
     * {@return the source of a field: how each sample's value is found or computed}
     *
     * @param field the field's position in {@link #fields}
     */
    FieldSource source(int field);

    /**
     * {@return a sample's name for messages: {@code sample 17}, or the store's own name for it}
     *
     * @param sample the sample's index
     */
    default String name(long sample) {
        return "sample " + sample;
    }

    /**
     * {@return what identifies a sample however the data grow, by which a dataset is split: the key or the file name of
     * a record that has one; the document of a window within documents; otherwise the index in the store}
     *
     * @param sample the sample's index
     * @throws IndexOutOfBoundsException if the sample does not exist
     * @throws UnsupportedOperationException if samples change when data are added, as packed sequences do
     */
    default String key(long sample) {
        return Long.toString(Objects.checkIndex(sample, size()));
    }
}
