// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;

/** Draws with replacement and equal probabilities. */
record UniformSampler(long datasetSize, long size, long seed) implements Sampler {

    private static final long TAG = 0x554E49464F524DL;

    UniformSampler {
        Positions.checkSize(datasetSize);
        Positions.checkSize(size);
    }

    @Override
    public Order epoch(long epoch) {
        long key = SplitMix64.key(seed, epoch, TAG);
        return new ComputedOrder(size,
                position -> Math.unsignedMultiplyHigh(SplitMix64.first(key + position), datasetSize));
    }

    @Override
    public String fingerprint() {
        return "with replacement size=" + size + " of " + datasetSize + " seed=" + seed;
    }
}
