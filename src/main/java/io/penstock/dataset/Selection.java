package io.penstock.dataset;

import io.penstock.memory.PrefixSums;

/**
 * An ascending choice of indices, kept as a bit for each that could be chosen and a count for each {@value #BLOCK_BITS}
 * bits: the n-th is found by a binary search and a scan of one block.
 */
final class Selection {

    private static final int BLOCK_WORDS = 64;
    static final int BLOCK_BITS = BLOCK_WORDS * Long.SIZE;

    private final long[] words;
    /** How many are chosen in each block. */
    private final PrefixSums blocks;

    /** A bit for each index, the lowest first; taken over. */
    Selection(long[] words) {
        this.words = words;
        this.blocks = PrefixSums.ofLengths(Math.ceilDiv(words.length, BLOCK_WORDS), block -> {
            long count = 0;
            for (int w = block * BLOCK_WORDS; w < Math.min(words.length, (block + 1) * BLOCK_WORDS); w++) {
                count += Long.bitCount(words[w]);
            }
            return count;
        });
    }

    /** Takes what is chosen. */
    static final class Builder {

        private final long[] words;

        /** Nothing yet of indices below {@code limit}. */
        Builder(long limit) {
            words = new long[Math.toIntExact(Math.ceilDiv(limit, Long.SIZE))];
        }

        void add(long index) {
            words[(int) (index / Long.SIZE)] |= 1L << index;
        }

        Selection build() {
            return new Selection(words);
        }
    }

    /** A bit for each index that could be chosen; not to be written. */
    long[] words() {
        return words;
    }

    /** How many are chosen. */
    long size() {
        return blocks.total();
    }

    /** The n-th that is chosen. */
    long get(long n) {
        int block = blocks.runOf(n);
        long rest = n - blocks.start(block);
        int word = block * BLOCK_WORDS;
        while (rest >= Long.bitCount(words[word])) {
            rest -= Long.bitCount(words[word++]);
        }
        long bits = words[word];
        for (; rest > 0; rest--) {
            bits &= bits - 1;
        }
        return (long) word * Long.SIZE + Long.numberOfTrailingZeros(bits);
    }
}
