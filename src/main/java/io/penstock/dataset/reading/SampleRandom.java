// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import java.util.random.RandomGenerator;

/** Random numbers by position and step, for the current seed and epoch. */
@FunctionalInterface
public interface SampleRandom {

    /** None: without an order there are no random numbers. */
    SampleRandom NONE = (_, _) -> () -> {
        throw new IllegalStateException("random numbers are for the batches of a loader, drawn by a sample's position "
                + "in its plan");
    };

    /**
     * Returns the random numbers of a position in the epoch's order, from the first. The step is {@link
     * io.penstock.sampling.KeyedRandom#step}'s; the generator is valid for this thread, until the next call.
     */
    RandomGenerator of(long position, long step);
}
