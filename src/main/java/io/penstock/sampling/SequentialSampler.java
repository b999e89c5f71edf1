// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Position p is sample p, in every epoch; it is its own order. */
record SequentialSampler(long size) implements Sampler, Order {

    SequentialSampler {
        Positions.checkSize(size);
    }

    @Override
    public Order epoch(long epoch) {
        return this;
    }

    @Override
    public String fingerprint() {
        return "sequential size=" + size;
    }

    @Override
    public long at(long position) {
        Positions.check(position, size);
        return position;
    }
}
