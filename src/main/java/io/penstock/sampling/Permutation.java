// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;
import java.util.List;

/**
 * A keyed permutation of {@code 0 … size-1} without an array: any position of a shuffled epoch is computed from the
 * seed, the epoch and the position alone.
 *
 * <p>It is the generalized Feistel cipher of Black and Rogaway, "Ciphers with Arbitrary Finite Domains" (CT-RSA 2002).
 * A number {@code m = y·a + x} is split into halves {@code x < a} and {@code y < b}, where {@code a} is about the
 * square root of the size and {@code a·b} just covers it. Each of eight rounds adds to one half, modulo its range, a
 * mix of the other half and a round key. A subtraction undoes each round, so the whole is a permutation of
 * {@code 0 … a·b-1} for any mix. A result outside {@code 0 … size-1} goes through the rounds again until one falls
 * inside (cycle walking), which keeps it a permutation. From 1,024 samples on, {@code a·b} exceeds the size by less
 * than {@code a}, so fewer than one in {@code a} numbers is walked. Below that the 1,024 numbers of the smallest grid
 * are walked, since rounds over a handful of values mix badly.
 *
 * <p>Not for cryptography. {@code docs/spec/permutation.md} specifies every bit for ports. Immutable and thread-safe.
 */
public final class Permutation implements Order {

    /** The least width of each half: see the class comment. */
    private static final long MIN_SIDE = 32;

    /** Positions in a block that goes through the rounds together; it fits in the L1 cache. */
    private static final int BLOCK = 256;

    /** One per thread, because threads share orders and {@link #fill} allocates nothing. */
    private static final ThreadLocal<Halves> HALVES = ThreadLocal.withInitial(Halves::new);

    // The multipliers of MurmurHash3's 64-bit finalizer: odd, and searched for their avalanche.
    private static final long MIX_1 = 0xFF51AFD7ED558CCDL;
    private static final long MIX_2 = 0xC4CEB9FE1A85EC53L;

    private final long size;
    private final long a;
    private final long b;
    private final long key0;
    private final long key1;
    private final long key2;
    private final long key3;
    private final long key4;
    private final long key5;
    private final long key6;
    private final long key7;

    /**
     * The permutation of one epoch.
     *
     * @param size how many numbers it permutes, 1 to 2^62
     * @param seed any 64 bits
     * @param epoch any number; each epoch of a seed has its own permutation
     * @throws IllegalArgumentException if the size is outside its range
     */
    public Permutation(long size, long seed, long epoch) {
        this.size = Positions.checkSize(size);
        a = Math.max(MIN_SIDE, ceilSqrt(size));
        b = Math.max(MIN_SIDE, Math.ceilDiv(size, a));
        SplitMix64 keys = new SplitMix64(SplitMix64.first(SplitMix64.first(seed) + epoch));
        key0 = keys.next();
        key1 = keys.next();
        key2 = keys.next();
        key3 = keys.next();
        key4 = keys.next();
        key5 = keys.next();
        key6 = keys.next();
        key7 = keys.next();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long at(long position) {
        Positions.check(position, size);
        long y = position / a;
        return encipher(position - y * a, y);
    }

    /**
     * {@return the position of a sample: the inverse of {@link #at}}
     *
     * @param sample from 0 up to, not including, {@link #size()}
     * @throws IndexOutOfBoundsException if the sample is outside that range
     */
    public long positionOf(long sample) {
        Positions.check(sample, size);
        long y = sample / a;
        long x = sample - y * a;
        do {
            y = minus(y, mix(x ^ key7, b), b);
            x = minus(x, mix(y ^ key6, a), a);
            y = minus(y, mix(x ^ key5, b), b);
            x = minus(x, mix(y ^ key4, a), a);
            y = minus(y, mix(x ^ key3, b), b);
            x = minus(x, mix(y ^ key2, a), a);
            y = minus(y, mix(x ^ key1, b), b);
            x = minus(x, mix(y ^ key0, a), a);
        } while (y * a + x >= size);
        return y * a + x;
    }

    /**
     * {@inheritDoc}
     *
     * <p>A block of positions goes through the rounds together, one loop for each half round. The rounds of one
     * position depend on each other, but those of neighbors do not, so the CPU overlaps them. With 512-bit vectors this
     * takes a third of the time of {@link #at}.
     */
    @Override
    public void fill(long first, long stride, int count, long[] into) {
        Positions.check(first, stride, count, into.length, size);
        Halves halves = HALVES.get();
        int[] lower = halves.lower;
        int[] upper = halves.upper;
        long strideY = stride / a;
        long strideX = stride - strideY * a;
        long y = first / a;
        long x = first - y * a;
        for (int from = 0; from < count; from += BLOCK) {
            int block = Math.min(BLOCK, count - from);
            for (int i = 0; i < block; i++) {
                lower[i] = (int) x;
                upper[i] = (int) y;
                x += strideX;
                y += strideY;
                if (x >= a) {
                    x -= a;
                    y++;
                }
            }
            halves.rounds(block, this);
            for (int i = 0; i < block; i++) {
                long m = upper[i] * a + lower[i];
                into[from + i] = m < size ? m : encipher(lower[i], upper[i]);
            }
        }
    }

    /**
     * A thread's halves of a block. HotSpot vectorizes these loops only if they are short enough to unroll, and if
     * halves and mixes are arrays of different types (otherwise they might alias). Ranges are at most 2^31, so a half
     * fits an {@code int}, and so does a value from {@code -range} to it.
     */
    private static final class Halves {

        final int[] lower = new int[BLOCK];
        final int[] upper = new int[BLOCK];
        private final long[] mixed = new long[BLOCK];

        void rounds(int count, Permutation p) {
            round(lower, p.a, upper, p.key0, count);
            round(upper, p.b, lower, p.key1, count);
            round(lower, p.a, upper, p.key2, count);
            round(upper, p.b, lower, p.key3, count);
            round(lower, p.a, upper, p.key4, count);
            round(upper, p.b, lower, p.key5, count);
            round(lower, p.a, upper, p.key6, count);
            round(upper, p.b, lower, p.key7, count);
        }

        /** Adds a mix of the other half to one half. */
        private void round(int[] half, long range, int[] other, long key, int count) {
            multiply(other, key, mixed, count);
            scaleAndAdd(mixed, range, half, count);
        }

        private static void multiply(int[] half, long key, long[] mixed, int count) {
            for (int i = 0; i < count; i++) {
                long z = (half[i] ^ key) * MIX_1;
                mixed[i] = (z ^ z >>> 32) * MIX_2;
            }
        }

        /** Computes the high half of the product with a 32-bit range from two products that vector units support. */
        private static void scaleAndAdd(long[] mixed, long range, int[] half, int count) {
            int below = (int) range;
            for (int i = 0; i < count; i++) {
                long z = mixed[i];
                long f = (z >>> 32) * range + ((z & 0xFFFF_FFFFL) * range >>> 32) >>> 32;
                int sum = half[i] - below + (int) f;
                half[i] = sum + (below & sum >> 31);
            }
        }
    }

    private long encipher(long x, long y) {
        long a = this.a;
        long b = this.b;
        long m;
        do {
            x = plus(x, mix(y ^ key0, a), a);
            y = plus(y, mix(x ^ key1, b), b);
            x = plus(x, mix(y ^ key2, a), a);
            y = plus(y, mix(x ^ key3, b), b);
            x = plus(x, mix(y ^ key4, a), a);
            y = plus(y, mix(x ^ key5, b), b);
            x = plus(x, mix(y ^ key6, a), a);
            y = plus(y, mix(x ^ key7, b), b);
            m = y * a + x;
        } while (m >= size);
        return m;
    }

    /** Spreads 64 bits over {@code 0 … range-1}: multiply, fold, multiply, then scale by the high half of a product. */
    private static long mix(long z, long range) {
        z *= MIX_1;
        z ^= z >>> 32;
        z *= MIX_2;
        return Math.unsignedMultiplyHigh(z, range);
    }

    /**
     * {@code (half + f) mod range}, both operands below the range; branch-free, because no branch here is predictable.
     */
    private static long plus(long half, long f, long range) {
        long sum = half - range + f;
        return sum + (range & (sum >> 63));
    }

    /** {@code (half - f) mod range}, likewise. */
    private static long minus(long half, long f, long range) {
        long difference = half - f;
        return difference + (range & (difference >> 63));
    }

    /** The range of the lower half. */
    long a() {
        return a;
    }

    /** The range of the upper half. */
    long b() {
        return b;
    }

    List<Long> keys() {
        return List.of(key0, key1, key2, key3, key4, key5, key6, key7);
    }

    private static long ceilSqrt(long n) {
        long root = (long) Math.sqrt((double) n);
        while (root * root < n) {
            root++;
        }
        while ((root - 1) * (root - 1) >= n) {
            root--;
        }
        return root;
    }
}
