// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.HeapUse;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LengthBucketedSamplerTest {

    private static final long SEED = 20261122;

    private static long[] epoch(Sampler sampler, long epoch) {
        Order order = sampler.epoch(epoch);
        long[] all = new long[(int) order.size()];
        order.fill(0, 1, all.length, all);
        return all;
    }

    @Test
    void aWindowIsItsSamplesSortedAndCutIntoGroupsOfWhichEachStaysWhole() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < Thorough.times(300, 1000); round++) {
            int n = random.nextInt(1, 200);
            long[] lengths = random.longs(n, 0, random.nextInt(1, 40)).toArray();
            int window = random.nextInt(1, n + 20);
            int group = random.nextInt(1, 20);
            Sampler base = random.nextBoolean() ? Sampler.shuffled(n, round)
                    : Sampler.withReplacement(n, random.nextInt(1, 2 * n), round);
            long seed = random.nextLong();
            Sampler sampler = Sampler.lengthBucketed(base, s -> lengths[(int) s], window, group, seed);
            long[] before = epoch(base, round);
            long[] after = epoch(sampler, round);
            String which = "seed " + SEED + ", round " + round;
            for (int from = 0; from < before.length; from += window) {
                int to = Math.min(before.length, from + window);
                List<Long> sorted = new ArrayList<>(LongStream.of(before).boxed().toList().subList(from, to));
                sorted.sort(Comparator.comparingLong(s -> lengths[Math.toIntExact(s)]));
                List<List<Long>> groups = new ArrayList<>();
                for (int g = 0; g < sorted.size(); g += group) {
                    groups.add(sorted.subList(g, Math.min(sorted.size(), g + group)));
                }
                // Taken from the front, the order is the groups, each once.
                for (int at = from; at < to;) {
                    long[] rest = Arrays.copyOfRange(after, at, to);
                    List<Long> next = groups.stream().filter(g -> startsWith(rest, g)).max(
                            Comparator.comparingInt(List::size)).orElseThrow(() -> new AssertionError(which));
                    groups.remove(next);
                    at += next.size();
                }
                assertTrue(groups.isEmpty(), which);
            }
        }
    }

    private static boolean startsWith(long[] rest, List<Long> group) {
        return rest.length >= group.size() && Arrays.equals(rest, 0, group.size(),
                group.stream().mapToLong(Long::longValue).toArray(), 0, group.size());
    }

    @Test
    void everyWayToAskGivesTheSameOrder() {
        var random = new SplittableRandom(SEED + 1);
        for (int round = 0; round < Thorough.times(100, 300); round++) {
            int n = random.nextInt(1, 300);
            Sampler sampler = Sampler.lengthBucketed(Sampler.shuffled(n, 1), s -> s * 7919 % 31,
                    random.nextInt(1, 60), random.nextInt(1, 9), round);
            long[] all = epoch(sampler, round);
            Order order = sampler.epoch(round);
            for (int i = 0; i < 20; i++) {
                int first = random.nextInt(n);
                int stride = random.nextInt(1, 40);
                long[] some = new long[(n - 1 - first) / stride + 1];
                order.fill(first, stride, some.length, some);
                for (int k = 0; k < some.length; k++) {
                    assertEquals(all[first + k * stride], some[k]);
                    assertEquals(some[k], order.at(first + k * stride));
                }
            }
        }
    }

    @Test
    void groupsComeInAnyOrderAlike() {
        long[] counts = new long[25];
        for (long seed = 0; seed < 5000; seed++) {
            Order order = Sampler.lengthBucketed(Sampler.sequential(10), s -> s, 10, 2, seed).epoch(3);
            for (int g = 0; g < 5; g++) {
                counts[5 * g + (int) order.at(2 * g) / 2]++;
            }
        }
        double[] expected = new double[25];
        Arrays.fill(expected, 1000);
        ChiSquare.assertFollows("places of groups", counts, expected);
    }

    @Test
    void fixedBatchesOfAGroupNeedLittlePadding() {
        var random = new SplittableRandom(SEED + 2);
        long[] of = LongStream.range(0, 20_000).map(_ -> (long) Math.exp(2 + 5 * random.nextDouble())).toArray();
        Sampler shuffled = Sampler.shuffled(of.length, 1);
        assertTrue(padding(shuffled, of) > 0.5);
        assertTrue(padding(Sampler.lengthBucketed(shuffled, s -> of[(int) s], 2000, 16, 1), of) < 0.05);
    }

    private static double padding(Sampler sampler, long[] lengths) {
        long[] samples = epoch(sampler, 0);
        double padded = 0;
        for (int at = 0; at < samples.length; at += 16) {
            long[] batch = Arrays.copyOfRange(samples, at, Math.min(samples.length, at + 16));
            padded += batch.length * LongStream.of(batch).map(s -> lengths[(int) s]).max().orElseThrow();
        }
        return 1 - LongStream.of(lengths).sum() / padded;
    }

    @Test
    void aFingerprintTellsLengthsAndSettings() {
        Sampler base = Sampler.shuffled(100, 1);
        String one = Sampler.lengthBucketed(base, s -> s, 10, 2, 3).fingerprint();
        assertEquals(one, Sampler.lengthBucketed(base, s -> s, 10, 2, 3).fingerprint());
        assertNotEquals(one, Sampler.lengthBucketed(base, s -> s == 99 ? 0 : s, 10, 2, 3).fingerprint());
        assertNotEquals(one, Sampler.lengthBucketed(base, s -> s, 11, 2, 3).fingerprint());
        assertNotEquals(one, Sampler.lengthBucketed(base, s -> s, 10, 3, 3).fingerprint());
        assertNotEquals(one, Sampler.lengthBucketed(base, s -> s, 10, 2, 4).fingerprint());
        assertNotEquals(one, Sampler.lengthBucketed(Sampler.sequential(100), s -> s, 10, 2, 3).fingerprint());
    }

    @Test
    void whatIsOutOfRangeIsRefused() {
        Sampler base = Sampler.sequential(10);
        assertThrows(IllegalArgumentException.class, () -> Sampler.lengthBucketed(base, s -> s, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> Sampler.lengthBucketed(base, s -> s, (1 << 24) + 1, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> Sampler.lengthBucketed(base, s -> s, 1, 0, 0));
        var error = assertThrows(IllegalArgumentException.class,
                () -> Sampler.lengthBucketed(base, s -> s == 7 ? -1 : s, 5, 1, 0));
        assertTrue(error.getMessage().contains("sample 7 has length -1"), error.getMessage());
        long huge = Long.MAX_VALUE;
        assertArrayEquals(new long[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                epoch(Sampler.lengthBucketed(base, s -> 1, 1 << 24, huge, 0), 0));
    }

    @Test
    void aWindowThatWasSortedIsReadWithoutAllocating() {
        Order order = Sampler.lengthBucketed(Sampler.shuffled(100_000, 5), s -> s % 1000, 50_000, 64, 1).epoch(0);
        long[] into = new long[64];
        long[] sum = new long[1];
        long allocated = HeapUse.fewest(10_000, () -> {
            for (int i = 0; i < 100_000; i++) {
                order.fill(i * 31 % 90_000, 8, 64, into);
                sum[0] += into[3];
            }
        });
        assertTrue(allocated <= 10_000, "allocated " + allocated + " bytes, sum " + sum[0]);
    }

    @Test
    void theFingerprintHasTheWindowThatWasAskedForAlsoIfItExceedsTheDataset() {
        Sampler sampler = Sampler.lengthBucketed(Sampler.sequential(10), _ -> 1, 100, 2, 3);
        assertTrue(sampler.fingerprint().startsWith("length-bucketed window=100 group=2 lengths="),
                sampler.fingerprint());
    }
}
