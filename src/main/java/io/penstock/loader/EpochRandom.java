// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.reading.SampleRandom;
import io.penstock.sampling.KeyedRandom;
import java.util.random.RandomGenerator;

/** One worker's random numbers for the epoch of its current batch. */
final class EpochRandom implements SampleRandom {

    private final long seed;
    private long epoch;
    private KeyedRandom random;

    EpochRandom(long seed) {
        this.seed = seed;
        this.random = new KeyedRandom(seed, epoch);
    }

    void epoch(long now) {
        if (now != epoch) {
            random = new KeyedRandom(seed, now);
            epoch = now;
        }
    }

    @Override
    public RandomGenerator of(long position, long step) {
        random.select(position, step);
        return random;
    }
}
