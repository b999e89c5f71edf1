// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.internal.PrefixSums;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;

/**
 * An ascending selection of indices: one bit per index and a count per {@value #BLOCK_BITS} bits. A binary search and a
 * scan of one block find the n-th.
 */
final class Selection {

    private static final int BLOCK_WORDS = 64;
    static final int BLOCK_BITS = BLOCK_WORDS * Long.SIZE;

    private final long[] words;
    /** The number selected in each block. */
    private final PrefixSums blocks;

    /** Creates a selection from one bit per index, lowest first; owns the array. */
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

    /** Selects the indices below a limit that satisfy a condition. */
    static Selection of(long limit, LongPredicate isSelected) {
        long[] words = new long[Math.toIntExact(Math.ceilDiv(limit, Long.SIZE))];
        LongStream.range(0, limit).filter(isSelected).forEach(index -> words[(int) (index / Long.SIZE)] |= 1L << index);
        return new Selection(words);
    }

    long[] words() {
        return words;
    }

    long size() {
        return blocks.total();
    }

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
