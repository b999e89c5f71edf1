// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Map;
import java.util.Objects;

/**
 * One rank's part of every epoch: positions {@code rank}, {@code rank + worldSize}, {@code rank + 2·worldSize}, …
 *
 * @param rank the part, from 0 up to, not including, {@code worldSize}
 * @param worldSize the number of ranks, at least 1
 * @param tail how to handle the end of an epoch that the ranks do not divide
 */
public record Shard(int rank, int worldSize, TailPolicy tail) {

    /** The environment variables in which launchers store rank and world size. */
    private static final String[][] RANK_AND_SIZE = {{"RANK", "WORLD_SIZE"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if the world size is below 1 or the rank is outside it
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

    /** {@return rank 0 of 1, for training in one process} */
    public static Shard whole() {
        return new Shard(0, 1, TailPolicy.EXACT);
    }

    /**
     * This process's part, from the launcher's environment variables: {@code RANK} and {@code WORLD_SIZE} (torchrun and
     * most launchers), {@code OMPI_COMM_WORLD_RANK} and {@code OMPI_COMM_WORLD_SIZE} (Open MPI), {@code PMI_RANK} and
     * {@code PMI_SIZE} (MPICH and relatives), {@code SLURM_PROCID} and {@code SLURM_NTASKS} (Slurm); the first complete
     * pair.
     *
     * @param tail how to handle the end of an epoch that the ranks do not divide
     * @return the shard; rank 0 of 1 if no pair is set
     * @throws IllegalArgumentException if a pair is not a rank and a world size; names the variables
     */
    public static Shard fromEnvironment(TailPolicy tail) {
        return fromEnvironment(System.getenv(), tail);
    }

    static Shard fromEnvironment(Map<String, String> environment, TailPolicy tail) {
        for (String[] pair : RANK_AND_SIZE) {
            String rank = environment.get(pair[0]);
            String size = environment.get(pair[1]);
            if (rank != null && size != null) {
                try {
                    return new Shard(Integer.parseInt(rank.strip()), Integer.parseInt(size.strip()), tail);
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("environment: " + pair[0] + "=" + rank + " and " + pair[1] + "="
                            + size + ", expected a rank below a world size", e);
                }
            }
        }
        return new Shard(0, 1, tail);
    }

    /** Returns the samples that each rank takes of {@code remaining} positions: the same number on every rank. */
    long samplesPerRank(long remaining) {
        return switch (tail) {
            case DROP -> remaining / worldSize;
            case PAD, EXACT -> Math.ceilDiv(remaining, (long) worldSize);
        };
    }
}
