// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
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

    private static final class Buckets extends WindowedOrder {

        private final LongUnaryOperator lengths;
        private final long group;
        private final long key;

        Buckets(Order base, LongUnaryOperator lengths, long window, long group, long key) {
            super(base, window);
            this.lengths = lengths;
            this.group = group;
            this.key = key;
        }

        @Override
        long[] arranged(long number, long[] samples) {
            int count = samples.length;
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
