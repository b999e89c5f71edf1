// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;

/**
 * Draws every class equally often: each round draws every class once, in an order that rotates from round to round.
 * Each class's samples are shuffled, and reshuffled once all were drawn; draws continue from epoch to epoch.
 */
final class BalancedSampler {

    private static final long TAG = 0x42414C414E4345L;

    static Sampler of(int[] classes, long size, long seed) {
        Positions.checkSize(size);
        ClassSamples samples = new ClassSamples(classes);
        OrderCache[] orders = samples.shuffled(seed);
        long turnKey = SplitMix64.first(SplitMix64.first(seed) + TAG);
        return new ComputedSampler(size, samples.total(), seed, Positions.wholeEpochs(size),
                "balanced size=" + size + " " + samples + " seed=" + seed, epoch -> {
            long before = Math.multiplyExact(epoch, size);
            return new ComputedOrder(size, position -> {
                long draw = Math.addExact(before, position);
                long round = draw / orders.length;
                long turn = Math.unsignedMultiplyHigh(SplitMix64.first(turnKey + round), orders.length);
                int c = (int) ((draw - round * orders.length + turn) % orders.length);
                long n = samples.size(c);
                return samples.sample(c, orders[c].of(round / n).at(round % n));
            });
        });
    }
}
