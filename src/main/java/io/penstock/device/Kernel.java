package io.penstock.device;

import java.util.Objects;

/**
 * A function that a device runs on its own memory. A GPU has it compiled, under its name, in the engine's fatbin; the
 * host device runs its twin in Java, on the thread of the stream. Both read the same arguments, 64-bit words, and give
 * the same result, whatever the size of the grid: the twin is the specification.
 *
 * @param name what the fatbin calls it
 * @param words how many words its arguments are, at most {@value #MAX_WORDS}
 * @param twin the same in Java
 */
public record Kernel(String name, int words, Twin twin) {
    /** The most words that arguments may be. */
    public static final int MAX_WORDS = 32;

    /** The threads of a block. */
    public static final int BLOCK_THREADS = 256;

    /** More blocks than any GPU runs at a time: beyond that, a thread does the work of several. */
    private static final long MAX_BLOCKS = 1 << 20;

    /** A kernel in Java. */
    @FunctionalInterface
    public interface Twin {
        /**
         * Runs the kernel on the CPU, without allocating. The addresses among the words are those of memory that the
         * CPU can reach, and are not checked.
         *
         * @param words the arguments; not kept
         */
        void run(long[] words);
    }

    /**
     * Checks the size of the arguments.
     *
     * @throws IllegalArgumentException if there are no words, or too many
     */
    public Kernel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(twin, "twin");
        if (words < 1 || words > MAX_WORDS) {
            throw new IllegalArgumentException(name + ": " + words + " words, expected 1 to " + MAX_WORDS);
        }
    }

    /**
     * Blocks enough to give each item a thread.
     *
     * @param items how many items, from 0
     * @return at least 1
     */
    public static int blocksForItems(long items) {
        return blocks(Math.ceilDiv(items, BLOCK_THREADS));
    }

    /**
     * Blocks enough for work of which each piece takes a whole block.
     *
     * @param pieces how many pieces, from 0
     * @return at least 1
     */
    public static int blocks(long pieces) {
        return (int) Math.clamp(pieces, 1, MAX_BLOCKS);
    }

    @Override
    public String toString() {
        return name;
    }
}
