// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

/**
 * Assigns values to the buckets of a histogram.
 *
 * <ul>
 *   <li>Ids: one bucket for each id below {@value #EXACT_IDS}; all others, negative ones too, share as many buckets by
 *       multiplicative hashing (Knuth, "The Art of Computer Programming", vol. 3, section 6.4). So classes and bytes
 *       are exact, and so are the frequent ids of a tokenizer that numbers its merges by frequency.
 *   <li>Lengths: one bucket each below 16, then eight per octave: at most 12.5 % wide.
 * </ul>
 */
final class Buckets {

    static final int EXACT_IDS = 1024;
    static final int IDS = 2 * EXACT_IDS;
    /** 2^64 over the golden ratio. */
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = Long.SIZE - 10;
    private static final int OCTAVE_BITS = 3;
    static final int LENGTHS = (Long.SIZE - OCTAVE_BITS) << OCTAVE_BITS;

    /** Computes both sides, which are cheap, to avoid a branch that would be mispredicted every other time. */
    static int ofId(long id) {
        return (id & -EXACT_IDS) == 0 ? (int) id : EXACT_IDS + (int) (id * GOLDEN >>> HASH_SHIFT);
    }

    static int ofLength(long length) {
        if (length < 1 << OCTAVE_BITS) {
            return (int) Math.max(0, length);
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(length) - OCTAVE_BITS;
        return (shift << OCTAVE_BITS) + (int) (length >>> shift);
    }

    /** A bucket's name: the id, or the range of lengths. */
    static String name(FieldKind kind, int bucket) {
        if (kind == FieldKind.IDS) {
            return bucket < EXACT_IDS ? "id " + bucket : "ids of hash " + (bucket - EXACT_IDS);
        }
        int shift = Math.max(0, (bucket >> OCTAVE_BITS) - 1);
        long least = (long) (bucket - (shift << OCTAVE_BITS)) << shift;
        return shift == 0 ? "length " + least : "lengths " + least + " to " + (least + (1L << shift) - 1);
    }

    /** The finalizer of SplitMix64: every bit of the result depends on every bit of the value. */
    static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
