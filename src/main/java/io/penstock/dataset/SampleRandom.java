package io.penstock.dataset;

import java.util.random.RandomGenerator;

/** Random numbers by sample and operation, of the seed and the epoch at hand. */
@FunctionalInterface
public interface SampleRandom {

    /** None: where there is no epoch, there is no chance. */
    SampleRandom NONE = (sample, operation) -> () -> {
        throw new IllegalStateException("sample " + sample + ", operation " + operation
                + ": random numbers are for the batches of a loader");
    };

    /**
     * The numbers of a key, from the first one on.
     *
     * @param sample the sample's index
     * @param operation what draws
     * @return a generator, for this thread, until the next call
     */
    RandomGenerator of(long sample, long operation);
}
