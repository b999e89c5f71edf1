// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;
import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.stream.IntStream;

/** Shuffles blocks, then shuffles their samples within windows of that order. */
final class BlockShuffledSampler {

    /** Separates the block order, the window order and all other permutations. */
    private static final long BLOCK_TAG = 0x424C4F434B53L;
    private static final long WINDOW_TAG = 0x57494E444F57L;

    /** Creates a sampler from the start of each block, then the size. */
    static Sampler of(long[] blockStarts, long window, long seed) {
        long[] starts = blockStarts.clone();
        if (starts.length < 2 || starts[0] != 0) {
            throw new IllegalArgumentException("blocks from " + (starts.length == 0 ? "none" : starts[0])
                    + " on, expected the first to begin at 0, and the size at the end");
        }
        for (int b = 1; b < starts.length; b++) {
            if (starts[b] <= starts[b - 1]) {
                throw new IllegalArgumentException("block " + b + " begins at " + starts[b] + ", the one before it at "
                        + starts[b - 1] + ": expected no empty block");
            }
        }
        if (window < 1) {
            throw new IllegalArgumentException("window of " + window + " samples, expected 1 or more");
        }
        long size = Positions.checkSize(starts[starts.length - 1]);
        String fingerprint = "blocks size=" + size + " blocks=" + (starts.length - 1) + ":"
                + Sha256.hex(starts.length, i -> starts[(int) i]) + " window=" + window + " seed=" + seed;
        return new ComputedSampler(size, size, seed, fingerprint,
                epoch -> order(starts, window, SplitMix64.first(SplitMix64.first(seed) + epoch)));
    }

    private static Order order(long[] starts, long window, long key) {
        int count = starts.length - 1;
        long size = starts[count];
        Permutation order = new Permutation(count, SplitMix64.first(key + BLOCK_TAG), 0);
        int[] blocks = IntStream.range(0, count).map(i -> (int) order.at(i)).toArray();
        PrefixSums places = PrefixSums.ofLengths(count, i -> starts[blocks[i] + 1] - starts[blocks[i]]).indexed();
        WindowedShuffle shuffle = new WindowedShuffle(size, Math.min(window, size), SplitMix64.first(key + WINDOW_TAG));
        return new BlockOrder(size, starts, blocks, places, shuffle);
    }

    /**
     * The order of an epoch.
     *
     * @param blocks the block at each place of the epoch
     * @param places where each of them starts in the epoch
     */
    private record BlockOrder(long size, long[] starts, int[] blocks, PrefixSums places, WindowedShuffle shuffle)
            implements Order {

        @Override
        public long at(long position) {
            Positions.check(position, size);
            return sampleAt(shuffle.at(position));
        }

        private long sampleAt(long place) {
            int i = places.runOf(place);
            return starts[blocks[i]] + place - places.start(i);
        }

        @Override
        public void fill(long first, long stride, int count, long[] into) {
            Positions.check(first, stride, count, into.length, size);
            shuffle.fill(first, stride, count, into);
            for (int i = 0; i < count; i++) {
                into[i] = sampleAt(into[i]);
            }
        }
    }
}
