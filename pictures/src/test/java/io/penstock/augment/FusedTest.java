// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.Passes;
import io.penstock.augment.step.TargetMap.Output;
import io.penstock.augment.step.Targets;
import io.penstock.dataset.source.SampleMap;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.PixelFormat;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepParameters;
import io.penstock.image.Target;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.Oracle;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.testing.HeapUse;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Steps whose maps are composed. */
class FusedTest {

    private static final long SEED = 4711;

    private static Tensor noise(int height, int width, int channels) {
        byte[] pixels = new byte[height * width * channels];
        new Random(SEED).nextBytes(pixels);
        return Tensor.of(MemorySegment.ofArray(pixels), DType.U8, height, width, channels);
    }

    private static List<StepParameters> drawn(Augment augment, Tensor in, long position) {
        return augment.parameters(new KeyedRandom(SEED, 0), position, (int) in.dim(0), (int) in.dim(1));
    }

    private static byte[] applied(Augment augment, List<StepParameters> parameters, Tensor in) {
        TensorSpec result = augment.result(new TensorSpec("image", DType.U8, in.shape()));
        byte[] found = new byte[Math.toIntExact(result.byteSize())];
        augment.apply(parameters, in, Tensor.of(MemorySegment.ofArray(found), DType.U8, result.shape()));
        return found;
    }

    private static byte[] applied(Augment augment, Tensor in, long position) {
        return applied(augment, drawn(augment, in, position), in);
    }

    /** Steps of every kind that can be fused. */
    private static Augment steps(Augment to) {
        return to.randomResizedCrop(24, 20).horizontalFlip(0.5).verticalFlip(0.5).pad(Padding.constant(2, 9))
                .rotate(20, Interpolation.BILINEAR, 9)
                .affine(AffineRanges.degrees(10).scale(0.8, 1.2).translate(0.1, 0.1).shear(5, 5),
                        Interpolation.BILINEAR, 9)
                .perspective(0.2, 0.5, Interpolation.BILINEAR, 9).resize(30).centerCrop(22, 26);
    }

    @Test
    void pixelsEqualThoseOfTheSpecification() throws IOException {
        Map<String, Tensor> images = new HashMap<>();
        int cases = 0;
        for (Object line : Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/augment-fused.json")))).get("fused"))) {
            Map<String, Object> member = Json.object(line);
            byte[] pixels = Base64.getDecoder().decode((String) member.get("pixels"));
            if (member.containsKey("image")) {
                images.put((String) member.get("image"), Tensor.of(MemorySegment.ofArray(pixels), DType.U8,
                        AugmentVectorsTest.shape(member.get("shape"))));
                continue;
            }
            Tensor in = images.get((String) member.get("of"));
            Augment augment = Augment.images().fused();
            List<Double> values = new ArrayList<>();
            for (Object step : Json.array(member.get("steps"))) {
                augment = with(augment, Json.object(step), (int) AugmentVectorsTest.real(member.get("fill")));
                List<Double> given = doubles(Json.object(step).get("values"));
                List<Double> own = new ArrayList<>(drawn(augment, in, 0).getFirst().values().values());
                values.addAll(given.isEmpty() ? own.subList(values.size(), own.size()) : given);
            }
            StepParameters named = drawn(augment, in, 0).getFirst();
            Map<String, Double> byName = new LinkedHashMap<>();
            named.values().keySet().forEach(name -> byName.put(name, values.get(byName.size())));
            assertArrayEquals(pixels, applied(augment, List.of(new StepParameters(named.step(), byName)), in),
                    augment + " of " + member.get("of"));
            cases++;
        }
        assertEquals(18, cases);
    }

    private static List<Double> doubles(Object array) {
        return Json.array(array).stream().map(AugmentVectorsTest::real).toList();
    }

    private static Augment with(Augment to, Map<String, Object> step, int fill) {
        int[] size = doubles(step.get("settings")).stream().mapToInt(Double::intValue).toArray();
        return switch ((String) step.get("operation")) {
            case "randomResizedCrop" -> to.randomResizedCrop(size[0], size[1]);
            case "resize" -> to.resize(size[0], size[1]);
            case "centerCrop" -> to.centerCrop(size[0], size[1]);
            case "randomCrop" -> to.randomCrop(size[0], size[1], Padding.constant(size[2], fill));
            case "pad" -> to.pad(Padding.constant(size[0], fill));
            case "horizontalFlip" -> to.horizontalFlip(1);
            case "verticalFlip" -> to.verticalFlip(1);
            case "rotate" -> to.rotate(180, Interpolation.BILINEAR, fill);
            case "affine" -> to.affine(AffineRanges.degrees(180), Interpolation.BILINEAR, fill);
            default -> to.perspective(0.5, 1, Interpolation.BILINEAR, fill);
        };
    }

    @Test
    void eachStepDrawsAsItWouldAlone() {
        Tensor in = noise(37, 51, 3);
        for (int position = 0; position < 50; position++) {
            List<Double> alone = drawn(steps(Augment.images()), in, position).stream()
                    .flatMap(step -> step.values().values().stream()).toList();
            StepParameters fused = drawn(steps(Augment.images().fused()), in, position).getFirst();
            assertEquals(alone, List.copyOf(fused.values().values()));
            assertTrue(fused.values().containsKey("affine.shearY"), fused.toString());
        }
    }

    @Test
    void movesByWholePixelsAreThoseOfStepByStep() {
        Tensor in = noise(19, 26, 3);
        Augment moves = Augment.images().randomCrop(17, 20, Padding.constant(4, 30)).horizontalFlip(0.5)
                .verticalFlip(0.5).centerCrop(15, 12);
        for (int position = 0; position < 50; position++) {
            assertArrayEquals(applied(moves, in, position),
                    applied(Augment.images().fused().randomCrop(17, 20, Padding.constant(4, 30)).horizontalFlip(0.5)
                            .verticalFlip(0.5).centerCrop(15, 12), in, position), "position " + position);
        }
    }

    @Test
    void aResizeIsThatOfPillowWithin1() {
        Tensor in = noise(40, 50, 3);
        for (int[] size : new int[][] {{20, 30}, {7, 90}, {64, 55}, {1, 1}, {40, 50}}) {
            byte[] pillow = applied(Augment.images().resize(size[0], size[1]), in, 0);
            byte[] found = applied(Augment.images().fused().resize(size[0], size[1]), in, 0);
            for (int i = 0; i < pillow.length; i++) {
                assertEquals(pillow[i] & 0xFF, found[i] & 0xFF, 1, Arrays.toString(size));
            }
        }
    }

    @Test
    void aRotationAloneIsThatOfStepByStepWithin1() {
        Tensor in = noise(60, 80, 3);
        byte[] alone = applied(Augment.images().rotate(180, Interpolation.BILINEAR, 77), in, 0);
        byte[] found = applied(Augment.images().fused().rotate(180, Interpolation.BILINEAR, 77), in, 0);
        for (int i = 0; i < alone.length; i++) {
            assertEquals(alone[i] & 0xFF, found[i] & 0xFF, 1, "byte " + i);
        }
    }

    @Test
    void aTurnedChessboardBecomesGrayWhenItIsReduced() {
        Tensor board = noise(240, 240, 1);
        for (int i = 0; i < 240 * 240; i++) {
            board.segment().set(ValueLayout.JAVA_BYTE, i, (byte) ((i % 240 + i / 240) % 2 == 0 ? 0 : 255));
        }
        AffineRanges smaller = new AffineRanges(Range.of(30, 30), 0, 0, Range.of(0.15, 0.15), Range.of(0, 0),
                Range.of(0, 0));
        byte[] found = applied(Augment.images().fused().affine(smaller, Interpolation.BILINEAR, 0).centerCrop(16, 16),
                board, 0);
        byte[] aliased = applied(Augment.images().affine(smaller, Interpolation.BILINEAR, 0).centerCrop(16, 16), board,
                0);
        int spread = 0;
        for (int i = 0; i < found.length; i++) {
            assertEquals(127.5, found[i] & 0xFF, 3, "byte " + i);
            spread = Math.max(spread, Math.abs((aliased[i] & 0xFF) - 127));
        }
        assertTrue(spread > 50, "step by step it is gray, too: " + spread);
    }

    @Test
    void whatACropCutsOffIsTurnedInAgain() {
        Tensor in = noise(40, 40, 1);
        in.segment().fill((byte) 200);
        Augment turned = Augment.images().fused().centerCrop(16, 16).rotate(180, Interpolation.BILINEAR, 0);
        byte[] white = new byte[16 * 16];
        Arrays.fill(white, (byte) 200);
        for (int position = 0; position < 20; position++) {
            assertArrayEquals(white, applied(turned, in, position));
        }
    }

    @Test
    void theStepsBehindSeeThePixelsOfTheFusedOnes() {
        Tensor in = noise(33, 44, 3);
        Augment fused = Augment.images().fused().randomResizedCrop(20, 24).rotate(30, Interpolation.BILINEAR, 0);
        Augment behind = Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1).gaussianBlur(3).randomErasing(0.9);
        Augment all = fused.colorJitter(0.4, 0.4, 0.4, 0.1).gaussianBlur(3).randomErasing(0.9);
        for (int position = 0; position < 10; position++) {
            Tensor first = Tensor.of(MemorySegment.ofArray(applied(fused, in, position)), DType.U8, 20, 24, 3);
            assertArrayEquals(applied(behind, first, position), applied(all, in, position));
        }
    }

    @Test
    void thePixelsOfAFileAreThoseOfDecodingItWhole() throws IOException {
        Augment large = Augment.images().fused().randomResizedCrop(60, 50, Range.of(0.1, 0.4), Range.of(0.5, 2))
                .horizontalFlip(0.5).rotate(30, Interpolation.BILINEAR, 0).perspective(0.3, 0.5);
        for (String name : List.of("noise_420.jpg", "noise_422_progressive.jpg", "restarts_420.jpg")) {
            byte[] file = Files.readAllBytes(Oracle.folder().resolve(name));
            try (Arena arena = Arena.ofConfined(); var reader = new ImageReader()) {
                MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, file);
                var header = reader.read(stored, file.length);
                Tensor whole = Tensor.of(arena.allocate(3L * header.height() * header.width()), DType.U8,
                        header.height(), header.width(), 3);
                reader.decode(PixelFormat.RGB, 1, whole.segment(), 0);
                for (Augment augment : List.of(small(), large.centerCrop(40, 44))) {
                    for (int position = 0; position < 20; position++) {
                        List<StepParameters> parameters = drawn(augment, whole, position);
                        byte[] expected = applied(augment, parameters, whole);
                        byte[] found = new byte[expected.length];
                        TensorSpec result = augment.result(new TensorSpec("image", DType.U8, whole.shape()));
                        augment.apply(parameters, Tensor.of(stored, DType.U8, file.length),
                                Tensor.of(MemorySegment.ofArray(found), DType.U8, result.shape()));
                        assertArrayEquals(expected, found, name + " at " + position);
                    }
                }
            }
        }
    }

    /** Reduces so much that the image is weighed first; without a rotation, straight to the result. */
    private static Augment small() {
        return Augment.images().fused().randomResizedCrop(9, 8).rotate(30, Interpolation.BILINEAR, 0)
                .horizontalFlip(0.5);
    }

    @Test
    void aMaskABoxAndAKeypointGoWhereAPaintedDotGoes() throws IOException {
        Augment augment = Augment.images().fused().resize(60, 50).rotate(25, Interpolation.BILINEAR, 0)
                .horizontalFlip(0.5).perspective(0.2, 0.5).centerCrop(44, 40);
        TensorSpec field = new TensorSpec("image", DType.U8, 90, 80, 1);
        Targets targets = new Targets("image", augment.over(field), Augment.NAME, "text");
        Tensor image = noise(90, 80, 1);
        image.segment().fill((byte) 0);
        for (int i = 0; i < 36; i++) {                                  // 6 x 6 pixels about (43, 50)
            image.segment().set(ValueLayout.JAVA_BYTE, (47L + i / 6) * 80 + 40 + i % 6, (byte) 255);
        }
        Tensor box = Tensor.of(MemorySegment.ofArray(new float[] {40, 47, 46, 53}), DType.F32, 1, 4);
        Tensor point = Tensor.of(MemorySegment.ofArray(new float[] {43, 50}), DType.F32, 1, 2);
        for (int position = 0; position < 30; position++) {
            KeyedRandom random = new KeyedRandom(SEED, 0);
            random.select(position, 0);
            byte[] mask = new byte[44 * 40];
            targets.to(Target.mask("mask"), Output.VALUES, 1).map(image, random,
                    Tensor.of(MemorySegment.ofArray(mask), DType.U8, 44, 40));
            float[] moved = new float[2];
            targets.to(Target.keypoints("points"), Output.VALUES, 0).map(point, random,
                    Tensor.of(MemorySegment.ofArray(moved), DType.F32, 1, 2));
            float[] corners = new float[4];
            targets.to(Target.boxes("boxes"), Output.VALUES, 0).map(box, random,
                    Tensor.of(MemorySegment.ofArray(corners), DType.F32, 1, 4));
            for (byte[] pixels : List.of(mask, applied(augment, image, position))) {
                double sum = 0;
                double x = 0;
                double y = 0;
                for (int i = 0; i < pixels.length; i++) {
                    int value = pixels[i] & 0xFF;
                    sum += value;
                    x += value * (i % 40 + 0.5);
                    y += value * (i / 40 + 0.5);
                    assertTrue(value < 128 || i % 40 >= corners[0] - 1 && i % 40 < corners[2] + 1
                            && i / 40 >= corners[1] - 1 && i / 40 < corners[3] + 1, "outside the box");
                }
                assertTrue(sum > 0, "no dot");
                assertEquals(moved[0], x / sum, 0.6);
                assertEquals(moved[1], y / sum, 0.6);
            }
        }
    }

    @Test
    void fusingAllocatesNothingOnceItIsWarm() {
        Tensor image = noise(80, 90, 3);
        Tensor out = noise(22, 26, 3);
        AugmentMap map = steps(Augment.images().fused()).colorJitter(0.1, 0.1, 0.1, 0.1)
                .over(new TensorSpec("image", DType.U8, 80, 90, 3));
        var random = new KeyedRandom(SEED, 0);
        try (SampleMap.Mapper worker = map.open().orElseThrow()) {
            assertEquals(0, HeapUse.fewest(0, () -> {
                for (int position = 0; position < 200; position++) {
                    random.select(position, 0);
                    AugmentTest.mapped(worker, image, random, out);
                }
            }));
        }
    }

    @Test
    void anotherNameDrawsOtherNumbersAndTheTextTellsFusedSteps() {
        Augment fused = steps(Augment.images().fused());
        assertEquals(fused.toString().replace(Augment.NAME, "other"), fused.named("other").toString());
        assertNotEquals(steps(Augment.images()).toString(), fused.toString());
        assertTrue(fused.toString().startsWith("penstock.augment: fused(randomResizedCrop("), fused.toString());
    }

    @Test
    void whatCannotBeFusedIsRefusedByName() {
        Augment fused = Augment.images().fused();
        refused("cannot fuse rotate(-5.0..5.0, NEAREST, fill 0), expected the interpolation BILINEAR",
                () -> fused.rotate(5, Interpolation.NEAREST, 0));
        refused("cannot fuse resize(8 x 8, BICUBIC), expected the filter BILINEAR",
                () -> fused.resize(8, 8, ResizeFilter.BICUBIC));
        refused("cannot fuse pad(padding 2 REFLECT), expected a padding of the mode CONSTANT",
                () -> fused.pad(Padding.of(2, Padding.Mode.REFLECT)));
        refused("cannot fuse perspective(distortion 0.5, p 0.5, BILINEAR, fill 0), expected the fill 9 of the steps"
                + " before", () -> fused.pad(Padding.constant(2, 9)).perspective(0.5, 0.5));
        refused("cannot fuse randAugment(2 operations, magnitude 9, NEAREST), expected a crop, resize, flip, pad,"
                + " rotate, affine or perspective", fused::randAugment);
        refused("cannot fuse horizontalFlip(p 0.5), expected it before grayscale(p 0.1), which moves no pixels",
                () -> fused.grayscale(0.1).horizontalFlip(0.5));
        refused("cannot fuse fused(), expected a crop, resize, flip, pad, rotate, affine or perspective",
                fused::fused);
        Augment flipped = fused.horizontalFlip(0.5);
        AugmentMap map = flipped.over(new TensorSpec("image", DType.U8, 8, 8, 3));
        refused("fused steps have no kernel: run them in the workers, by Augment.mapped",
                () -> Passes.of(map.steps(), flipped.table().offsets(), map.size()));
    }

    private static void refused(String message, Runnable action) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }
}
