// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

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
}
