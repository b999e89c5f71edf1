// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.memory.Tensor;
import java.io.IOException;
import java.util.random.RandomGenerator;

/**
 * User code that generates samples in a loader's workers from an index and random numbers. All workers call it
 * concurrently: it must be stateless or keep its state per thread.
 */
@FunctionalInterface
public interface SampleGenerator {

    /**
     * Generates a sample.
     *
     * @param sample its index in the generated dataset
     * @param random random numbers for this call only, keyed by the loader's seed, the epoch, the sample's position in
     *     the epoch's order and the generator's name: the same for any workers, ranks, batch size and resume point, but
     *     different if the sample repeats. Without an order, as in filters and caches, drawing throws
     * @param out the fields to write, for this call only
     * @throws IOException if the sample is bad; the bad-sample policy then applies
     */
    void generate(long sample, RandomGenerator random, SampleTensors out) throws IOException;

    /** The fields of one sample for a {@link SampleGenerator} to write: zeroed native memory. */
    interface SampleTensors {

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
}
