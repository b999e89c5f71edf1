// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Shuffles are uniform as far as chi-square tests see.
 *
 * <p>Each test compares counts with those of uniform random permutations, two-sided, at a significance of 1e-6 a
 * statistic: with a good mix the whole class, some 150 statistics, would fail one run in 3,000. The seeds are fixed, so
 * it fails always or never.
 */
@Tag("slow")
class PermutationStatisticsTest {

    /** The two-sided normal quantile of 1e-6. */
    private static final double Z = 4.8916;

    @Test
    void everyPositionIsEquallyLikelyToHoldEverySample() {
        for (int size = 2; size <= 20; size++) {
            int trials = 200 * size;
            int n = size;
            long[] counts = new long[size * size];
            for (int seed = 0; seed < trials; seed++) {
                Permutation permutation = new Permutation(size, seed, 0);
                for (int position = 0; position < size; position++) {
                    counts[position * n + (int) permutation.at(position)]++;
                }
            }
            // Rows and columns of a permutation matrix sum to one: of the n² deviations (n-1)² are free, and the
            // statistic is scaled by (n-1)/n to follow that chi-square.
            double statistic = chiSquare(counts, trials / (double) size) * (size - 1) / size;
            assertUniform("positions, size " + size, statistic, (size - 1.0) * (size - 1.0));
        }
    }

    @Test
    void everyPairOfNeighboursIsEquallyLikelyToHoldEveryPairOfSamples() {
        for (int size = 3; size <= 20; size++) {
            for (int gap : new int[] {1, size - 1, size / 2}) {
                int pairs = size * (size - 1);
                int trials = 50 * pairs;
                long[] counts = new long[pairs];
                for (int epoch = 0; epoch < trials; epoch++) {
                    Permutation permutation = new Permutation(size, 7, epoch);
                    long first = permutation.at(epoch % (size - gap));
                    long second = permutation.at(epoch % (size - gap) + gap);
                    counts[(int) (first * (size - 1) + (second > first ? second - 1 : second))]++;
                }
                assertUniform("pairs, size " + size + " gap " + gap,
                        chiSquare(counts, trials / (double) pairs), pairs - 1.0);
            }
        }
    }

    @Test
    void everyOrderOfUpToSixSamplesIsEquallyLikely() {
        int orders = 1;
        for (int size = 2; size <= 6; size++) {
            orders *= size;
            int trials = 40 * orders;
            long[] counts = new long[orders];
            for (int seed = 0; seed < trials; seed++) {
                counts[rankOf(new Permutation(size, 1L << 40 | seed, 1))]++;
            }
            assertUniform("orders, size " + size, chiSquare(counts, 40), orders - 1.0);
        }
    }

    /** The number of an order among all of its size, in the factorial number system (Lehmer code). */
    private static int rankOf(Permutation permutation) {
        int size = (int) permutation.size();
        long[] samples = new long[size];
        permutation.fill(0, 1, size, samples);
        int rank = 0;
        for (int i = 0; i < size; i++) {
            int smallerLater = 0;
            for (int j = i + 1; j < size; j++) {
                smallerLater += samples[j] < samples[i] ? 1 : 0;
            }
            rank = rank * (size - i) + smallerLater;
        }
        return rank;
    }

    @Test
    void stretchesOfLargeEpochsSpreadEvenly() {
        for (long size : new long[] {1_000_000_007L, 1L << 40, 1_000_000_000_000L, 3L << 59, 1L << 62}) {
            for (long first : new long[] {0, size / 3}) {
                for (long stride : new long[] {1, 8, Math.min(size >> 19, 1L << 31)}) {
                    assertStretchUniform(new Permutation(size, 11, 5), first, stride);
                }
            }
        }
    }

    /** 2^18 consecutive positions: samples over 4,096 buckets, low digits over 1,009, neighbours over 64 × 64. */
    private static void assertStretchUniform(Permutation permutation, long first, long stride) {
        int count = 1 << 18;
        long[] samples = new long[count];
        permutation.fill(first, stride, count, samples);
        long[] high = new long[4096];
        long[] low = new long[1009];
        long[] neighbours = new long[64 * 64];
        double bucket = permutation.size() / 4096.0;
        for (int i = 0; i < count; i++) {
            high[(int) Math.min(4095, samples[i] / bucket)]++;
            low[(int) (samples[i] % 1009)]++;
            if ((i & 1) == 1) {
                int left = (int) Math.min(63, samples[i - 1] / bucket / 64);
                int right = (int) Math.min(63, samples[i] / bucket / 64);
                neighbours[left * 64 + right]++;
            }
        }
        String which = "size " + permutation.size() + " first " + first + " stride " + stride;
        assertUniform("high digits, " + which, chiSquare(high, count / 4096.0), 4095);
        assertUniform("low digits, " + which, chiSquare(low, count / 1009.0), 1008);
        assertUniform("neighbours, " + which, chiSquare(neighbours, count / 2 / 4096.0), 4095);
    }

    @Test
    void epochsAreIndependentOfEachOther() {
        // Where one epoch puts a sample says nothing of where the next one does.
        for (long size : new long[] {1000, 1024, 1025, 100_000, 1_000_000_000L}) {
            long[] counts = new long[32 * 32];
            int perEpoch = 1000;
            int epochs = 200;
            for (int epoch = 0; epoch < epochs; epoch++) {
                Permutation now = new Permutation(size, 99, epoch);
                Permutation next = new Permutation(size, 99, epoch + 1);
                for (int i = 0; i < perEpoch; i++) {
                    long sample = size / perEpoch * i;
                    int one = (int) (now.positionOf(sample) * 32.0 / size);
                    int two = (int) (next.positionOf(sample) * 32.0 / size);
                    counts[one * 32 + two]++;
                }
            }
            assertTrue(chiSquare(counts, perEpoch * epochs / 1024.0) < upper(1023), "epochs, size " + size);
        }
    }

    @Test
    void fixedPointsAreAsFewAsInUniformShuffles() {
        // Poisson with mean 1 an epoch: over 2,000 epochs 2,000 ± 45.
        for (int size : new int[] {10, 1023, 1024, 5000}) {
            int fixed = 0;
            for (int epoch = 0; epoch < 2000; epoch++) {
                Permutation permutation = new Permutation(size, 5, epoch);
                for (int position = 0; position < size; position++) {
                    fixed += permutation.at(position) == position ? 1 : 0;
                }
            }
            assertTrue(Math.abs(fixed - 2000) < Z * Math.sqrt(2000), "size " + size + ": " + fixed);
        }
    }

    private static double chiSquare(long[] counts, double expected) {
        double sum = 0;
        for (long count : counts) {
            sum += (count - expected) * (count - expected) / expected;
        }
        return sum;
    }

    private static void assertUniform(String what, double statistic, double degrees) {
        assertTrue(statistic <= upper(degrees),
                () -> what + ": chi-square " + statistic + " above " + upper(degrees));
        // Too even is as wrong; below 30 degrees of freedom the lower quantile's approximation is poor.
        assertTrue(degrees < 30 || statistic >= quantile(degrees, -Z),
                () -> what + ": chi-square " + statistic + " below " + quantile(degrees, -Z));
    }

    private static double upper(double degrees) {
        return quantile(degrees, Z);
    }

    /** The chi-square quantile by Wilson and Hilferty's cube-root approximation (1931). */
    private static double quantile(double degrees, double z) {
        double term = 1 - 2 / (9 * degrees) + z * Math.sqrt(2 / (9 * degrees));
        return degrees * term * term * term;
    }
}
