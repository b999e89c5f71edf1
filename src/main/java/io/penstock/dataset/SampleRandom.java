package io.penstock.dataset;

import java.util.random.RandomGenerator;

/** Random numbers by position and step, of the seed and the epoch at hand. */
@FunctionalInterface
public interface SampleRandom {

    /** None: where there is no order, there is no chance. */
    SampleRandom NONE = (_, _) -> () -> {
        throw new IllegalStateException("random numbers are for the batches of a loader, drawn by a sample's position "
                + "in its plan");
    };

    /**
     * The numbers of a key, from the first one on.
     *
     * @param position the sample's position in the epoch's order
     * @param step what draws, as {@link io.penstock.sampling.KeyedRandom#step} numbers it
     * @return a generator, for this thread, until the next call
     */
    RandomGenerator of(long position, long step);
}
