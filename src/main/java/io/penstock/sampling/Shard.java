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
     * most launchers), or those of Horovod, Open MPI, MVAPICH, LSF's jsrun, MPICH and relatives ({@code PMI_RANK}),
     * Flux, and Slurm in a step of {@code srun}. The first complete pair counts.
     *
     * <p>Half of the facts is refused, as each process would read everything: a rank without a world size, variables of
     * another launcher ({@code PALS_RANKID}, {@code JOB_COMPLETION_INDEX}, {@code LOCAL_RANK}, …) without a pair, and
     * pairs that contradict each other. In the script of a Slurm job of several tasks, which {@code srun} did not
     * start, there is one process: rank 0 of 1, with a warning.
     *
     * @param tail how to handle the end of an epoch that the ranks do not divide
     * @return the shard; rank 0 of 1 if no variable says that there are other processes
     * @throws IllegalArgumentException if the variables do not name a rank and a world size; names them
     */
    public static Shard fromEnvironment(TailPolicy tail) {
        return fromEnvironment(System.getenv(), tail);
    }

    static Shard fromEnvironment(Map<String, String> environment, TailPolicy tail) {
        return Launchers.shard(environment, tail);
    }

    /** Returns the samples that each rank takes of {@code remaining} positions: the same number on every rank. */
    long samplesPerRank(long remaining) {
        return switch (tail) {
            case DROP -> remaining / worldSize;
            case PAD, EXACT -> Math.ceilDiv(remaining, (long) worldSize);
        };
    }
}
