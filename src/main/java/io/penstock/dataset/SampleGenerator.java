package io.penstock.dataset;

import java.io.IOException;
import java.util.random.RandomGenerator;

/**
 * What code of a user makes samples from, in a loader's worker: their index, and chance. Called by all workers at the
 * same time: it must keep nothing, or keep it by thread.
 */
@FunctionalInterface
public interface SampleGenerator {

    /**
     * Makes a sample.
     *
     * @param sample its index in the dataset that was generated
     * @param random numbers of the loader's seed, the epoch, the sample's position in the epoch's order, and the
     *     generator's name: the same whatever the workers, ranks, batch size, and wherever a run was resumed, and
     *     others where the order gives the sample again; for this call alone. Where there is no order, as in filters
     *     and caches, drawing one throws
     * @param out where to, for this call alone
     * @throws IOException if the sample is bad: policies on bad samples hold for it, as for one that cannot be decoded
     */
    void generate(long sample, RandomGenerator random, SampleTensors out) throws IOException;
}
