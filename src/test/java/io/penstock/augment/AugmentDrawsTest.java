// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
                .randAugment().trivialAugmentWide(Interpolation.NEAREST);
        List<Object> cases = Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/augment.json")))).get("draws"));
        assertEquals(72, cases.size());
        for (Object line : cases) {
            Map<String, Object> member = Json.object(line);
            var random = new KeyedRandom(whole(member.get("seed")), whole(member.get("epoch")));
            long[] image = AugmentVectorsTest.shape(member.get("image"));
            List<StepParameters> drawn = new ArrayList<>();
            for (Augment pipeline : List.of(augment, erasing, others, colors, warps)) {
                drawn.addAll(pipeline.parameters(random, whole(member.get("position")), (int) image[0],
                        (int) image[1]));
            }
            Map<String, Object> values = Json.object(member.get("values"));
            assertEquals(values.size(), drawn.size());
            for (StepParameters step : drawn) {
                List<Double> expected = Json.array(values.get(step.step().substring(Augment.NAME.length() + 1)))
                        .stream().map(value -> ((Number) value).doubleValue()).toList();
                assertEquals(expected, step.values().values().stream().map(value -> value + 0.0).toList(),
                        () -> step + " of " + member);
            }
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
