package io.penstock.format.webdataset;

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

    /** The order in which things are written. */
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
     * Shuffles shards, and samples in a buffer of which a tenth is filled to begin with.
     *
     * @param seed determines, with the epoch, all draws
     * @param bufferSamples how many samples the buffer holds
     * @return the order
     */
    public static StreamOrder shuffled(long seed, int bufferSamples) {
        return new StreamOrder(seed, true, bufferSamples, Math.max(1, bufferSamples / 10));
    }

    /** The shards of an epoch in their order: a Fisher-Yates shuffle of their positions in the list. */
    int[] shards(int count, StreamRandom random) {
        int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = i;
        }
        for (int i = count - 1; shuffleShards && i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        return order;
    }
}
