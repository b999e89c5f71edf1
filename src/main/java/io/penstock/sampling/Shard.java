package io.penstock.sampling;

import java.util.Objects;

/**
 * One rank's part of every epoch: positions {@code rank}, {@code rank + worldSize}, {@code rank + 2·worldSize}, …
 *
 * @param rank which part, from 0 up to, not including, {@code worldSize}
 * @param worldSize how many ranks take part, at least 1
 * @param tail what becomes of the end of an epoch that they do not divide
 */
public record Shard(int rank, int worldSize, TailPolicy tail) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if the rank is not one of the world's
     */
    public Shard {
        Objects.requireNonNull(tail, "tail");
        if (worldSize < 1) {
            throw new IllegalArgumentException("world size " + worldSize + ", expected 1 or more");
        }
        if (rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("rank " + rank + ", expected 0 to " + (worldSize - 1));
        }
    }

    /**
     * The whole of every epoch, for training in one process.
     *
     * @return rank 0 of 1
     */
    public static Shard whole() {
        return new Shard(0, 1, TailPolicy.EXACT);
    }

    /** Samples that each rank takes of {@code remaining} positions: the same number on every rank. */
    long samplesPerRank(long remaining) {
        return switch (tail) {
            case DROP -> remaining / worldSize;
            case PAD, EXACT -> Math.ceilDiv(remaining, (long) worldSize);
        };
    }
}
