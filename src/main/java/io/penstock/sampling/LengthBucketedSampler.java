// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/** Brings samples of similar length together: sorts them within windows of another order, in shuffled groups. */
final class LengthBucketedSampler {

    static final long MAX_WINDOW = 1L << 24;
    static final long MAX_LENGTH = 1L << 38;

    /** Separates the order of groups from any other permutation: "BUCKETS". */
    private static final long TAG = 0x4255434B455453L;

    static Sampler of(Sampler base, LongUnaryOperator lengths, long window, long group, long seed) {
        Objects.requireNonNull(lengths, "lengths");
        if (window < 1 || window > MAX_WINDOW) {
            throw new IllegalArgumentException("window of " + window + " samples, expected 1 to " + MAX_WINDOW);
        }
        if (group < 1) {
            throw new IllegalArgumentException("groups of " + group + " samples, expected 1 or more");
        }
        long sorted = Math.min(window, base.size());
        String fingerprint = "length-bucketed window=" + window + " group=" + group + " lengths="
                + Sha256.hex(base.datasetSize(), sample -> length(lengths, sample)) + " seed=" + seed + " of "
                + base.fingerprint();
        return new ComputedSampler(base.size(), base.datasetSize(), seed, base.epochs(), fingerprint,
                epoch -> new Buckets(base.epoch(epoch), lengths, sorted, group, SplitMix64.key(seed, epoch, TAG)));
    }

    private static long length(LongUnaryOperator lengths, long sample) {
        long length = lengths.applyAsLong(sample);
        if (length < 0 || length >= MAX_LENGTH) {
            throw new IllegalArgumentException("sample " + sample + " has length " + length + ", expected 0 to "
                    + (MAX_LENGTH - 1));
        }
        return length;
    }

    private static final class Buckets implements Order {

        private final Order order;
        private final LongUnaryOperator lengths;
        private final long window;
        private final long group;
        private final long key;
        private final RecentValues<long[]> windows = new RecentValues<>(this::sorted);

        Buckets(Order order, LongUnaryOperator lengths, long window, long group, long key) {
            this.order = order;
            this.lengths = lengths;
            this.window = window;
            this.group = group;
            this.key = key;
        }

        @Override
        public long size() {
            return order.size();
        }

        @Override
        public long at(long position) {
            Positions.check(position, size());
            long number = position / window;
            return windows.of(number)[(int) (position - number * window)];
        }

        @Override
        public void fill(long first, long stride, int count, long[] into) {
            Positions.check(first, stride, count, into.length, size());
            long position = first;
            for (int i = 0; i < count;) {
                long number = position / window;
                long begin = number * window;
                long[] samples = windows.of(number);
                for (; i < count && position - begin < samples.length; i++, position += stride) {
                    into[i] = samples[(int) (position - begin)];
                }
            }
        }

        private long[] sorted(long number) {
            long begin = number * window;
            int count = (int) Math.min(window, size() - begin);
            long[] samples = new long[count];
            order.fill(begin, 1, count, samples);
            long[] keys = new long[count];
            for (int i = 0; i < count; i++) {
                keys[i] = length(lengths, samples[i]) * MAX_WINDOW + i;     // equal lengths keep the order of positions
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
