// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.function.LongFunction;

/** A sampler whose orders a function computes. */
record ComputedSampler(long size, long datasetSize, long seed, long epochs, String fingerprint,
        LongFunction<Order> orders) implements Sampler {

    /** Checks the size. */
    ComputedSampler {
        Positions.checkSize(size);
    }

    ComputedSampler(long size, long datasetSize, long seed, String fingerprint, LongFunction<Order> orders) {
        this(size, datasetSize, seed, Sampler.MAX_SIZE, fingerprint, orders);
    }

    @Override
    public Order epoch(long epoch) {
        return orders.apply(epoch);
    }
}
