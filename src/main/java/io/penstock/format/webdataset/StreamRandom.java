// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

/** SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014), whose state is one number. */
final class StreamRandom {

    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    StreamRandom(long state) {
        this.state = state;
    }

    static StreamRandom of(long seed, long epoch) {
        return new StreamRandom(mix(mix(seed) + epoch * GAMMA));
    }

    long state() {
        return state;
    }

    /** Returns a number from 0 to below the bound, each with a bias below 2^-32. */
    int nextInt(int bound) {
        state += GAMMA;
        return (int) ((mix(state) >>> 32) * bound >>> 32);
    }

    private static long mix(long value) {
        long z = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
