// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.Erasing;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepParameters;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.KeyedRandom;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Operations against what torchvision, Pillow and OpenCV made; {@code bench/peers/augment_vectors.py} is how. A few
 * bytes are those of the specification, where it computes in another order than they do.
 */
class AugmentVectorsTest {

    private static final Range FACTORS = Range.of(0, 2);
    private static final Range ONE = Range.of(1, 1);
    private static final Range TURNS = Range.of(-0.5, 0.5);
    private static final Range NO_TURN = Range.of(0, 0);

    @Test
    void pixelsEqualThoseOfTorchvisionPillowAndOpenCv() throws IOException {
        Map<String, Tensor> images = new HashMap<>();
        Map<String, Integer> cases = new TreeMap<>();
        int differing = 0;
        for (Object line : lines()) {
            Map<String, Object> member = Json.object(line);
            byte[] pixels = Base64.getDecoder().decode((String) member.get("pixels"));
            Tensor expected = Tensor.of(MemorySegment.ofArray(pixels), DType.U8, shape(member.get("shape")));
            if (member.containsKey("image")) {
                images.put((String) member.get("image"), expected);
                continue;
            }
            Tensor in = images.get((String) member.get("of"));
            String operation = (String) member.get("operation");
            Augment pipeline = pipeline(operation, Json.object(member.get("settings")));
            Map<String, Object> given = member.get("parameters") == null ? null : Json.object(member.get("parameters"));
            byte[] found = new byte[pixels.length];
            pipeline.apply(parameters(pipeline, in, given), in,
                    Tensor.of(MemorySegment.ofArray(found), DType.U8, expected.shape()));
            String name = operation + member.get("settings") + member.get("parameters") + " of " + member.get("of");
            differing += makeExact(member, pixels);
            assertArrayEquals(pixels, found, name);
            cases.merge(operation, 1, Integer::sum);
        }
        assertEquals(30, cases.size());
        assertTrue(differing > 0 && differing < 20, "bytes that the specification gives otherwise: " + differing);
        assertTrue(cases.values().stream().allMatch(count -> count >= 3), cases::toString);
    }

    /** Puts the specification's bytes in the place of those that others compute otherwise, and returns their number. */
    static int makeExact(Map<String, Object> member, byte[] pixels) {
        List<Object> places = Json.array(member.getOrDefault("exact", List.of()));
        for (Object place : places) {
            List<Object> exact = Json.array(place);
            pixels[(int) real(exact.getFirst())] = (byte) real(exact.getLast());
        }
        return places.size();
    }

    static List<Object> lines() throws IOException {
        return lines("lines");
    }

    static List<Object> lines(String member) throws IOException {
        try (InputStream file = new GZIPInputStream(AugmentVectorsTest.class.getResourceAsStream("vectors.json.gz"))) {
            return Json.array(Json.object(Json.parse(file.readAllBytes())).get(member));
        }
    }

    static Augment pipeline(String operation, Map<String, Object> settings) {
        Augment images = Augment.images();
        return switch (operation) {
            case "horizontalFlip" -> images.horizontalFlip(0.5);
            case "verticalFlip" -> images.verticalFlip(0.5);
            case "invert" -> images.invert(0.5);
            case "autocontrast" -> images.autocontrast(0.5);
            case "equalize" -> images.equalize(0.5);
            case "grayscale" -> images.grayscale(0.1);
            case "posterize" -> images.posterize(whole(settings, "bits"), 0.5);
            case "solarize" -> images.solarize(real(settings.get("threshold")), 0.5);
            case "sharpness" -> images.sharpness(real(settings.get("factor")), 0.5);
            case "brightness" -> images.colorJitter(FACTORS, ONE, ONE, NO_TURN);
            case "contrast" -> images.colorJitter(ONE, FACTORS, ONE, NO_TURN);
            case "saturation" -> images.colorJitter(ONE, ONE, FACTORS, NO_TURN);
            case "hue" -> images.colorJitter(ONE, ONE, ONE, TURNS);
            case "rotate" -> images.rotate(180, interpolation(settings), whole(settings, "fill"));
            case "affine" -> images.affine(AffineRanges.degrees(180), interpolation(settings),
                    whole(settings, "fill"));
            case "trivialAugmentWide" -> images.trivialAugmentWide(interpolation(settings));
            case "randAugment" -> images.randAugment(2, 9, interpolation(settings));
            case "colorJitter" -> images.colorJitter(FACTORS, FACTORS, FACTORS, TURNS);
            case "randomCrop" -> images.randomCrop(whole(settings, "height"), whole(settings, "width"),
                    new Padding(whole(settings, "padding"), Padding.Mode.valueOf((String) settings.get("mode")),
                            whole(settings, "fill")));
            case "centerCrop" -> images.centerCrop(whole(settings, "height"), whole(settings, "width"));
            case "randomResizedCrop" -> images.randomResizedCrop(whole(settings, "height"), whole(settings, "width"));
            case "resize" -> settings.containsKey("shorter") ? images.resize(whole(settings, "shorter"))
                    : images.resize(whole(settings, "height"), whole(settings, "width"),
                            ResizeFilter.valueOf((String) settings.get("filter")));
            case "pad" -> images.pad(new Padding(whole(settings, "padding"),
                    Padding.Mode.valueOf((String) settings.get("mode")), whole(settings, "fill")));
            case "perspective" -> images.perspective(0.5, 0.5, interpolation(settings), whole(settings, "fill"));
            case "gaussianBlur" -> images.gaussianBlur(whole(settings, "size"));
            case "gamma" -> images.gamma(FACTORS, 0.5);
            case "brightnessContrast" -> images.brightnessContrast(0.5, 1, 0.5);
            case "autoAugment" -> images.autoAugment(AutoAugmentPolicy.IMAGENET, interpolation(settings));
            case "augMix" -> images.augMix();
            case "randomErasing" -> images.randomErasing(0.5, Erasing.SCALE, Erasing.RATIO, whole(settings, "value"));
            default -> throw new IllegalArgumentException(operation);
        };
    }

    /** Drawn parameters with the given ones in their place; those drawn where the vector has none. */
    private static List<StepParameters> parameters(Augment pipeline, Tensor in, Map<String, Object> given) {
        StepParameters drawn = pipeline.parameters(new KeyedRandom(1, 0), 0, (int) in.dim(0), (int) in.dim(1)).get(0);
        Map<String, Double> values = new LinkedHashMap<>(drawn.values());
        if (given != null) {
            given.forEach((name, value) -> {
                assertTrue(values.containsKey(name), name);
                values.put(name, real(value));
            });
        }
        return List.of(new StepParameters(drawn.step(), values));
    }

    private static Interpolation interpolation(Map<String, Object> settings) {
        return Interpolation.valueOf((String) settings.get("interpolation"));
    }

    private static int whole(Map<String, Object> settings, String name) {
        return (int) real(settings.get(name));
    }

    static double real(Object number) {
        return ((Number) number).doubleValue();
    }

    static long[] shape(Object array) {
        return Json.array(array).stream().mapToLong(size -> ((Number) size).longValue()).toArray();
    }
}
