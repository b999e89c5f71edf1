// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.util.Locale;

/**
 * One of several equal shares of a corpus.
 *
 * @param index its number, from 0
 * @param count how many there are
 */
public record CorpusShard(int index, int count) {

    private static final int MAX_COUNT = 100_000;

    /**
     * Checks the range.
     *
     * @throws IllegalArgumentException if there is no such share, or there are more than 100,000
     */
    public CorpusShard {
        if (count < 1 || count > MAX_COUNT || index < 0 || index >= count) {
            throw new IllegalArgumentException("found shard " + index + " of " + count + ", expected 0 to "
                    + (count - 1) + " of 1 to " + MAX_COUNT);
        }
    }

    /**
     * Parses a text such as {@code 3/16}.
     *
     * @param text the index, a slash and the count
     * @return the shard
     * @throws IllegalArgumentException if the text is something else, or there is no such shard
     */
    public static CorpusShard parse(String text) {
        String[] numbers = text.split("/", -1);
        try {
            if (numbers.length == 2) {
                return new CorpusShard(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
            }
        } catch (NumberFormatException _) {
            // as below
        }
        throw new IllegalArgumentException("found '" + text + "', expected I/N, for example 0/16 for the first of 16");
    }

    /**
     * {@return the name of this shard's store: for shard 3 of 16, the name followed by {@code -00003-of-00016}}
     *
     * @param name the store's name
     */
    public String nameOf(String name) {
        return String.format(Locale.ROOT, "%s-%05d-of-%05d", name, index, count);
    }

    boolean isLast() {
        return index == count - 1;
    }

    /** The first byte of this share of {@code total} bytes. */
    long start(long total) {
        return part(total, index);
    }

    /** The byte after this share of {@code total} bytes. */
    long end(long total) {
        return part(total, index + 1);
    }

    /** {@code total * shares / count}, without overflow. */
    private long part(long total, int shares) {
        return total / count * shares + total % count * shares / count;
    }

    @Override
    public String toString() {
        return index + "/" + count;
    }
}
