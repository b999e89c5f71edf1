// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/** A loader whose throughput is known, on a machine whose speed drifts and whose rounds are noisy; time is counted. */
final class CostModel implements Workbench {

    static final long SLOT_BYTES = 1000;

    final List<SearchPoint> measured = new ArrayList<>();
    private final ToDoubleFunction<SearchPoint> rate;
    private final SplittableRandom random;
    private final double noise;
    private long now;
    private long interruptAt = Long.MAX_VALUE;

    CostModel(long seed, double noise, ToDoubleFunction<SearchPoint> rate) {
        this.random = new SplittableRandom(seed);
        this.noise = noise;
        this.rate = rate;
    }

    CostModel interruptAt(long nanos) {
        interruptAt = nanos;
        return this;
    }

    @Override
    public long memoryBytes(SearchPoint candidate) {
        return SLOT_BYTES * (candidate.prefetch() + Math.max(1, candidate.workers()) + 1);
    }

    @Override
    public Round measure(SearchPoint candidate, long nanos, long stepNanos) throws InterruptedException {
        if (now >= interruptAt) {
            throw new InterruptedException();
        }
        measured.add(candidate);
        double drift = 1 + 0.3 * Math.sin(now / 7e9);
        double samplesPerSecond = rate.applyAsDouble(candidate) * drift * Math.exp(noise * random.nextGaussian());
        now += nanos;
        double batchNanos = 1e9 / samplesPerSecond;
        long steps = Math.max(1, (long) (nanos / Math.max(batchNanos, stepNanos)));
        return new Round(stepNanos > 0 ? steps : Math.max(1, (long) (samplesPerSecond * nanos / 1e9)), steps, nanos,
                (long) (steps * Math.max(0, batchNanos - stepNanos)));
    }

    @Override
    public long nanoTime() {
        return now;
    }
}
