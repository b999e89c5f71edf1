// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;

/** Batches of samples that a test chooses. */
public final class Plans {

    private Plans() {
    }

    private record Listed(long... samples) implements Sampler, Order {

        @Override
        public long size() {
            return samples.length;
        }

        @Override
        public Order epoch(long epoch) {
            return this;
        }

        @Override
        public long at(long position) {
            return samples[Math.toIntExact(position)];
        }

        @Override
        public String fingerprint() {
            return "listed";
        }
    }

    /** A batch of just these samples. */
    public static BatchPlan of(long... samples) {
        var plan = new BatchPlan(samples.length);
        BatchSampler.of(new Listed(samples), samples.length, new Shard(0, 1, TailPolicy.PAD)).plan(0, plan);
        return plan;
    }
}
