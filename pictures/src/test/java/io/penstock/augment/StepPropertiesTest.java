// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepParameters;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What holds of steps for any image. */
class StepPropertiesTest {

    private static final long SEED = 77;

    private static byte[] noise(int height, int width, int channels) {
        byte[] pixels = new byte[height * width * channels];
        new Random(SEED).nextBytes(pixels);
        return pixels;
    }

    /** Applies a pipeline of one step by its own draws, but for what is given. */
    private static byte[] applied(Augment augment, byte[] pixels, int height, int width, int channels,
            Map<String, Double> given) {
        StepParameters drawn = augment.parameters(new KeyedRandom(SEED, 0), 0, height, width).getFirst();
        Map<String, Double> values = new LinkedHashMap<>(drawn.values());
        given.forEach((name, value) -> {
            assertEquals(true, values.containsKey(name), name);
            values.put(name, value);
        });
        TensorSpec result = augment.over(new TensorSpec("image", DType.U8, height, width, channels)).result("image");
        byte[] found = new byte[Math.toIntExact(result.byteSize())];
        augment.apply(List.of(new StepParameters(drawn.step(), values)),
                Tensor.of(MemorySegment.ofArray(pixels), DType.U8, height, width, channels),
                Tensor.of(MemorySegment.ofArray(found), DType.U8, result.shape()));
        return found;
    }

    @Test
    void aRotationBy90DegreesMovesEveryPixelOfASquare() {
        for (Interpolation interpolation : Interpolation.values()) {
            for (int side : new int[] {6, 7}) {
                byte[] pixels = noise(side, side, 1);
                byte[] expected = new byte[side * side];
                for (int y = 0; y < side; y++) {
                    for (int x = 0; x < side; x++) {
                        expected[y * side + x] = pixels[x * side + side - 1 - y];       // counterclockwise
                    }
                }
                assertArrayEquals(expected, applied(Augment.images().rotate(180, interpolation, 9), pixels, side, side,
                        1, Map.of("angle", 90.0)));
            }
        }
    }

    @Test
    void theFillIsAsAPaddingOfThatValue() {
        byte[] pixels = noise(12, 15, 1);
        Map<String, Double> angle = Map.of("angle", 33.0);
        byte[] found = applied(Augment.images().rotate(180, Interpolation.BILINEAR, 50), pixels, 12, 15, 1, angle);
        byte[] padded = applied(Augment.images().pad(Padding.constant(10, 50)), pixels, 12, 15, 1, Map.of());
        byte[] turned = applied(Augment.images().rotate(180, Interpolation.BILINEAR, 50), padded, 32, 35, 1, angle);
        byte[] expected = applied(Augment.images().centerCrop(12, 15), turned, 32, 35, 1, Map.of());
        for (int i = 0; i < found.length; i++) {
            assertEquals(expected[i] & 0xFF, found[i] & 0xFF, 1);
        }
    }

    @Test
    void parametersThatChangeNothingCopyTheImage() {
        byte[] pixels = noise(9, 14, 3);
        Map<String, Double> identity = new LinkedHashMap<>(Map.of("angle", 0.0, "translateX", 0.0, "translateY", 0.0,
                "scale", 1.0, "shearX", 0.0, "shearY", 0.0));
        Range factors = Range.of(0, 2);
        Range one = Range.of(1, 1);
        Range no = Range.of(0, 0);
        for (Interpolation interpolation : Interpolation.values()) {
            unchanged(Augment.images().affine(AffineRanges.degrees(10), interpolation, 50), pixels, identity);
            unchanged(Augment.images().perspective(0.5, 0, interpolation, 50), pixels, Map.of());
            for (int operation : new int[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
                unchanged(Augment.images().trivialAugmentWide(interpolation), pixels,
                        Map.of("operation1", (double) operation, "magnitude1", 0.0));
            }
        }
        unchanged(Augment.images().colorJitter(factors, one, one, no), pixels, Map.of("brightness", 1.0));
        unchanged(Augment.images().colorJitter(one, factors, one, no), pixels, Map.of("contrast", 1.0));
        unchanged(Augment.images().colorJitter(one, one, factors, no), pixels, Map.of("saturation", 1.0));
        unchanged(Augment.images().gamma(factors, 0), pixels, Map.of());
        unchanged(Augment.images().brightnessContrast(0.5, 0.5, 0), pixels, Map.of());
        unchanged(Augment.images().gaussianBlur(3), pixels, Map.of("sigma", 0.05));
        unchanged(Augment.images().gaussianNoise(Range.of(0, 0)), pixels, Map.of());
        unchanged(Augment.images().sharpness(1, 1), pixels, Map.of());
        unchanged(Augment.images().randomErasing(0), pixels, Map.of());
        unchanged(Augment.images().pad(Padding.NONE), pixels, Map.of());
    }

    private static void unchanged(Augment augment, byte[] pixels, Map<String, Double> given) {
        assertArrayEquals(pixels, applied(augment, pixels, 9, 14, 3, given), augment::toString);
    }

    @Test
    void channelsAreMovedAndSmoothedAlike() {
        byte[] pixels = noise(11, 13, 4);
        for (Augment augment : List.of(Augment.images().horizontalFlip(1), Augment.images().verticalFlip(1),
                Augment.images().rotate(40, Interpolation.BILINEAR, 7), Augment.images().perspective(0.5, 1),
                Augment.images().pad(Padding.of(3, Padding.Mode.REFLECT)), Augment.images().gaussianBlur(5),
                Augment.images().randomResizedCrop(8, 6), Augment.images().resize(5, 17, ResizeFilter.NEAREST),
                Augment.images().resize(21, 9, ResizeFilter.BICUBIC), Augment.images().randomErasing(1))) {
            for (int channels = 1; channels <= 4; channels++) {
                byte[] together = applied(augment, part(pixels, 0, channels), 11, 13, channels, Map.of());
                for (int c = 0; c < channels; c++) {
                    byte[] alone = applied(augment, part(pixels, c, 1), 11, 13, 1, Map.of());
                    for (int i = 0; i < alone.length; i++) {
                        assertEquals(alone[i], together[i * channels + c], augment::toString);
                    }
                }
            }
        }
    }

    /** Some of four channels. */
    private static byte[] part(byte[] pixels, int first, int channels) {
        byte[] found = new byte[pixels.length / 4 * channels];
        for (int i = 0; i < found.length; i++) {
            found[i] = pixels[i / channels * 4 + first + i % channels];
        }
        return found;
    }

    @Test
    void imagesOfExtremeSidesAreTaken() {
        for (int[] size : new int[][] {{1, 65_000}, {65_000, 1}, {1, 1}, {2, 3}}) {
            byte[] pixels = noise(size[0], size[1], 3);
            for (Augment augment : List.of(Augment.images().horizontalFlip(1), Augment.images().verticalFlip(1),
                    Augment.images().rotate(40, Interpolation.BILINEAR, 7),
                    Augment.images().affine(AffineRanges.degrees(10).scale(0.01, 0.02), Interpolation.NEAREST, 0),
                    Augment.images().perspective(1, 1), Augment.images().randomResizedCrop(8, 6),
                    Augment.images().resize(5, 7, ResizeFilter.BICUBIC), Augment.images().gaussianBlur(1),
                    Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1), Augment.images().augMix(),
                    Augment.images().sharpness(2, 1), Augment.images().gaussianNoise(Range.of(0.1, 0.1)),
                    Augment.images().randomErasing(1), Augment.images().pad(Padding.of(1, Padding.Mode.SYMMETRIC)))) {
                TensorSpec result = augment.over(new TensorSpec("image", DType.U8, size[0], size[1], 3))
                        .result("image");
                assertEquals(result.byteSize(), applied(augment, pixels, size[0], size[1], 3, Map.of()).length);
            }
        }
    }

    @Test
    void aPipelineIsItsStepsOneAfterTheOther() {
        Augment first = Augment.images().rotate(40, Interpolation.BILINEAR, 7);
        Augment second = Augment.images().gaussianBlur(3);
        Augment both = Augment.images().rotate(40, Interpolation.BILINEAR, 7).gaussianBlur(3);
        byte[] pixels = noise(11, 13, 3);
        byte[] expected = applied(second, applied(first, pixels, 11, 13, 3, Map.of()), 11, 13, 3, Map.of());
        byte[] found = new byte[pixels.length];
        both.apply(both.parameters(new KeyedRandom(SEED, 0), 0, 11, 13),
                Tensor.of(MemorySegment.ofArray(pixels), DType.U8, 11, 13, 3),
                Tensor.of(MemorySegment.ofArray(found), DType.U8, 11, 13, 3));
        assertArrayEquals(expected, found, () -> Arrays.toString(found));
    }
}
