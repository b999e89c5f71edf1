// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.Crop;
import io.penstock.augment.step.Size;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.StepParameters;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.state.LoaderState;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.ImageTransform.Layout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AugmentTest {

    private static final long SEED = 42;
    private static final int SAMPLES = 23;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    private static MemoryTensorStore store() {
        return new MemoryTensorStore(1, new TensorSpec("image", DType.U8, SAMPLES, 20, 26, 3),
                new TensorSpec("mask", DType.U8, SAMPLES, 20, 26, 1));
    }

    private static Dataset images(MemoryTensorStore store) {
        return TensorRows.of("image", store, 0);
    }

    private static Augment everything() {
        return Augment.images().randomResizedCrop(16, 12).horizontalFlip(0.5).verticalFlip(0.5)
                .colorJitter(0.4, 0.4, 0.4, 0.1).grayscale(0.3).invert(0.3).posterize(4, 0.3).solarize(128, 0.3)
                .autocontrast(0.3).equalize(0.3).sharpness(2, 0.3).rotate(30, Interpolation.NEAREST, 7)
                .affine(AffineRanges.degrees(10).translate(0.2, 0.1).scale(0.8, 1.2).shear(5, 5),
                        Interpolation.BILINEAR, 3)
                .randAugment().trivialAugmentWide(Interpolation.BILINEAR)
                .perspective(0.5, 0.5).gaussianBlur(5).gamma(Range.of(0.8, 1.2), 0.5).brightnessContrast(0.2, 0.2, 0.5)
                .gaussianNoise(Range.of(0, 0.1)).autoAugment(AutoAugmentPolicy.SVHN, Interpolation.NEAREST).augMix()
                .pad(Padding.of(1, Padding.Mode.SYMMETRIC)).resize(16, 12, ResizeFilter.BICUBIC)
                .randomCrop(14, 10, Padding.of(2, Padding.Mode.REFLECT)).randomErasing(0.5);
    }

    private static byte[] applied(Augment augment, List<StepParameters> parameters, Tensor in, long... shape) {
        byte[] found = new byte[Math.toIntExact(Arrays.stream(shape).reduce(1, Math::multiplyExact))];
        augment.apply(parameters, in, Tensor.of(MemorySegment.ofArray(found), DType.U8, shape));
        return found;
    }

    /** Every sample of two epochs by (epoch, sample), from a loader of that many workers and samples in a batch. */
    private static Map<List<Long>, byte[]> loaded(Dataset dataset, int workers, int batchSize, LoaderState from) {
        Map<List<Long>, byte[]> found = new HashMap<>();
        var settings = DataLoader.builder(dataset).batchSize(batchSize).shuffle(SEED).endEpoch(2).workers(workers);
        if (from != null) {
            settings.resume(from);
        }
        try (DataLoader loader = settings.open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        found.put(List.of(batch.epoch(), batch.sample(row), batch.position(row)),
                                batch.tensor("image").row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
        }
        return found;
    }

    private static void assertSamePixels(Map<List<Long>, byte[]> expected, Map<List<Long>, byte[]> found) {
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((key, pixels) -> assertArrayEquals(pixels, found.get(key), key::toString));
    }

    /** torchvision's RandAugment(0) is the identity, and 5 operations are one more draw than 4. */
    @Test
    void randAugmentTakesNoneToSixteenOperations() {
        try (MemoryTensorStore store = store()) {
            Dataset images = images(store);
            assertSamePixels(loaded(images, 1, 4, null), loaded(Augment.images()
                    .randAugment(0, 30, Interpolation.NEAREST).mapped(images, "image"), 1, 4, null));
            for (int operations : new int[] {5, 16}) {
                Augment augment = Augment.images().randAugment(operations, 9, Interpolation.NEAREST);
                assertEquals(SAMPLES * 2, loaded(augment.mapped(images, "image"), 1, 4, null).size());
            }
        }
        for (int operations : new int[] {-1, 17}) {
            assertThrows(IllegalArgumentException.class,
                    () -> Augment.images().randAugment(operations, 9, Interpolation.NEAREST));
        }
    }

    @Test
    void aCropThatIsLargerThanTheImageSaysSo() {
        Crop crop = new Crop(Crop.Place.RANDOM, new Size(42, 8), Padding.constant(1, 0));
        String message = assertThrows(IllegalArgumentException.class,
                () -> crop.draw(new Random(1), 16, 16, new double[2], 0)).getMessage();
        assertEquals("a crop of 42 x 8 of an image of 16 x 16 with a border of 1, expected an image at least as large"
                + " (resize or pad it before the crop)", message);
    }

    @Test
    void pixelsAreThoseOfTheParametersDrawnForTheSeedEpochAndPosition() {
        Augment augment = everything();
        try (MemoryTensorStore store = store()) {
            Map<List<Long>, byte[]> found = loaded(augment.mapped(images(store), "image"), 2, 5, null);
            assertEquals(2 * SAMPLES, found.size());
            found.forEach((key, pixels) -> {
                var random = new KeyedRandom(SEED, key.get(0));
                List<StepParameters> parameters = augment.parameters(random, key.get(2), 20, 26);
                assertArrayEquals(
                        applied(augment, parameters, store.tensor(0).row(key.get(1)), 14, 10, 3), pixels);
            });
            assertTrue(found.values().stream().map(Arrays::hashCode).distinct().count() > SAMPLES);
        }
    }

    @Test
    void workersAndBatchSizesDoNotChangeASample() {
        try (MemoryTensorStore store = store()) {
            Dataset augmented = everything().mapped(images(store), "image");
            Map<List<Long>, byte[]> expected = loaded(augmented, 0, 4, null);
            assertSamePixels(expected, loaded(augmented, 1, 4, null));
            assertSamePixels(expected, loaded(augmented, 3, 7, null));
        }
    }

    @Test
    void aRunResumedInMidEpochWithOtherWorkersGetsTheSamePixels() {
        try (MemoryTensorStore store = store()) {
            Dataset augmented = everything().normalize(MEAN, DEVIATION).mapped(images(store), "image");
            Map<List<Long>, byte[]> expected = loaded(augmented, 2, 4, null);
            LoaderState state;
            int before = 0;
            try (DataLoader loader = DataLoader.builder(augmented).batchSize(4).shuffle(SEED).endEpoch(2).workers(2)
                    .open()) {
                for (int i = 0; i < 3; i++) {
                    try (Batch batch = loader.next()) {
                        before += batch.count();
                    }
                }
                state = loader.state();
            }
            Map<List<Long>, byte[]> rest = loaded(augmented, 1, 4, state);
            assertEquals(2 * SAMPLES - before, rest.size());
            rest.forEach((key, pixels) -> assertArrayEquals(expected.get(key), pixels));
        }
    }

    @Test
    void aStepDrawsTheSameWhateverOtherStepsThereAre() {
        Augment more = Augment.images().verticalFlip(0.5).horizontalFlip(0.5).grayscale(0.5)
                .colorJitter(0.1, 0.2, 0.3, 0.4);
        Augment fewer = Augment.images().colorJitter(0.1, 0.2, 0.3, 0.4).horizontalFlip(0.5);
        for (long position = 0; position < 20; position++) {
            List<StepParameters> all = more.parameters(new KeyedRandom(SEED, 3), position, 8, 8);
            List<StepParameters> two = fewer.parameters(new KeyedRandom(SEED, 3), position, 8, 8);
            assertEquals(List.of(all.get(3), all.get(1)), two);
        }
    }

    @Test
    void stepsOfOneOperationAreNumberedAndDrawIndependently() {
        Augment twice = Augment.images().randomCrop(100, 100).randomCrop(1, 1);
        List<StepParameters> drawn = twice.parameters(new KeyedRandom(SEED, 0), 0, 1_000_000, 1_000_000);
        assertEquals("penstock.augment.randomCrop", drawn.get(0).step());
        assertEquals("penstock.augment.randomCrop.2", drawn.get(1).step());
        Augment other = Augment.images("other").randomCrop(100, 100);
        assertNotEquals(drawn.get(0).values(),
                other.parameters(new KeyedRandom(SEED, 0), 0, 1_000_000, 1_000_000).get(0).values());
    }

    @Test
    void aMaskIsCroppedAndFlippedAsItsImage() {
        Augment augment = Augment.images().randomCrop(10, 10).horizontalFlip(0.5);
        try (MemoryTensorStore store = store();
                DataLoader loader = DataLoader.builder(
                        augment.mapped(augment.mapped(TensorRows.of(store), "image"), "mask"))
                        .batchSize(4).shuffle(SEED).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        List<StepParameters> parameters =
                                augment.parameters(new KeyedRandom(SEED, 0), batch.position(row), 20, 26);
                        for (int field = 0; field < 2; field++) {
                            assertArrayEquals(
                                    applied(augment, parameters, store.tensor(field).row(batch.sample(row)), 10, 10,
                                            field == 0 ? 3 : 1),
                                    batch.tensor(field == 0 ? "image" : "mask").row(row).segment()
                                            .toArray(ValueLayout.JAVA_BYTE));
                        }
                    }
                }
            }
        }
    }

    @Test
    void augmentingAllocatesNothingOnceItIsWarm() {
        Tensor image = Tensor.of(MemorySegment.ofArray(new byte[20 * 26 * 3]), DType.U8, 20, 26, 3);
        Tensor out = Tensor.of(MemorySegment.ofArray(new byte[14 * 10 * 3]), DType.U8, 14, 10, 3);
        AugmentMap map = everything().over(new TensorSpec("image", DType.U8, 20, 26, 3));
        var random = new KeyedRandom(SEED, 0);
        try (SampleMap.Mapper worker = map.open().orElseThrow()) {
            assertEquals(0, HeapUse.fewest(0, () -> {
                for (int position = 0; position < 200; position++) {
                    random.select(position, 0);
                    mapped(worker, image, random, out);
                }
            }));
        }
    }

    static void mapped(SampleMap.Mapper worker, Tensor image, KeyedRandom random, Tensor out) {
        try {
            worker.map(image.segment(), 0, image.segment().byteSize(), random, out.segment(), 0,
                    out.segment().byteSize(), PartClock.NONE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void colorsOfAnImageOfSeveralStripsAreThoseOfItsParts() {
        int side = 600;                                                 // more pixels than the planes hold at once
        byte[] pixels = new byte[side * side * 3];
        new Random(SEED).nextBytes(pixels);
        Tensor image = Tensor.of(MemorySegment.ofArray(pixels), DType.U8, side, side, 3);
        Augment jitter = Augment.images().colorJitter(0.4, 0, 0.4, 0.1);
        Map<String, Double> values = new LinkedHashMap<>(
                jitter.parameters(new KeyedRandom(SEED, 0), 0, side, side).get(0).values());
        byte[] whole = applied(jitter, List.of(new StepParameters("penstock.augment.colorJitter", values)), image,
                side, side, 3);
        for (int row : new int[] {0, 435, 436, 437, 599}) {
            MemorySegment ofRow = MemorySegment.ofArray(pixels).asSlice(row * side * 3L, side * 3L);
            Tensor part = Tensor.of(ofRow, DType.U8, 1, side, 3);
            assertArrayEquals(applied(jitter, List.of(new StepParameters("penstock.augment.colorJitter", values)), part,
                    1, side, 3), Arrays.copyOfRange(whole, row * side * 3, (row + 1) * side * 3));
        }
    }

    @Test
    void theContrastOfAnImageOfSeveralStripsIsAboutTheMeanOfAll() {
        int side = 600;
        byte[] pixels = new byte[side * side * 3];
        Arrays.fill(pixels, 0, pixels.length / 2, (byte) 200);
        Tensor image = Tensor.of(MemorySegment.ofArray(pixels), DType.U8, side, side, 3);
        Augment jitter = Augment.images().colorJitter(Range.of(1, 1), Range.of(0, 2), Range.of(0.5, 1), Range.of(0, 0));
        Map<String, Double> values = new LinkedHashMap<>(
                jitter.parameters(new KeyedRandom(SEED, 0), 0, side, side).get(0).values());
        values.put("contrast", 0.5);
        values.put("saturation", 1.0);
        byte[] found = applied(jitter, List.of(new StepParameters("penstock.augment.colorJitter", values)), image, side,
                side, 3);
        assertEquals(149, found[0] & 0xFF);                             // 0.5 · 200 + 0.5 · 99.5, as gray of 200 is 199
        assertEquals(49, found[found.length - 1] & 0xFF);
    }

    @Test
    void viewsAreFieldsOfTheirOwnThatDrawIndependently() {
        Augment crop = Augment.images().randomCrop(6, 6);
        Views views = Views.of("first", crop).and("second", crop).and("small", Augment.images().randomCrop(4, 4));
        try (MemoryTensorStore store = store();
                DataLoader loader = DataLoader.builder(views.mapped(TensorRows.of(store), "image")).batchSize(SAMPLES)
                        .shuffle(SEED).endEpoch(1).open();
                Batch batch = loader.next()) {
            assertEquals(List.of("first", "second", "small", "mask"),
                    batch.fields().stream().map(TensorSpec::name).toList());
            int equal = 0;
            for (int row = 0; row < batch.count(); row++) {
                Map<String, byte[]> found = new HashMap<>();
                for (String view : List.of("first", "second")) {
                    List<StepParameters> parameters = Augment.images("penstock.augment." + view).randomCrop(6, 6)
                            .parameters(new KeyedRandom(SEED, 0), batch.position(row), 20, 26);
                    found.put(view, batch.tensor(view).row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                    assertArrayEquals(applied(Augment.images("penstock.augment." + view).randomCrop(6, 6), parameters,
                            store.tensor(0).row(batch.sample(row)), 6, 6, 3), found.get(view));
                }
                equal += Arrays.equals(found.get("first"), found.get("second")) ? 1 : 0;
            }
            assertTrue(equal < 3, "views of one pipeline are alike");
            refused("'image' as [mask]: found [mask: u8[20,26,3], mask: u8[20,26,1]], expected names that differ",
                    () -> Views.of("mask", crop).mapped(TensorRows.of(store), "image"));
        }
    }

    @Test
    void flippingTwiceGivesTheImage() {
        Augment augment = Augment.images().horizontalFlip(1).verticalFlip(1).horizontalFlip(1).verticalFlip(1);
        for (int channels = 1; channels <= 4; channels++) {
            try (MemoryTensorStore store =
                    new MemoryTensorStore(channels, new TensorSpec("image", DType.U8, 1, 7, 6, channels))) {
                Tensor image = store.tensor(0).row(0);
                List<StepParameters> parameters = augment.parameters(new KeyedRandom(SEED, 0), 0, 7, 6);
                assertArrayEquals(image.segment().toArray(ValueLayout.JAVA_BYTE),
                        applied(augment, parameters, image, 7, 6, channels));
            }
        }
    }

    @Test
    void stepsThatAreNotRandomNeedNoLoader() {
        try (MemoryTensorStore store = store();
                SampleReader evaluation = new SampleReader(
                        Augment.images().resize(16).centerCrop(14, 15).mapped(images(store), "image"), ReadMode.AUTO);
                SampleReader training = new SampleReader(
                        Augment.images().horizontalFlip(0.5).mapped(images(store), "image"), ReadMode.AUTO)) {
            Span found = evaluation.locate(3, 0);
            assertEquals(14 * 15 * 3, found.byteSize());
            var error = assertThrows(IllegalStateException.class, () -> training.locate(3, 0));
            assertTrue(error.getMessage().contains("random numbers are for the batches of a loader"),
                    error::getMessage);
        }
    }

    @Test
    void theResultIsNormalizedAsImageTransformDoesIt() {
        Augment crop = Augment.images().centerCrop(2, 2);
        try (MemoryTensorStore store = store()) {
            Dataset dataset = crop.normalize(MEAN, DEVIATION).mapped(images(store), "image");
            assertEquals("image: f32[3,2,2]", dataset.fields().get(0).toString());
            assertEquals("image: bf16[2,2,3]", crop.normalize(MEAN, DEVIATION).to(DType.BF16, Layout.NHWC)
                    .mapped(images(store), "image").fields().get(0).toString());
            assertEquals("image: f16[3,20,26]", Augment.images().to(DType.F16, Layout.NCHW)
                    .mapped(images(store), "image").fields().get(0).toString());
            try (SampleReader reader = new SampleReader(dataset, ReadMode.AUTO)) {
                Span span = reader.locate(5, 0);
                MemorySegment found = span.segment().asSlice(span.byteOffset(), span.byteSize());
                Tensor image = store.tensor(0).row(5);
                for (int i = 0; i < 12; i++) {
                    int channel = i / 4;
                    long pixel = (9 + i / 2 % 2) * 26 + 12 + i % 2;
                    float expected = (image.getLong(pixel * 3 + channel) / 255f - MEAN[channel]) / DEVIATION[channel];
                    assertEquals(expected, found.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * i));
                }
            }
        }
    }

    @Test
    void theFingerprintChangesWithTheSettings() {
        try (MemoryTensorStore store = store()) {
            assertEquals(6, List.of(Augment.images().horizontalFlip(0.5), Augment.images().horizontalFlip(0.25),
                    Augment.images().posterize(4, 0.5), Augment.images().posterize(5, 0.5),
                    Augment.images().horizontalFlip(0.5).normalize(MEAN, DEVIATION),
                    Augment.images("other").horizontalFlip(0.5)).stream()
                    .map(augment -> augment.mapped(images(store), "image").fingerprint()).distinct().count());
        }
    }

    @Test
    void whatDoesNotFitIsRefused() {
        try (MemoryTensorStore store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, 2, 20, 26, 4),
                new TensorSpec("floats", DType.F32, 2, 20, 26, 3))) {
            Dataset images = TensorRows.of("image", store, 0);
            refused("a crop of 21 x 20 of images of 20 x 26", () -> Augment.images().centerCrop(21, 20)
                    .mapped(images, "image"));
            refused("grayscale of images of 4 channels, expected 1 or 3",
                    () -> Augment.images().grayscale(0.5).mapped(images, "image"));
            refused("padding 20 REFLECT of images of 20 x 26, expected sides of at least 21", () -> Augment.images()
                    .randomCrop(8, 8, Padding.of(20, Padding.Mode.REFLECT)).mapped(images, "image"));
            refused("found floats: f32[20,26,3], expected u8[H,W,C] with C at most 4, or "
                    + "image files as u8[*]",
                    () -> Augment.images().horizontalFlip(0.5).mapped(TensorRows.of("floats", store, 1), "floats"));
        }
        Tensor image = Tensor.of(MemorySegment.ofArray(new byte[5 * 5 * 3]), DType.U8, 5, 5, 3);
        refused("an image of 900000000 pixels of 3 bytes, expected below 2 GiB", () -> applied(
                Augment.images().resize(30_000, 30_000), List.of(), image, 5, 5, 3));
        refused("probability 1.5, expected 0 to 1", () -> Augment.images().horizontalFlip(1.5));
        refused("posterize to 9 bits, expected 0 to 8", () -> Augment.images().posterize(9, 0.5));
        refused("a range from 2.0 to 1.0", () -> Range.of(2, 1));
        refused("a kernel of 4 pixels, expected an odd number", () -> Augment.images().gaussianBlur(4));
        refused("gaussianBlur(11, sigma 0.1..2.0) of images of 5 x 5, expected sides of at least 6",
                () -> applied(Augment.images().gaussianBlur(11), List.of(), image, 5, 5, 3));
        refused("distortion 1.5, expected 0 to 1", () -> Augment.images().perspective(1.5, 0.5));
        refused("fill 256, expected 0 to 255",
                () -> Augment.images().perspective(0.5, 0.5, Interpolation.NEAREST, 256));
        refused("gamma -1.0..1.0, expected at least 0", () -> Augment.images().gamma(Range.of(-1, 1), 0.5));
        refused("sigma 0.0..2.0, expected 0 to 1", () -> Augment.images().gaussianNoise(Range.of(0, 2)));
        refused("augMix of severity 11, 3 chains of depth 0, alpha 1.0, expected 1 to 10, 1 to 3, 0 to 3, and a "
                + "positive alpha", () -> Augment.images().augMix(11, 3, 0, 1, Interpolation.NEAREST));
        assertThrows(IllegalStateException.class,
                () -> Augment.images().normalize(MEAN, DEVIATION).horizontalFlip(0.5));
    }

    @Test
    void parametersOfOtherStepsOrOutsideTheImageAreRefused() {
        Augment crop = Augment.images().randomCrop(4, 4);
        Tensor image = Tensor.of(MemorySegment.ofArray(new byte[5 * 5 * 3]), DType.U8, 5, 5, 3);
        Map<String, Double> outside = new LinkedHashMap<>();
        outside.put("top", 2.0);
        outside.put("left", 0.0);
        refused("a crop of 4 x 4 at 2, 0 of an image of 5 x 5 with a border of 0", () -> applied(crop,
                List.of(new StepParameters("penstock.augment.randomCrop", outside)), image, 4, 4, 3));
        refused("color change 4, expected 0 to 3", () -> changed(Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1),
                "second", 4, image));
        refused("operation 15, expected 0 to 14", () -> changed(Augment.images().randAugment(), "operation2", 15,
                image));
        refused("hue 1.5, expected -1.0 to 1.0", () -> changed(Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1), "hue",
                1.5, image));
        refused("gamma -0.5, expected 0.0 or more",
                () -> changed(Augment.images().gamma(Range.of(0.8, 1.2), 1), "gamma", -0.5, image));
        refused("sigma 0.0, expected more than 0",
                () -> changed(Augment.images().gaussianBlur(3), "sigma", 0, image));
        Augment noise = Augment.images().gaussianNoise(Range.of(0, 0.1));
        refused("sigma NaN, expected 0.0 to 1.0", () -> changed(noise, "sigma", Double.NaN, image));
        refused("key -1.0, expected 0.0 to " + 0x1p53, () -> changed(noise, "key", -1, image));
        refused("bits 40.0, expected 0.0 to 8.0", () -> changed(Augment.images().randAugment(), Map.of("operation1",
                10.0, "magnitude1", 40.0), image));
        refused("bits -1.0, expected 0.0 to 8.0", () -> changed(Augment.images().augMix(), Map.of("operation11", 10.0,
                "magnitude11", -1.0), image));
        refused("found penstock.augment.other{top=2.0, left=0.0}, expected [top, left] of penstock.augment.randomCrop",
                () -> applied(crop, List.of(new StepParameters("penstock.augment.other", outside)), image, 4, 4, 3));
    }

    /** Applies a step's own parameters, but for some. */
    private static void changed(Augment augment, String parameter, double value, Tensor image) {
        changed(augment, Map.of(parameter, value), image);
    }

    private static void changed(Augment augment, Map<String, Double> changes, Tensor image) {
        StepParameters drawn = augment.parameters(new KeyedRandom(SEED, 0), 0, 5, 5).get(0);
        Map<String, Double> values = new LinkedHashMap<>(drawn.values());
        values.putAll(changes);
        applied(augment, List.of(new StepParameters(drawn.step(), values)), image, 5, 5, 3);
    }

    private static void refused(String message, Runnable action) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }
}
