// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SamplersTest {

    private static final long SEED = 20261121;

    private static long[] epoch(Sampler sampler, long epoch) {
        Order order = sampler.epoch(epoch);
        long[] all = new long[(int) order.size()];
        order.fill(0, 1, all.length, all);
        return all;
    }

    private static void assertEachOnce(long[] samples) {
        long[] sorted = samples.clone();
        Arrays.sort(sorted);
        assertArrayEquals(LongStream.range(0, samples.length).toArray(), sorted);
    }

    @Test
    void blockShufflingGivesEachSampleOnceAndKeepsBlocksTogether() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < 300; round++) {
            long[] starts = new long[random.nextInt(2, 30)];
            for (int b = 1; b < starts.length; b++) {
                starts[b] = starts[b - 1] + random.nextInt(1, 40);
            }
            int size = (int) starts[starts.length - 1];
            long window = random.nextInt(1, size + 20);
            Sampler sampler = Sampler.blockShuffled(starts, window, random.nextLong());
            long[] samples = epoch(sampler, round);
            assertEachOnce(samples);
            // In a window's part of the order there are only whole blocks, but for its first and its last.
            for (long from = 0; from < size; from += Math.min(window, size)) {
                long[] part = Arrays.copyOfRange(samples, (int) from, (int) Math.min(size, from + window));
                Set<Integer> blocks = new HashSet<>();
                long whole = 0;
                for (long sample : part) {
                    int found = Arrays.binarySearch(starts, sample);
                    int block = found >= 0 ? found : -found - 2;
                    if (blocks.add(block)) {
                        whole += starts[block + 1] - starts[block];
                    }
                }
                assertTrue(whole - part.length < 2 * 40, "seed " + SEED + ", round " + round);
            }
            assertTrue(size < 20 || !Arrays.equals(samples, epoch(sampler, round + 1)));
        }
        assertThrows(IllegalArgumentException.class, () -> Sampler.blockShuffled(new long[] {0, 3, 3}, 4, 1));
        assertThrows(IllegalArgumentException.class, () -> Sampler.blockShuffled(new long[] {0}, 4, 1));
        assertThrows(IllegalArgumentException.class, () -> Sampler.blockShuffled(new long[] {0, 3}, 0, 1));
    }

    @Test
    void aWindowOfAllBlocksShufflesUniformly() {
        long[] counts = new long[64];
        for (long seed = 0; seed < 8000; seed++) {
            Order order = Sampler.blockShuffled(new long[] {0, 3, 5, 8}, 100, seed).epoch(0);
            for (int position = 0; position < 8; position++) {
                counts[8 * position + (int) order.at(position)]++;
            }
        }
        double[] expected = new double[64];
        Arrays.fill(expected, 1000);
        ChiSquare.assertFollows("positions", counts, expected);
    }

    @Test
    void aSubsetIsOrderedByAnotherSampler() {
        long[] choice = {9, 3, 3, 7};
        Sampler subset = Sampler.subset(choice, 10, Sampler.shuffled(4, 5));
        assertEquals(10, subset.datasetSize());
        assertEquals(4, subset.size());
        long[] samples = epoch(subset, 2);
        Arrays.sort(samples);
        assertArrayEquals(new long[] {3, 3, 7, 9}, samples);
        assertThrows(IllegalArgumentException.class, () -> Sampler.subset(choice, 10, Sampler.sequential(5)));
        assertThrows(IndexOutOfBoundsException.class, () -> Sampler.subset(choice, 9, Sampler.sequential(4)));
        assertNotEquals(subset.fingerprint(),
                Sampler.subset(new long[] {9, 3, 7, 3}, 10, Sampler.shuffled(4, 5)).fingerprint());
    }

    @Test
    void weightedDrawsFollowTheirWeights() {
        var random = new SplittableRandom(SEED + 1);
        for (int round = 0; round < 20; round++) {
            double[] weights = new double[random.nextInt(1, 200)];
            double sum = 0;
            for (int i = 0; i < weights.length; i++) {
                weights[i] = random.nextInt(5) == 0 ? 0 : Math.exp(4 * random.nextDouble());
                sum += weights[i];
            }
            if (sum == 0) {
                continue;
            }
            int draws = 2_000 * weights.length;
            long[] counts = new long[weights.length];
            for (long sample : epoch(Sampler.weighted(weights, draws, round), round)) {
                counts[(int) sample]++;
            }
            double total = sum;
            ChiSquare.assertFollows("round " + round, counts,
                    Arrays.stream(weights).map(weight -> draws * weight / total).toArray());
        }
        for (double[] wrong : new double[][] {{}, {0}, {-1, 2}, {Double.NaN}, {Double.POSITIVE_INFINITY}}) {
            assertThrows(IllegalArgumentException.class, () -> Sampler.weighted(wrong, 5, 0));
        }
    }

    @Test
    void uniformDrawsAreUniform() {
        long[] counts = new long[100];
        for (long sample : epoch(Sampler.withReplacement(100, 200_000, 3), 4)) {
            counts[(int) sample]++;
        }
        double[] expected = new double[100];
        Arrays.fill(expected, 2000);
        ChiSquare.assertFollows("draws", counts, expected);
    }

    @Test
    void weightedDrawsWithoutReplacementHaveTheProbabilityOfDrawingOneAfterAnother() {
        double[] weights = {1, 2, 0, 4, 0.5};
        int[][] orders = {{0, 1, 3}, {0, 3, 1}, {1, 0, 3}, {1, 3, 0}, {3, 0, 1}, {3, 1, 0}};
        int trials = 60_000;
        long[] counts = new long[orders.length + 1];
        for (long epoch = 0; epoch < trials; epoch++) {
            long[] drawn = epoch(Sampler.weightedWithoutReplacement(weights, 3, 11), epoch);
            int which = 0;
            while (which < orders.length && !(drawn[0] == orders[which][0] && drawn[1] == orders[which][1]
                    && drawn[2] == orders[which][2])) {
                which++;
            }
            counts[which]++;
        }
        double[] expected = new double[orders.length + 1];
        double sum = 7.5;
        double covered = 0;
        for (int o = 0; o < orders.length; o++) {
            double left = sum;
            double probability = 1;
            for (int sample : orders[o]) {
                probability *= weights[sample] / left;
                left -= weights[sample];
            }
            expected[o] = trials * probability;
            covered += probability;
        }
        expected[orders.length] = trials * (1 - covered);
        ChiSquare.assertFollows("orders", counts, expected);
        assertThrows(IllegalArgumentException.class, () -> Sampler.weightedWithoutReplacement(weights, 5, 0));
    }

    @Test
    void aSampleOfWeightZeroIsNotDrawnHoweverSmallTheOthersAre() {
        double[] weights = {0, 1e-300, Double.MIN_VALUE, 0, 1e-320, 1};
        for (long epoch = 0; epoch < 100; epoch++) {
            long[] drawn = epoch(Sampler.weightedWithoutReplacement(weights, 4, 11), epoch);
            assertEquals(5, drawn[0]);
            assertArrayEquals(new long[] {1, 2, 4, 5}, Arrays.stream(drawn).sorted().toArray());
        }
    }

    @Test
    void theWholeNumberLogarithmIsTheLogarithm() {
        var random = new SplittableRandom(SEED + 2);
        for (int i = 0; i < 10_000; i++) {
            long word = random.nextLong() >>> random.nextInt(64);
            double u = (word >>> 1) * 0x1p-63 + ((word & 1) + 1) * 0x1p-64;
            assertEquals(-Math.log(u) / Math.log(2), WeightedOnceSampler.minusLog2(word) * 0x1p-40, 1e-11);
        }
        assertEquals(64L << 40, WeightedOnceSampler.minusLog2(0));
        assertEquals(0, WeightedOnceSampler.minusLog2(-1));
    }

    private static int[] randomClasses(SplittableRandom random) {
        int count = random.nextInt(1, 12);
        int[] classes = new int[random.nextInt(count, 400)];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = i < count ? i : Math.min(random.nextInt(count), random.nextInt(count));
        }
        return classes;
    }

    @Test
    void stratifiedGivesEachSampleOnceAndEveryStretchHasTheClassesInProportion() {
        var random = new SplittableRandom(SEED + 3);
        for (int round = 0; round < 200; round++) {
            int[] classes = randomClasses(random);
            int count = Arrays.stream(classes).max().orElseThrow() + 1;
            Sampler sampler = Sampler.stratified(classes, random.nextLong());
            long[] samples = epoch(sampler, round);
            assertEachOnce(samples);
            double[] share = new double[count];
            Arrays.stream(classes).forEach(c -> share[c] += 1.0 / classes.length);
            long[] seen = new long[count];
            for (int i = 0; i < samples.length; i++) {
                seen[classes[(int) samples[i]]]++;
                for (int c = 0; c < count; c++) {
                    assertTrue(Math.abs(seen[c] - share[c] * (i + 1)) <= 0.5 + count * share[c],
                            "seed " + (SEED + 3) + ", round " + round + ", position " + i);
                }
            }
        }
        assertThrows(IllegalArgumentException.class, () -> Sampler.stratified(new int[] {0, 2, 2}, 1));
        assertThrows(IllegalArgumentException.class, () -> Sampler.stratified(new int[] {0, -1}, 1));
        assertThrows(IllegalArgumentException.class, () -> Sampler.stratified(new int[] {0, Integer.MAX_VALUE}, 1));
        assertThrows(IllegalArgumentException.class, () -> Sampler.stratified(new int[0], 1));
    }

    @Test
    void balancedGivesEveryClassOnceARoundAndItsSamplesOnceBeforeAnyAgain() {
        var random = new SplittableRandom(SEED + 4);
        for (int round = 0; round < 100; round++) {
            int[] classes = randomClasses(random);
            int count = Arrays.stream(classes).max().orElseThrow() + 1;
            int size = random.nextInt(1, 900);
            Sampler sampler = Sampler.balanced(classes, size, round);
            long[] all = LongStream.concat(Arrays.stream(epoch(sampler, 0)), Arrays.stream(epoch(sampler, 1)))
                    .toArray();
            long[] given = new long[classes.length];
            for (int i = 0; i < all.length; i++) {
                given[(int) all[i]]++;
                if (i % count == count - 1) {
                    Set<Integer> seen = new HashSet<>();
                    for (int j = i - count + 1; j <= i; j++) {
                        seen.add(classes[(int) all[j]]);
                    }
                    assertEquals(count, seen.size());
                }
            }
            for (int c = 0; c < count; c++) {
                int wanted = c;
                var ofClass = java.util.stream.IntStream.range(0, classes.length).filter(i -> classes[i] == wanted)
                        .mapToLong(i -> given[i]).summaryStatistics();
                assertTrue(ofClass.getMax() - ofClass.getMin() <= 1);
            }
        }
    }

    @Test
    void positionsAreAnsweredWithoutAllocating() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int[] classes = new int[10_000];
        double[] weights = new double[10_000];
        long[] starts = new long[101];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = i % 10;
            weights[i] = i + 1;
            starts[i / 100 + 1] = i + 1;
        }
        Mixture mixture = Mixture.of(100_000, new Mixture.Source(Sampler.shuffled(100_000, 1), 0.5),
                new Mixture.Source(Sampler.shuffled(100_000, 2), 0.3),
                new Mixture.Source(Sampler.shuffled(1000, 3), 0.2));
        for (Sampler sampler : List.of(Sampler.weighted(weights, 10_000, 1), Sampler.stratified(classes, 1),
                Sampler.balanced(classes, 10_000, 1), Sampler.withReplacement(10_000, 10_000, 1),
                Sampler.blockShuffled(starts, 100_000, 1), Sampler.weightedWithoutReplacement(weights, 10_000, 1),
                Sampler.subset(starts, 10_001, Sampler.shuffled(101, 1)), mixture)) {
            Order order = sampler.epoch(0);
            long least = Long.MAX_VALUE;
            long sum = 0;
            for (int round = 0; round < 10_000 && least > 0; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (long position = 0; position < 101; position++) {
                    sum += order.at(position);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least, sampler.fingerprint() + sum);
        }
    }
}
