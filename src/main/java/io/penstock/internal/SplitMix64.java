// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

/**
 * The SplitMix64 generator of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014),
 * with the finalizer of {@link java.util.SplittableRandom}: the source of round keys.
 */
public final class SplitMix64 {

    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    /** Creates a generator with this state. */
    public SplitMix64(long seed) {
        state = seed;
    }

    /** Sets the state. */
    public void seed(long seed) {
        state = seed;
    }

    /** Returns the next output. */
    public long next() {
        state += GAMMA;
        return mix(state);
    }

    /** Returns the first output of a generator with this state. */
    public static long first(long state) {
        return word(state, 0);
    }

    /** Returns an output of a generator with this state, by its number from 0. */
    public static long word(long state, long number) {
        return mix(state + (number + 1) * GAMMA);
    }

    /** Derives the key of one use of an epoch; {@code tag} distinguishes uses. */
    public static long key(long seed, long epoch, long tag) {
        return first(first(first(seed) + epoch) + tag);
    }

    private static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
