// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;
import java.util.Arrays;

/**
 * Groups of samples of one bucket each, in a shuffled order; within a bucket, samples are shuffled too. A position
 * costs a binary search among the buckets. {@code docs/spec/samplers.md} specifies it for ports.
 */
final class BucketedSampler {

    /** Separates the order of groups from any other permutation: "SHAPES". */
    private static final long TAG = 0x534841504553L;

    static Sampler of(int[] buckets, long group, TailPolicy rest, long seed) {
        if (group < 1) {
            throw new IllegalArgumentException("groups of " + group + " samples, expected 1 or more");
        }
        if (rest == TailPolicy.EXACT) {
            throw new IllegalArgumentException("the rest of a bucket: found EXACT, expected PAD or DROP: all groups"
                    + " have as many samples");
        }
        ClassSamples samples = new ClassSamples(dense(buckets));
        long[] starts = new long[samples.classes() + 1];
        for (int c = 0; c < samples.classes(); c++) {
            starts[c + 1] = starts[c] + (rest == TailPolicy.PAD ? Math.ceilDiv(samples.size(c), group)
                    : samples.size(c) / group);
        }
        long groups = starts[samples.classes()];
        if (groups == 0) {
            throw new IllegalArgumentException("no bucket has " + group + " samples, those of a group; use PAD, or"
                    + " smaller groups");
        }
        OrderCache[] orders = samples.shuffled(seed);
        long size = Math.multiplyExact(groups, group);
        return new ComputedSampler(size, samples.total(), seed, "bucketed " + samples + " group=" + group + " rest="
                + rest + " seed=" + seed, epoch -> {
                    var places = new Permutation(groups, SplitMix64.first(SplitMix64.first(seed) + TAG), epoch);
                    return new ComputedOrder(size, position -> {
                        long number = places.at(position / group);
                        int found = Arrays.binarySearch(starts, number);
                        // Buckets without a group begin where the next one begins.
                        int c = found < 0 ? -found - 2 : found;
                        while (starts[c + 1] == number) {
                            c++;
                        }
                        long within = (number - starts[c]) * group + position % group;
                        return samples.sample(c, orders[c].of(epoch).at(within % samples.size(c)));
                    });
                });
    }

    /** The buckets that have samples, numbered from 0 in their order. */
    private static int[] dense(int[] buckets) {
        int[] used = Arrays.stream(buckets).sorted().distinct().toArray();
        if (used.length > 0 && used[0] < 0) {
            throw new IllegalArgumentException("bucket " + used[0] + ", expected 0 or more");
        }
        return Arrays.stream(buckets).map(bucket -> Arrays.binarySearch(used, bucket)).toArray();
    }
}
