package io.penstock.sampling;

import io.penstock.internal.PrefixSums;

/** Shuffles blocks, then shuffles their samples within windows of that order. */
final class BlockShuffledSampler implements Sampler {

    /** Separates the block order, the window order and all other permutations. */
    private static final long BLOCK_TAG = 0x424C4F434B53L;
    private static final long WINDOW_TAG = 0x57494E444F57L;

    /** The start of each block, then the size. */
    private final long[] starts;
    private final long window;
    private final long seed;

    BlockShuffledSampler(long[] starts, long window, long seed) {
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
        this.starts = starts.clone();
        this.window = window;
        this.seed = seed;
        Positions.checkSize(size());
    }

    @Override
    public long size() {
        return starts[starts.length - 1];
    }

    @Override
    public long seed() {
        return seed;
    }

    @Override
    public Order epoch(long epoch) {
        return new Blocks(epoch);
    }

    @Override
    public String fingerprint() {
        return "blocks size=" + size() + " blocks=" + (starts.length - 1) + ":"
                + ContentDigest.of(starts.length, i -> starts[(int) i]) + " window=" + window + " seed=" + seed;
    }

    private final class Blocks implements Order {

        /** The block at each place of the epoch, and where it starts in the epoch. */
        private final int[] blocks;
        private final PrefixSums places;
        private final OrderCache windows;
        private final Order lastWindow;

        Blocks(long epoch) {
            int count = starts.length - 1;
            long key = SplitMix64.first(SplitMix64.first(seed) + epoch);
            Permutation order = new Permutation(count, SplitMix64.first(key + BLOCK_TAG), 0);
            blocks = new int[count];
            for (int i = 0; i < count; i++) {
                blocks[i] = (int) order.at(i);
            }
            places = PrefixSums.ofLengths(count, i -> starts[blocks[i] + 1] - starts[blocks[i]]);
            long windowKey = SplitMix64.first(key + WINDOW_TAG);
            long span = Math.min(window, BlockShuffledSampler.this.size());
            windows = new OrderCache(Sampler.shuffled(span, windowKey));
            long rest = BlockShuffledSampler.this.size() % span;
            lastWindow = new Permutation(Math.max(1, rest), windowKey, BlockShuffledSampler.this.size() / span);
        }

        @Override
        public long size() {
            return BlockShuffledSampler.this.size();
        }

        @Override
        public long at(long position) {
            Positions.check(position, size());
            long span = Math.min(window, size());
            long number = position / span;
            long first = number * span;
            Order order = size() - first < span ? lastWindow : windows.of(number);
            long place = first + order.at(position - first);
            int i = places.runOf(place);
            return starts[blocks[i]] + place - places.start(i);
        }
    }
}
