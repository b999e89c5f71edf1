// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.AutoAugmentPairs;
import io.penstock.augment.step.Distributions;
import io.penstock.augment.step.Erasing;
import io.penstock.augment.step.RandomResizedCrop;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.StepParameters;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.KeyedRandom;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/** What the steps draw: the vectors of the specification, and statistics with a fixed seed. */
class AugmentDrawsTest {

    private static final long SEED = 2024;
    private static final int DRAWS = 24_000;

    @Test
    void drawsAreThoseOfTheSpecification() throws IOException {
        Augment augment = Augment.images().randomResizedCrop(3, 3);
        Augment erasing = Augment.images().randomErasing(0.75, Erasing.SCALE, Erasing.RATIO, 0);
        Augment others = Augment.images().randomCrop(6, 5, Padding.of(4, Padding.Mode.EDGE));
        Augment colors = Augment.images().horizontalFlip(0.5).horizontalFlip(0.25).colorJitter(0.4, 0.4, 1.5, 0.1);
        Augment warps = Augment.images().rotate(30, Interpolation.NEAREST, 0)
                .affine(AffineRanges.degrees(15).translate(0.25, 0.1).scale(0.8, 1.2).shear(5, 10),
                        Interpolation.BILINEAR, 0)
                .randAugment().trivialAugmentWide(Interpolation.NEAREST).perspective(0.5, 0.75);
        Augment more = Augment.images().gaussianBlur(3).gamma(Range.of(0.8, 1.2), 0.5).brightnessContrast(0.2, 0.3, 0.5)
                .gaussianNoise(Range.of(0.05, 0.2));
        Augment policies = Augment.images().autoAugment(AutoAugmentPolicy.IMAGENET, Interpolation.NEAREST)
                .autoAugment(AutoAugmentPolicy.CIFAR10, Interpolation.NEAREST)
                .autoAugment(AutoAugmentPolicy.SVHN, Interpolation.NEAREST).augMix()
                .augMix(10, 2, 2, 0.4, Interpolation.NEAREST);
        BatchMix mix = BatchMix.pairs("image", "label").mixUp(0.2).cutMix(1, Layout.NHWC).probability(0.9);
        BatchMix each = mix.mixUpEach(0.2);
        List<Object> cases = Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/augment.json")))).get("draws"));
        assertEquals(72, cases.size());
        for (Object line : cases) {
            Map<String, Object> member = Json.object(line);
            var random = new KeyedRandom(whole(member.get("seed")), whole(member.get("epoch")));
            long[] image = AugmentVectorsTest.shape(member.get("image"));
            List<StepParameters> drawn = new ArrayList<>();
            long position = whole(member.get("position"));
            for (Augment pipeline : List.of(augment, erasing, others, colors, warps, more, policies)) {
                // a blur needs 2 rows and columns to be checked, and draws the same for any
                boolean isSmall = pipeline == more && Math.min(image[0], image[1]) < 2;
                drawn.addAll(pipeline.parameters(random, position, isSmall ? 2 : (int) image[0],
                        isSmall ? 2 : (int) image[1]));
            }
            double[] ofBatch = new double[BatchMix.PARAMETERS];
            random.select(position, KeyedRandom.step(BatchMix.NAME));
            mix.draw(random, (int) image[0], (int) image[1], ofBatch);
            double[] weights = new double[3];
            each.drawWeights(random, ofBatch, weights, 3);
            Map<String, Object> values = Json.object(member.get("values"));
            assertEquals(values.size(), drawn.size() + 2);
            assertClose(numbers(values.get(BatchMix.NAME)), ofBatch, member);
            assertClose(numbers(values.get("weights")), weights, member);
            for (StepParameters step : drawn) {
                List<Double> expected = numbers(values.get(step.step().substring(Augment.NAME.length() + 1)));
                double[] found = step.values().values().stream().mapToDouble(value -> value).toArray();
                if (step.step().contains("augMix")) {
                    assertClose(expected, found, step);
                } else {
                    assertEquals(expected, Arrays.stream(found).mapToObj(value -> value + 0.0).toList(),
                            () -> step + " of " + member);
                }
            }
        }
    }

    private static List<Double> numbers(Object array) {
        return Json.array(array).stream().map(value -> ((Number) value).doubleValue() + 0.0).toList();
    }

    /** Weights depend on log and exp, whose last digits differ by library. */
    private static void assertClose(List<Double> expected, double[] found, Object of) {
        for (int i = 0; i < found.length; i++) {
            assertEquals(expected.get(i), found[i], 1e-12, of::toString);
        }
        assertEquals(expected.size(), found.length);
    }

    @Test
    void noiseIsThatOfTheSpecification() throws IOException {
        List<Object> cases = Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/augment.json")))).get("noise"));
        assertEquals(9, cases.size());
        Augment augment = Augment.images().gaussianNoise(Range.of(0, 1));
        for (Object line : cases) {
            Map<String, Object> member = Json.object(line);
            byte[] pixels = new byte[12];
            Arrays.fill(pixels, (byte) 128);
            Map<String, Double> values = new LinkedHashMap<>();
            values.put("sigma", ((Number) member.get("sigma")).doubleValue());
            values.put("key", (double) whole(member.get("key")));
            Tensor image = Tensor.of(MemorySegment.ofArray(pixels), DType.U8, 2, 2, 3);
            augment.apply(List.of(new StepParameters("penstock.augment.gaussianNoise", values)), image, image);
            List<Double> found = new ArrayList<>();
            for (byte value : pixels) {
                found.add((double) (value & 0xFF));
            }
            assertEquals(numbers(member.get("bytes")), found, member::toString);
        }
    }

    @Test
    void noiseHasItsDeviationAndDoesNotDependOnItsNeighbors() {
        int side = 200;
        byte[] pixels = new byte[side * side];
        Arrays.fill(pixels, (byte) 128);
        Tensor image = Tensor.of(MemorySegment.ofArray(pixels), DType.U8, side, side, 1);
        Augment augment = Augment.images().gaussianNoise(Range.of(0.1, 0.1));
        augment.apply(augment.parameters(new KeyedRandom(SEED, 0), 0, side, side), image, image);
        double sum = 0;
        double squares = 0;
        double products = 0;
        for (int i = 0; i < pixels.length; i++) {
            double noise = (pixels[i] & 0xFF) - 128;
            sum += noise;
            squares += noise * noise;
            products += noise * ((pixels[(i + 1) % pixels.length] & 0xFF) - 128);
        }
        int n = pixels.length;
        assertEquals(0, sum / n, 4 * 25.5 / Math.sqrt(n));
        assertEquals(25.5, Math.sqrt(squares / n), 4 * 25.5 / Math.sqrt(2 * n));
        assertEquals(0, products / squares, 4 / Math.sqrt(n));
    }

    @Test
    void weightsHaveTheirBetaDistribution() {
        // the distribution functions of Beta(1, 1), Beta(2, 2) and Beta(1/2, 1/2)
        assertDistributed(1, x -> x);
        assertDistributed(2, x -> x * x * (3 - 2 * x));
        assertDistributed(0.5, x -> 2 / Math.PI * Math.asin(Math.sqrt(x)));
    }

    /** Kolmogorov and Smirnov's test, at one in a thousand. */
    private static void assertDistributed(double alpha, DoubleUnaryOperator distribution) {
        double[] weights = new double[DRAWS];
        var random = new KeyedRandom(SEED, 1);
        for (int i = 0; i < DRAWS; i++) {
            random.select(i, 0);
            weights[i] = Distributions.beta(random, alpha);
        }
        Arrays.sort(weights);
        double most = 0;
        for (int i = 0; i < DRAWS; i++) {
            most = Math.max(most, Math.abs(distribution.applyAsDouble(weights[i]) - (i + 0.5) / DRAWS));
        }
        assertTrue(most < 1.95 / Math.sqrt(DRAWS), alpha + ": " + most);
    }

    @Test
    void aSmallAlphaGivesWeightsNearTheEndsAndNoNaN() {
        var random = new KeyedRandom(SEED, 1);
        double sum = 0;
        for (int i = 0; i < 2000; i++) {
            random.select(i, 0);
            double weight = Distributions.beta(random, 1e-4);
            assertTrue(weight >= 0 && weight <= 1);
            sum += weight;
        }
        assertEquals(0.5, sum / 2000, 4 * 0.5 / Math.sqrt(2000));
    }

    @Test
    void batchesAreMixedAndCutEquallyOftenAndTheRectangleHasTheWeightsArea() {
        BatchMix mix = BatchMix.soft("image", "label", 2).mixUp(1).cutMix(1, Layout.NCHW).probability(0.5);
        int[] kinds = new int[3];
        double[] drawn = new double[BatchMix.PARAMETERS];
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            random.select(i, 3);
            mix.draw(random, 32, 48, drawn);
            kinds[(int) drawn[0]]++;
            if (drawn[0] == 2) {
                assertEquals(1 - (drawn[4] - drawn[2]) * (drawn[5] - drawn[3]) / (32 * 48), drawn[1]);
                assertTrue(drawn[2] >= 0 && drawn[3] >= 0 && drawn[4] <= 32 && drawn[5] <= 48);
            }
        }
        assertEquals(DRAWS / 2.0, kinds[0], 4 * Math.sqrt(DRAWS / 4.0));
        assertEquals(DRAWS / 4.0, kinds[1], 4 * Math.sqrt(DRAWS * 3 / 16.0));
        assertEquals(DRAWS / 4.0, kinds[2], 4 * Math.sqrt(DRAWS * 3 / 16.0));
    }

    @Test
    void thePairsOfAPolicyAreEquallyFrequentAndTheirTrialsHaveTheirProbabilities() {
        Augment augment = Augment.images().autoAugment(AutoAugmentPolicy.IMAGENET, Interpolation.NEAREST);
        var random = new KeyedRandom(SEED, 0);
        int[] first = new int[15];
        for (int i = 0; i < DRAWS; i++) {
            first[augment.parameters(random, i, 331, 662).get(0).values().get("operation1").intValue()]++;
        }
        double[] expected = new double[15];
        for (int i = 0; i < AutoAugmentPairs.PAIRS; i++) {
            AutoAugmentPairs.Trial trial = AutoAugmentPairs.IMAGENET.pair(i).first();
            expected[trial.operation().ordinal()] += trial.probability() / 25;
            expected[0] += (1 - trial.probability()) / 25;
        }
        for (int operation = 0; operation < 15; operation++) {
            double p = expected[operation];
            assertEquals(DRAWS * p, first[operation], 4 * Math.sqrt(DRAWS * p * (1 - p)));
        }
    }

    @Test
    void theChainsOfAugMixHaveAllLengthsAndOperationsAndTheirWeightsSumToOne() {
        Augment augment = Augment.images().augMix();
        var random = new KeyedRandom(SEED, 0);
        int[] lengths = new int[4];
        int[] operations = new int[15];
        int chains = DRAWS / 8;
        for (int i = 0; i < chains; i++) {
            List<Double> values = List.copyOf(augment.parameters(random, i, 90, 90).get(0).values().values());
            assertEquals(1, values.get(0) + values.get(1) + values.get(2) + values.get(3), 1e-12);
            int length = 0;
            for (int k = 0; k < 3; k++) {
                int operation = values.get(7 + k).intValue();           // of the second chain
                length += operation > 0 ? 1 : 0;
                operations[operation]++;
                double magnitude = Math.abs(values.get(16 + k));
                assertTrue(operation != 5 || magnitude == 0 || magnitude == 30 / 9.0 || magnitude == 60 / 9.0);
            }
            lengths[length]++;
        }
        assertEquals(0, lengths[0] + operations[14]);
        for (int length = 1; length <= 3; length++) {
            assertEquals(chains / 3.0, lengths[length], 4 * Math.sqrt(chains * 2 / 9.0));
        }
        for (int operation = 1; operation <= 13; operation++) {
            assertEquals(2 * chains / 13.0, operations[operation], 4 * Math.sqrt(2 * chains / 13.0));
        }
    }

    @Test
    void cornersOfAPerspectiveMoveInwardsUniformly() {
        Augment augment = Augment.images().perspective(0.5, 1);
        int[][] moves = new int[8][16];
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            List<Double> values = List.copyOf(augment.parameters(random, i, 61, 60).get(0).values().values());
            for (int k = 0; k < 8; k++) {
                moves[k][values.get(k).intValue()]++;                   // 0 to 15, which is half of 30
            }
        }
        for (int[] counts : moves) {
            assertUniform(counts);
        }
    }

    private static long whole(Object number) {
        return ((Number) number).longValue();
    }

    @Test
    void areasAndRatiosOfResizedCropsAreUniformWhereAllFit() {
        Augment augment = Augment.images().randomResizedCrop(9, 9, Range.of(0.1, 0.4), RandomResizedCrop.RATIO);
        int[] areas = new int[16];
        int[] ratios = new int[16];
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            Map<String, Double> crop = augment.parameters(random, i, 4000, 4000).get(0).values();
            double h = crop.get("height");
            double w = crop.get("width");
            areas[bin(h * w / 16e6, 0.1, 0.4)]++;
            ratios[bin(Math.log(w / h), Math.log(0.75), Math.log(4 / 3.0))]++;
        }
        assertUniform(areas);
        assertUniform(ratios);
    }

    private static int bin(double value, double low, double high) {
        return Math.clamp((int) (16 * (value - low) / (high - low)), 0, 15);
    }

    @Test
    void aResizedCropOfAnImageThatIsTooLongIsItsMiddle() {
        Augment augment = Augment.images().randomResizedCrop(9, 9);
        var random = new KeyedRandom(SEED, 0);
        assertEquals("{top=0.0, left=993.0, height=10.0, width=13.0}",
                augment.parameters(random, 1, 10, 2000).get(0).values().toString());
        assertEquals("{top=993.0, left=0.0, height=13.0, width=10.0}",
                augment.parameters(random, 1, 2000, 10).get(0).values().toString());
        assertEquals("{top=0.0, left=0.0, height=1.0, width=1.0}",
                augment.parameters(random, 1, 1, 1).get(0).values().toString());
    }

    @Test
    void placesOfCropsAreEquallyFrequent() {
        Augment augment = Augment.images().randomCrop(5, 6, Padding.constant(1, 0));
        int[] places = new int[16];
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            Map<String, Double> crop = augment.parameters(random, i, 6, 7).get(0).values();
            places[(int) (4 * crop.get("top") + crop.get("left"))]++;
        }
        assertUniform(places);
    }

    @Test
    void theOrdersOfColorChangesAreEquallyFrequentAndFactorsAreUniform() {
        Augment augment = Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1);
        Map<String, Integer> orders = new HashMap<>();
        int[][] factors = new int[4][16];
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            List<Double> values = List.copyOf(augment.parameters(random, i, 6, 7).get(0).values().values());
            orders.merge(values.subList(0, 4).toString(), 1, Integer::sum);
            for (int k = 0; k < 3; k++) {
                factors[k][bin(values.get(4 + k), 0.6, 1.4)]++;
            }
            factors[3][bin(values.get(7), -0.1, 0.1)]++;
        }
        assertEquals(24, orders.size());
        assertUniform(orders.values().stream().mapToInt(count -> count).toArray());
        for (int[] counts : factors) {
            assertUniform(counts);
        }
    }

    @Test
    void decisionsHaveTheirProbabilityAndDoNotDependOnOtherStepsEpochsOrNeighbors() {
        Augment augment = Augment.images().horizontalFlip(0.5).verticalFlip(0.5).randomErasing(0.5);
        int[] joint = new int[16];
        boolean before = false;
        for (int i = 0; i < DRAWS; i++) {
            List<StepParameters> now = augment.parameters(new KeyedRandom(SEED, 0), i, 100, 100);
            List<StepParameters> next = augment.parameters(new KeyedRandom(SEED, 1), i, 100, 100);
            boolean horizontal = now.get(0).values().get("applied") == 1;
            joint[(horizontal ? 1 : 0) + (now.get(1).values().get("applied") == 1 ? 2 : 0)
                    + (next.get(0).values().get("applied") == 1 ? 4 : 0) + (before ? 8 : 0)]++;
            before = horizontal;
        }
        assertUniform(joint);
    }

    @Test
    void operationsAndMagnitudesOfPoliciesAreEquallyFrequent() {
        Augment augment = Augment.images().trivialAugmentWide(Interpolation.NEAREST).randAugment();
        int[] operations = new int[14];
        int[] first = new int[14];
        int[] rotations = new int[61];
        int rotated = 0;
        var random = new KeyedRandom(SEED, 0);
        for (int i = 0; i < DRAWS; i++) {
            List<StepParameters> drawn = augment.parameters(random, i, 331, 662);
            List<Double> wide = List.copyOf(drawn.get(0).values().values());
            List<Double> rand = List.copyOf(drawn.get(1).values().values());
            operations[wide.get(0).intValue()]++;
            first[rand.get(2).intValue()]++;
            if (wide.get(0) == 5) {
                rotations[(int) Math.rint(wide.get(1) / 4.5) + 30]++;
                rotated++;
            }
            double magnitude = Math.abs(rand.get(1));
            assertEquals(List.of(0.0, 0.09, 0.09, 90.0, 45.0, 9.0, 0.27, 0.27, 0.27, 0.27, 7.0, 178.5, 0.0, 0.0)
                    .get(rand.get(0).intValue()), magnitude, 1e-12);
        }
        assertUniform(operations);
        assertUniform(first);
        for (int bin = 1; bin <= 30; bin++) {
            assertEquals(rotated / 62.0, rotations[30 + bin], 4.5 * Math.sqrt(rotated / 62.0));
            assertEquals(rotated / 62.0, rotations[30 - bin], 4.5 * Math.sqrt(rotated / 62.0));
        }
    }

    @Test
    void anErasedRectangleIsInsideTheImageAndHasTheAreaAskedFor() {
        Augment augment = Augment.images().randomErasing(0.25);
        var random = new KeyedRandom(SEED, 0);
        int erased = 0;
        for (int i = 0; i < DRAWS; i++) {
            Map<String, Double> rectangle = augment.parameters(random, i, 100, 80).get(0).values();
            double h = rectangle.get("height");
            double w = rectangle.get("width");
            if (h > 0) {
                erased++;
                assertTrue(rectangle.get("top") + h <= 100 && rectangle.get("left") + w <= 80 && h < 100 && w < 80);
                assertTrue(h * w / 8000 > 0.018 && h * w / 8000 < 0.34 && h / w > 0.27 && h / w < 3.6,
                        () -> h + " " + w);
            }
        }
        assertEquals(DRAWS / 4.0, erased, 4 * Math.sqrt(DRAWS * 3 / 16.0));
    }

    /** Chi-squared: below what one in a thousand uniform counts exceeds, for 13, 15 or 23 degrees of freedom. */
    private static void assertUniform(int[] counts) {
        double expected = (double) DRAWS / counts.length;
        double sum = 0;
        for (int count : counts) {
            sum += (count - expected) * (count - expected) / expected;
        }
        double most = counts.length == 14 ? 34.5 : counts.length == 16 ? 37.7 : 49.7;
        double found = sum;
        assertTrue(found < most, () -> "chi-squared " + found + " of " + Arrays.toString(counts));
    }
}
