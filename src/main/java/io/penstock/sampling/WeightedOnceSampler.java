// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.Arrays;

/**
 * Draws without replacement, with probabilities proportional to the weights of the remaining samples: orders samples by
 * {@code -log(u) / weight}, u uniform (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006). The
 * logarithm uses integer arithmetic, so the order is the same on every machine.
 */
final class WeightedOnceSampler {

    private static final long TAG = 0x574F4E4345L;
    private static final int FRACTION_BITS = 40;

    static Sampler of(double[] chances, long size, long seed) {
        WeightedSampler.wholeWeights(chances);
        double[] weights = chances.clone();
        long positive = Arrays.stream(weights).filter(weight -> weight > 0).count();
        if (size < 1 || size > positive) {
            throw new IllegalArgumentException(size + " draws without replacement, expected 1 to the " + positive
                    + " samples of a positive weight");
        }
        String digest = Sha256.hex(weights.length, i -> Double.doubleToLongBits(weights[(int) i]));
        return new ComputedSampler(size, weights.length, seed, "weighted without replacement size=" + size + " of "
                + weights.length + ":" + digest + " seed=" + seed, epoch -> {
            int[] samples = order(weights, SplitMix64.key(seed, epoch, TAG));
            return new ComputedOrder(size, position -> samples[(int) position]);
        });
    }

    private static int[] order(double[] weights, long key) {
        // With a weight near 0 the key may overflow: the greatest double keeps it before those of weight 0.
        double[] keys = new double[weights.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = weights[i] == 0 ? Double.POSITIVE_INFINITY
                    : Math.min(Double.MAX_VALUE, (double) minusLog2(SplitMix64.first(key + i)) / weights[i]);
        }
        return sorted(keys);
    }

    /**
     * Computes {@code -log2((word + 1) / 2^64)} times 2^40, rounded down, bit by bit: squares the number, as a 64-bit
     * fraction from 1 to 2; whenever the square reaches 2 the bit is 1.
     */
    static long minusLog2(long word) {
        if (word == -1) {
            return 0;
        }
        long number = word + 1;
        int exponent = 63 - Long.numberOfLeadingZeros(number);
        long mantissa = number << 63 - exponent;
        long fraction = 0;
        for (int bit = 0; bit < FRACTION_BITS; bit++) {
            long high = Math.unsignedMultiplyHigh(mantissa, mantissa);
            fraction <<= 1;
            if (high < 0) {
                fraction |= 1;
                mantissa = high;
            } else {
                mantissa = high << 1;
            }
        }
        return ((long) (64 - exponent) << FRACTION_BITS) - fraction;
    }

    /** Sorts the indices by their keys, the lower index first for equal keys: merge sort, bottom up. */
    private static int[] sorted(double[] keys) {
        int n = keys.length;
        int[] from = new int[n];
        int[] to = new int[n];
        for (int i = 0; i < n; i++) {
            from[i] = i;
        }
        for (long width = 1; width < n; width *= 2) {
            for (long begin = 0; begin < n; begin += 2 * width) {
                int middle = (int) Math.min(n, begin + width);
                int end = (int) Math.min(n, begin + 2 * width);
                int left = (int) begin;
                int right = middle;
                for (int i = (int) begin; i < end; i++) {
                    boolean takeLeft = left < middle && (right == end || keys[from[left]] <= keys[from[right]]);
                    to[i] = takeLeft ? from[left++] : from[right++];
                }
            }
            int[] swap = from;
            from = to;
            to = swap;
        }
        return from;
    }
}
