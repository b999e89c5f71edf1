// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import java.util.stream.IntStream;

/**
 * How a {@link WebDatasetStream} shuffles, like WebDataset: first the shards, then samples in a buffer. Each draw from
 * the buffer follows one or two reads into it.
 *
 * @param seed determines, with the epoch, all draws
 * @param shuffleShards whether to shuffle the shards; otherwise they keep their list's order
 * @param bufferSamples the buffer's capacity in samples; 1 keeps their order
 * @param initialSamples the samples needed before the first draw: fewer start sooner but shuffle the start less
 */
public record StreamOrder(long seed, boolean shuffleShards, int bufferSamples, int initialSamples) {

    /** The order of the shards and of the samples in them. */
    public static final StreamOrder AS_WRITTEN = new StreamOrder(0, false, 1, 1);

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if a count is not positive
     */
    public StreamOrder {
        if (bufferSamples < 1 || initialSamples < 1) {
            throw new IllegalArgumentException("a buffer of " + bufferSamples + " samples, " + initialSamples
                    + " to begin with, expected at least 1");
        }
    }

    /**
     * Shuffles shards, and samples in a buffer; the first draw needs a tenth of the buffer.
     *
     * @param seed determines, with the epoch, all draws
     * @param bufferSamples the buffer's capacity in samples
     * @return the order
     */
    public static StreamOrder shuffled(long seed, int bufferSamples) {
        return new StreamOrder(seed, true, bufferSamples, Math.max(1, bufferSamples / 10));
    }

    /** Returns the order of the shards in an epoch: a Fisher-Yates shuffle of their positions in the list. */
    int[] shards(int count, StreamRandom random) {
        int[] order = IntStream.range(0, count).toArray();
        for (int i = count - 1; shuffleShards && i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        return order;
    }
}
