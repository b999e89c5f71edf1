package io.penstock.sampling;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongUnaryOperator;

/** Brings samples of similar length together: sorts them within windows of another order, in shuffled groups. */
final class LengthBucketedSampler implements Sampler {

    static final long MAX_WINDOW = 1L << 24;
    static final long MAX_LENGTH = 1L << 38;

    /** Separates the order of groups from any other permutation: "BUCKETS". */
    private static final long TAG = 0x4255434B455453L;

    private final Sampler base;
    private final LongUnaryOperator lengths;
    private final long window;
    private final long group;
    private final long seed;
    private final String fingerprint;

    LengthBucketedSampler(Sampler base, LongUnaryOperator lengths, long window, long group, long seed) {
        if (window < 1 || window > MAX_WINDOW) {
            throw new IllegalArgumentException("window of " + window + " samples, expected 1 to " + MAX_WINDOW);
        }
        if (group < 1) {
            throw new IllegalArgumentException("groups of " + group + " samples, expected 1 or more");
        }
        this.base = Objects.requireNonNull(base, "base");
        this.lengths = Objects.requireNonNull(lengths, "lengths");
        this.window = Math.min(window, base.size());
        this.group = group;
        this.seed = seed;
        this.fingerprint = "length-bucketed window=" + window + " group=" + group + " lengths="
                + ContentDigest.of(base.datasetSize(), this::length) + " seed=" + seed + " of " + base.fingerprint();
    }

    private long length(long sample) {
        long length = lengths.applyAsLong(sample);
        if (length < 0 || length >= MAX_LENGTH) {
            throw new IllegalArgumentException("sample " + sample + " has length " + length + ", expected 0 to "
                    + (MAX_LENGTH - 1));
        }
        return length;
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public long datasetSize() {
        return base.datasetSize();
    }

    @Override
    public long seed() {
        return seed;
    }

    @Override
    public long epochs() {
        return base.epochs();
    }

    @Override
    public Order epoch(long epoch) {
        return new Buckets(epoch);
    }

    @Override
    public String fingerprint() {
        return fingerprint;
    }

    private record Window(long number, long[] samples) { }

    /** One epoch. Two threads that miss a window together both sort it, and either result is used. */
    private final class Buckets implements Order {

        /** The batches of all workers straddle a few windows at a time. */
        private static final int SLOTS = 8;

        private final Order order;
        private final long key;
        private final AtomicReferenceArray<Window> windows = new AtomicReferenceArray<>(SLOTS);

        Buckets(long epoch) {
            order = base.epoch(epoch);
            key = SplitMix64.key(seed, epoch, TAG);
        }

        @Override
        public long size() {
            return base.size();
        }

        @Override
        public long at(long position) {
            Positions.check(position, size());
            long number = position / window;
            return samples(number)[(int) (position - number * window)];
        }

        @Override
        public void fill(long first, long stride, int count, long[] into) {
            Positions.check(first, stride, count, into.length, size());
            long position = first;
            for (int i = 0; i < count;) {
                long number = position / window;
                long begin = number * window;
                long[] samples = samples(number);
                for (; i < count && position - begin < samples.length; i++, position += stride) {
                    into[i] = samples[(int) (position - begin)];
                }
            }
        }

        private long[] samples(long number) {
            int slot = (int) (number & (SLOTS - 1));
            Window found = windows.get(slot);
            if (found == null || found.number != number) {
                found = new Window(number, sorted(number));
                windows.set(slot, found);
            }
            return found.samples;
        }

        private long[] sorted(long number) {
            long begin = number * window;
            int count = (int) Math.min(window, size() - begin);
            long[] samples = new long[count];
            order.fill(begin, 1, count, samples);
            long[] keys = new long[count];
            for (int i = 0; i < count; i++) {
                keys[i] = length(samples[i]) * MAX_WINDOW + i;     // equal lengths keep the order of positions
            }
            Arrays.sort(keys);
            long[] result = new long[count];
            int groups = (int) Math.ceilDiv(count, group);
            Permutation places = new Permutation(groups, key, number);
            int at = 0;
            for (int g = 0; g < groups; g++) {
                long from = places.at(g) * group;
                long to = Math.min(count, from + group);
                for (long i = from; i < to; i++) {
                    result[at++] = samples[(int) (keys[(int) i] & (MAX_WINDOW - 1))];
                }
            }
            return result;
        }
    }
}
