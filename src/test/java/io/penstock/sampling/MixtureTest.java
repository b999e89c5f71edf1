// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.sampling.Mixture.Source;
import io.penstock.testing.Thorough;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MixtureTest {

    private static final long SEED = 20261121;

    /** Megatron's loop, with exact numbers: which source each draw is from. */
    private static int[] megatron(int draws, double... weights) {
        BigDecimal sum = Arrays.stream(weights).mapToObj(BigDecimal::valueOf).reduce(BigDecimal.ZERO, BigDecimal::add);
        long[] counts = new long[weights.length];
        int[] sources = new int[draws];
        for (int i = 0; i < draws; i++) {
            int greatest = 0;
            BigDecimal most = null;
            for (int s = 0; s < weights.length; s++) {
                BigDecimal error = BigDecimal.valueOf(weights[s]).multiply(BigDecimal.valueOf(Math.max(i, 1)))
                        .subtract(sum.multiply(BigDecimal.valueOf(counts[s])));
                if (weights[s] > 0 && (most == null || error.compareTo(most) > 0)) {
                    most = error;
                    greatest = s;
                }
            }
            sources[i] = greatest;
            counts[greatest]++;
        }
        return sources;
    }

    private static double[] randomWeights(SplittableRandom random) {
        double[] weights = new double[random.nextInt(1, 9)];
        for (int s = 0; s < weights.length; s++) {
            weights[s] = random.nextInt(4) == 0 ? 0 : random.nextInt(1, 40) / (random.nextBoolean() ? 10.0 : 1);
        }
        weights[random.nextInt(weights.length)] += 1;
        return weights;
    }

    @Test
    void theSourceOfEachDrawIsMegatronsAndItsRankCountsThoseBefore() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < Thorough.times(100, 300); round++) {
            double[] weights = randomWeights(random);
            Proportions proportions = Proportions.of(weights);
            int draws = 3 * proportions.period() + random.nextInt(50);
            int[] expected = megatron(draws, weights);
            long[] counts = new long[weights.length];
            for (int i = 0; i < draws; i++) {
                String about = "seed " + SEED + ", " + Arrays.toString(weights) + ", draw " + i;
                assertEquals(expected[i], proportions.source(i), about);
                assertEquals(counts[expected[i]]++, proportions.rank(i), about);
            }
            assertArrayEquals(counts, proportions.counts(draws));
        }
    }

    @Test
    void weightsWithoutAShortPeriodAreRoundedToTheLongestOne() {
        Proportions proportions = Proportions.of(Math.PI, Math.E, 1e-9);
        assertEquals(Proportions.MAX_PERIOD, proportions.period());
        double sum = Math.PI + Math.E + 1e-9;
        assertEquals(Math.PI / sum, proportions.weight(0) / (double) Proportions.MAX_PERIOD,
                1.0 / Proportions.MAX_PERIOD);
        assertEquals(0, proportions.weight(2));
        assertEquals("[7,2,1]", Proportions.of(0.7, 0.2, 0.1).toString());
        assertEquals("[1,0,1]", Proportions.of(1e300, 0, 1e300).toString());
    }

    @Test
    void weightsThatAreNoProportionsAreRefused() {
        for (double[] wrong : new double[][] {{}, {0, 0}, {-1, 2}, {Double.NaN}, {Double.POSITIVE_INFINITY}}) {
            assertThrows(IllegalArgumentException.class, () -> Proportions.of(wrong), Arrays.toString(wrong));
        }
    }

    /** Each source's samples, in the order in which the epochs of a mixture give them. */
    private static List<List<Long>> given(Mixture mixture, int sources, long[] first, int epochs) {
        List<List<Long>> given = new ArrayList<>();
        for (int s = 0; s < sources; s++) {
            given.add(new ArrayList<>());
        }
        for (long epoch = 0; epoch < epochs; epoch++) {
            Order order = mixture.epoch(epoch);
            for (long position = 0; position < order.size(); position++) {
                long sample = order.at(position);
                int source = mixture.sourceOf(sample);
                given.get(source).add(sample - first[source]);
            }
        }
        return given;
    }

    @Test
    void everySourceIsGivenInItsOwnOrderEpochAfterEpochThroughCurriculaAndEpochsOfTheMixture() {
        var random = new SplittableRandom(SEED + 1);
        for (int round = 0; round < Thorough.times(70, 200); round++) {
            double[] weights = randomWeights(random);
            int n = weights.length;
            Source[] sources = new Source[n];
            long[] first = new long[n + 1];
            for (int s = 0; s < n; s++) {
                long size = random.nextInt(1, 60);
                sources[s] = new Source(Sampler.shuffled(size, random.nextLong()), weights[s]);
                first[s + 1] = first[s] + size;
            }
            long size = random.nextInt(3, 300);
            Mixture mixture = Mixture.of(size, sources);
            for (long draw = 1 + random.nextInt(80); draw < size; draw += 1 + random.nextInt(100)) {
                double[] others = Arrays.copyOf(randomWeights(random), n);
                others[random.nextInt(n)] += 1;
                mixture = mixture.then(draw, others);
            }
            assertEquals(first[n], mixture.datasetSize());
            List<List<Long>> given = given(mixture, n, first, 3);
            String about = "seed " + (SEED + 1) + ", round " + round + ", " + mixture;
            for (int s = 0; s < n; s++) {
                assertEquals(3 * mixture.drawsPerEpoch(s), given.get(s).size(), about);
                Sampler own = sources[s].sampler();
                for (int i = 0; i < given.get(s).size(); i++) {
                    assertEquals(own.epoch(i / own.size()).at(i % own.size()), given.get(s).get(i),
                            about + ", source " + s + ", draw " + i);
                }
            }
        }
    }

    @Test
    void byChanceGivesTheSameDrawsOfEachBlockInAnotherOrderEachEpoch() {
        for (long size : new long[] {50, 65_540, 200_000}) {
            Mixture even = Mixture.of(size, new Source(Sampler.sequential(1L << 40), 0.7),
                    new Source(Sampler.sequential(1L << 40), 0.3));
            Mixture chance = even.byChance(7);
            long block = 65_540;
            int same = 0;
            for (long epoch = 0; epoch < 2; epoch++) {
                for (long from = 0; from < size; from += block) {
                    int count = (int) Math.min(block, size - from);
                    long[] expected = new long[count];
                    long[] found = new long[count];
                    even.epoch(epoch).fill(from, 1, count, expected);
                    chance.epoch(epoch).fill(from, 1, count, found);
                    for (int i = 0; i < count; i++) {
                        same += expected[i] == found[i] ? 1 : 0;
                    }
                    assertNotEquals(Arrays.hashCode(expected), Arrays.hashCode(found));
                    Arrays.sort(expected);
                    Arrays.sort(found);
                    assertArrayEquals(expected, found);
                }
            }
            assertTrue(same < 30, same + " draws at their own places");
        }
        Mixture chance = Mixture.of(100_000, new Source(Sampler.sequential(1L << 40), 0.5),
                new Source(Sampler.sequential(1L << 40), 0.5)).byChance(9);
        long[] pairs = new long[4];
        for (long i = 0; i < 60_000; i += 2) {
            pairs[2 * chance.sourceOf(chance.epoch(3).at(i)) + chance.sourceOf(chance.epoch(3).at(i + 1))]++;
        }
        ChiSquare.assertFollows("sources of neighbours", pairs, new double[] {7500, 7500, 7500, 7500});
    }

    @Test
    void byEpochsDrawsSoManyEpochsOfEachSource() {
        Mixture mixture = Mixture.ofEpochs(new Source(Sampler.shuffled(1000, 1), 2), new Source(
                Sampler.shuffled(300, 2), 0.5), new Source(Sampler.shuffled(7, 3), 10));
        assertEquals(2000 + 150 + 70, mixture.size());
        assertEquals(2000, mixture.drawsPerEpoch(0));
        assertEquals(150, mixture.drawsPerEpoch(1));
        assertEquals(70, mixture.drawsPerEpoch(2));
    }

    @Test
    void sharesBelowTheSmallestThatIsToldApartAreDrawnNever() {
        Mixture weights = Mixture.of(1L << 30, new Source(Sampler.sequential(10), 1),
                new Source(Sampler.sequential(10), 1e-7));
        assertEquals(0, weights.drawsPerEpoch(1));
        Mixture epochs = Mixture.ofEpochs(new Source(Sampler.sequential(1_000_000_000), 1),
                new Source(Sampler.sequential(100), 1));
        assertEquals(1_000_000_100, epochs.drawsPerEpoch(0));
        assertEquals(0, epochs.drawsPerEpoch(1));
    }

    @Test
    void aMixtureOfMixturesAndItsFingerprint() {
        Mixture inner = Mixture.of(10, new Source(Sampler.sequential(4), 1), new Source(Sampler.sequential(6), 1));
        Mixture outer = Mixture.of(20, new Source(inner, 1), new Source(Sampler.sequential(5), 1));
        assertEquals(15, outer.datasetSize());
        assertEquals(1, outer.sourceOf(10));
        assertEquals("mixture size=20 from=0 weights=[1,1] of [mixture size=10 from=0 weights=[1,1] of [sequential"
                + " size=4; sequential size=6]; sequential size=5]", outer.fingerprint());
        assertNotEquals(outer.fingerprint(), outer.then(5, 1, 2).fingerprint());
        assertNotEquals(outer.fingerprint(), outer.byChance(0).fingerprint());
        assertThrows(IllegalArgumentException.class, () -> outer.then(0, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> outer.then(20, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> outer.then(5, 1));
        assertThrows(IllegalArgumentException.class, () -> outer.then(5, 1, 1).then(5, 1, 1));
    }

    @Test
    void hugeSourcesAreDrawnFromAnywhereAtOnce() {
        Mixture mixture = Mixture.of(1L << 50, new Source(Sampler.shuffled(1L << 55, 1), 0.6),
                new Source(Sampler.shuffled(1L << 56, 2), 0.4)).then(1L << 49, 0.1, 0.9).byChance(3);
        long sample = mixture.epoch(17).at((1L << 50) - 1);
        assertEquals(sample, mixture.epoch(17).at((1L << 50) - 1));
        assertTrue(sample >= 0 && sample < mixture.datasetSize());
    }
}
