// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;

/** Chosen samples, in the order of another sampler over the choice. */
final class SubsetSampler implements Sampler {

    private final long[] samples;
    private final long datasetSize;
    private final Sampler order;

    SubsetSampler(long[] samples, long datasetSize, Sampler order) {
        if (order.datasetSize() != samples.length) {
            throw new IllegalArgumentException("the order has " + order.datasetSize() + " samples, expected the "
                    + samples.length + " chosen ones");
        }
        for (long sample : samples) {
            Positions.check(sample, datasetSize);
        }
        this.samples = samples.clone();
        this.datasetSize = Positions.checkSize(datasetSize);
        this.order = order;
    }

    @Override
    public long size() {
        return order.size();
    }

    @Override
    public long datasetSize() {
        return datasetSize;
    }

    @Override
    public long seed() {
        return order.seed();
    }

    @Override
    public long augmentationSeed() {
        return order.augmentationSeed();
    }

    @Override
    public long epochs() {
        return order.epochs();
    }

    @Override
    public Order epoch(long epoch) {
        Order places = order.epoch(epoch);
        return new ComputedOrder(places.size(), position -> samples[(int) places.at(position)]);
    }

    @Override
    public String fingerprint() {
        return "subset of " + datasetSize + ":" + Sha256.hex(samples.length, i -> samples[(int) i]) + " by ["
                + order.fingerprint() + "]";
    }
}
