// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.Arrays;

/**
 * Draws with replacement and probabilities proportional to weights: Walker's alias method with Vose's table ("A linear
 * algorithm for generating random numbers with a given distribution", 1991). It uses integers, so it is exact and the
 * same on every machine.
 */
final class WeightedSampler implements Sampler {

    /** Separates draws from permutations of the same seed. */
    private static final long TAG = 0x5745494748544544L;
    /** Weights are scaled to integers whose sum is near this. */
    private static final double SCALE = 0x1p52;

    private final long size;
    private final long seed;
    /** A draw of a place takes its own sample if the second word is below this share of 2^63, otherwise its alias. */
    private final long[] thresholds;
    private final int[] aliases;
    private final String weightsDigest;

    WeightedSampler(double[] weights, long size, long seed) {
        this.size = Positions.checkSize(size);
        this.seed = seed;
        this.weightsDigest = Sha256.hex(weights.length, i -> Double.doubleToLongBits(weights[(int) i]));
        int n = weights.length;
        long[] whole = wholeWeights(weights);
        long total = Arrays.stream(whole).sum();
        this.thresholds = new long[n];
        this.aliases = new int[n];
        fillTable(whole, total);
    }

    static double checkWeight(double weight) {
        if (!(weight >= 0 && weight <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("weight " + weight + ", expected a finite number from 0");
        }
        return weight;
    }

    /** Converts weights to integers: scales by a power of two, and rounds; a positive weight becomes at least 1. */
    static long[] wholeWeights(double[] weights) {
        double sum = 0;
        for (double weight : weights) {
            sum += checkWeight(weight);
        }
        if (!(sum > 0 && sum <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("the weights sum to " + sum + ", expected a positive, finite number");
        }
        int exponent = Math.getExponent(SCALE / sum);
        long[] whole = new long[weights.length];
        for (int i = 0; i < weights.length; i++) {
            whole[i] = weights[i] == 0 ? 0 : Math.max(1, Math.round(Math.scalb(weights[i], exponent)));
        }
        return whole;
    }

    /** Vose's two work lists share an array: places with too little at its start, places with too much at its end. */
    private void fillTable(long[] whole, long total) {
        int n = whole.length;
        // A place holds `total`; a sample contributes whole[i] * n. Both are below 2^53 * 2^31 and kept as two words.
        long[] high = new long[n];
        long[] low = new long[n];
        int[] work = new int[n];
        int small = 0;
        int large = n;
        for (int i = 0; i < n; i++) {
            high[i] = Math.multiplyHigh(whole[i], n);
            low[i] = whole[i] * n;
            if (less(high[i], low[i], total)) {
                work[small++] = i;
            } else {
                work[--large] = i;
            }
        }
        while (small > 0 && large < n) {
            int less = work[--small];
            int more = work[large++];
            thresholds[less] = share(low[less], total);
            aliases[less] = more;
            // What `more` gives to fill the place.
            long given = total - low[less];
            high[more] -= Long.compareUnsigned(low[more], given) < 0 ? 1 : 0;
            low[more] -= given;
            if (less(high[more], low[more], total)) {
                work[small++] = more;
            } else {
                work[--large] = more;
            }
        }
        while (large < n) {
            fillWhole(work[large++]);
        }
        while (small > 0) {
            fillWhole(work[--small]);
        }
    }

    private void fillWhole(int place) {
        thresholds[place] = Long.MAX_VALUE;
        aliases[place] = place;
    }

    private static boolean less(long high, long low, long total) {
        return high == 0 && Long.compareUnsigned(low, total) < 0;
    }

    /** floor(2^63 · part / total), for part below total. */
    private static long share(long part, long total) {
        long result = 0;
        long rest = part;
        for (int bit = 62; bit >= 0; bit--) {
            rest <<= 1;
            if (rest >= total) {
                rest -= total;
                result |= 1L << bit;
            }
        }
        return result;
    }

    /** Returns the threshold of 2^63 below which a draw of a place takes the place's own sample. */
    long threshold(int place) {
        return thresholds[place];
    }

    /** Returns the sample that the other draws of a place take. */
    int alias(int place) {
        return aliases[place];
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long datasetSize() {
        return thresholds.length;
    }

    @Override
    public long seed() {
        return seed;
    }

    @Override
    public Order epoch(long epoch) {
        long key = SplitMix64.key(seed, epoch, TAG);
        return new ComputedOrder(size, position -> {
            long word = SplitMix64.first(key + position);
            int place = (int) Math.unsignedMultiplyHigh(word, thresholds.length);
            return SplitMix64.first(word) >>> 1 < thresholds[place] ? place : aliases[place];
        });
    }

    @Override
    public String fingerprint() {
        return "weighted with replacement size=" + size + " of " + thresholds.length + ":"
                + weightsDigest + " seed=" + seed;
    }
}
