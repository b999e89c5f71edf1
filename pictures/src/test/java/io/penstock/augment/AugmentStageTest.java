// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.NamedStep;
import io.penstock.augment.step.Passes;
import io.penstock.augment.step.Series;
import io.penstock.augment.step.Size;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TensorRows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.StepParameters;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.Cells;
import io.penstock.transform.DeviceLab;
import io.penstock.transform.ImageTransform.Layout;
import io.penstock.transform.NativeLab;
import io.penstock.transform.StageWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pipeline on the device gives what it gives in workers; {@link AugmentExperiments} has each step's pixels. */
class AugmentStageTest {

    private static final long SEED = 42;
    private static final int SAMPLES = 23;
    private static final int BATCH = 5;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};
    private static final String PARAMETERS = "image_parameters";

    private static MemoryTensorStore store() {
        return new MemoryTensorStore(1, new TensorSpec("image", DType.U8, SAMPLES, 20, 26, 3));
    }

    private static Dataset images(MemoryTensorStore store) {
        return TensorRows.of("image", store);
    }

    /** As training recipes have it: 128 bytes of parameters. */
    static Augment recipe() {
        return Augment.images().randomResizedCrop(16, 12).horizontalFlip(0.5)
                .affine(AffineRanges.degrees(10).translate(0.2, 0.1).scale(0.8, 1.2).shear(5, 5),
                        Interpolation.BILINEAR, 3)
                .colorJitter(0.4, 0.4, 0.4, 0.1).randomErasing(0.5);
    }

    private static DataLoader loader(Dataset dataset, int workers, DeviceStage... stages) {
        var settings = DataLoader.builder(dataset).batchSize(BATCH).shuffle(SEED).endEpoch(2).workers(workers);
        for (DeviceStage stage : stages) {
            settings.onDevice(stage);
        }
        return settings.open();
    }

    private static byte[] bytes(Tensor tensor) {
        return tensor.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void batchesAugmentedOnTheDeviceAreThoseOfTheWorkers() {
        for (Augment augment : List.of(recipe(), recipe().normalize(MEAN, DEVIATION).to(DType.BF16, Layout.NCHW),
                Augment.images().randAugment().autocontrast(0.5), Augment.images().resize(15),
                Augment.images().randAugment(0, 9, Interpolation.NEAREST),
                Augment.images().randAugment(8, 9, Interpolation.BILINEAR),
                Augment.images().gaussianNoise(Range.of(0, 0.3)).perspective(0.5, 0.9).gaussianBlur(5),
                Augment.images().augMix().gamma(Range.of(0.5, 2), 0.9),
                Augment.images().to(DType.F16, Layout.NHWC), Augment.images())) {
            for (int workers : new int[] {0, 2}) {
                try (MemoryTensorStore store = store();
                        DataLoader expected = loader(augment.mapped(images(store), "image"), 1);
                        DataLoader found = loader(augment.withParameters(images(store), "image"), workers,
                                augment.stage("image"))) {
                    while (expected.hasNext()) {
                        try (Batch left = expected.next(); Batch right = found.next()) {
                            assertEquals(left.tensor("image").toString(), right.tensor("image").toString());
                            assertArrayEquals(bytes(left.tensor("image")), bytes(right.tensor("image")),
                                    augment::toString);
                        }
                    }
                }
            }
        }
    }

    @Test
    void theParametersOfABatchCanBeReadAndGiveItsPixels() {
        Augment augment = recipe();
        try (MemoryTensorStore store = store();
                DataLoader loader = loader(augment.withParameters(images(store), "image"), 2, augment.stage("image"))) {
            assertEquals("[image: u8[5,16,12,3], image_parameters: u8[5,128]]", loader.layout().fields().toString());
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        List<StepParameters> read = augment.table().read(batch.tensor(PARAMETERS).row(row));
                        assertEquals(augment.parameters(new KeyedRandom(SEED, batch.epoch()), batch.position(row), 20,
                                26), read);
                        byte[] pixels = new byte[16 * 12 * 3];
                        augment.apply(read, store.tensor(0).row(batch.sample(row)),
                                Tensor.of(MemorySegment.ofArray(pixels), DType.U8, 16, 12, 3));
                        assertArrayEquals(pixels, bytes(batch.tensor("image").row(row)));
                    }
                }
            }
        }
    }

    @Test
    void aStepOfTheUsersWritesParametersOfItsOwn() {
        Augment augment = Augment.images().horizontalFlip(0.5);
        ParameterTable table = augment.table();
        try (MemoryTensorStore store = store()) {
            Dataset drawn = augment.withParameters(images(store), "image");
            Dataset flipped = drawn.map(PARAMETERS, table.field("image"), "always", (in, _, out) -> {
                StepParameters step = table.read(in).getFirst();
                table.write(List.of(new StepParameters(step.step(), Map.of("applied", 1.0))), out);
            });
            Augment always = Augment.images().horizontalFlip(1);
            try (DataLoader expected = loader(always.mapped(images(store), "image"), 1);
                    DataLoader found = loader(flipped, 1, augment.stage("image"))) {
                while (expected.hasNext()) {
                    try (Batch left = expected.next(); Batch right = found.next()) {
                        assertArrayEquals(bytes(left.tensor("image")), bytes(right.tensor("image")));
                    }
                }
            }
        }
    }

    /** Packed in the order of the steps, each number at a multiple of its size. */
    @Test
    void theTableHasTheSpecifiedLayout() {
        ParameterTable table = Augment.images().horizontalFlip(0.5).randomResizedCrop(5, 5)
                .colorJitter(0.1, 0.1, 0.1, 0.1).resize(9).randAugment().table();
        assertEquals(88, table.rowBytes());
        assertEquals("88 bytes: penstock.augment.horizontalFlip at [0],"
                + " penstock.augment.randomResizedCrop at [4, 8, 12, 16],"
                + " penstock.augment.colorJitter at [20, 21, 22, 23, 24, 32, 40, 48],"
                + " penstock.augment.resize at [], penstock.augment.randAugment at [56, 64, 72, 80]", table.toString());
        assertEquals(8, Augment.images().resize(9).table().rowBytes());
    }

    /** The example of the specification. */
    @Test
    void aRowHasTheSpecifiedBytes() {
        Augment augment = Augment.images().randomCrop(8, 8).horizontalFlip(0.5).rotate(30, Interpolation.NEAREST, 0);
        byte[] row = new byte[24];
        augment.table().write(List.of(
                new StepParameters("penstock.augment.randomCrop", Map.of("top", 3.0, "left", 17.0)),
                new StepParameters("penstock.augment.horizontalFlip", Map.of("applied", 1.0)),
                new StepParameters("penstock.augment.rotate", Map.of("angle", -12.5))),
                Tensor.of(MemorySegment.ofArray(row), DType.U8, 24));
        assertEquals("0300000011000000010000000000000000000000000029c0", HexFormat.of().formatHex(row));
    }

    @Test
    void parametersAreReadAsTheyWereWritten() {
        Augment augment = recipe();
        var random = new KeyedRandom(SEED, 0);
        Tensor row = Tensor.of(MemorySegment.ofArray(new byte[128]), DType.U8, 128);
        for (long position = 0; position < 100; position++) {
            List<StepParameters> drawn = augment.parameters(random, position, 300, 200);
            augment.table().write(drawn, row);
            assertEquals(drawn, augment.table().read(row));
        }
    }

    @Test
    void parametersThatDoNotFitIntoTheTableAreRefused() {
        Augment flip = Augment.images().horizontalFlip(0.5);
        Tensor row = Tensor.of(MemorySegment.ofArray(new byte[8]), DType.U8, 8);
        String step = "penstock.augment.horizontalFlip";
        assertEquals(step + "{applied=256.0}: 256.0, expected 0 to 255",
                refusal(() -> flip.table().write(List.of(new StepParameters(step, Map.of("applied", 256.0))), row)));
        assertEquals("found the parameters of 0 steps, expected those of 1",
                refusal(() -> flip.table().write(List.of(), row)));
        assertTrue(refusal(() -> flip.table().write(List.of(new StepParameters("other", Map.of())), row))
                .startsWith("found other{}, expected [applied] of " + step));
        assertEquals("found row: u8[4], expected row: u8[8]",
                refusal(() -> flip.table().read(Tensor.of(MemorySegment.ofArray(new byte[4]), DType.U8, 4))));
        assertEquals("the parameters of [penstock.augment.randAugment, penstock.augment.randAugment.2,"
                + " penstock.augment.randAugment.3] take 192 bytes a sample, expected at most 128:"
                + " run some of these steps in the workers, by Augment.mapped",
                refusal(() -> Augment.images().randAugment(4, 9, Interpolation.NEAREST)
                        .randAugment(4, 9, Interpolation.NEAREST).randAugment(4, 9, Interpolation.NEAREST).table()));
    }

    private static String refusal(Runnable action) {
        return assertThrows(IllegalArgumentException.class, action::run).getMessage();
    }

    private static String refused(DeviceStage stage, TensorSpec... fields) {
        try (Device device = Device.host()) {
            return refusal(() -> stage.open(device, SlabLayout.of(fields)).close());
        }
    }

    @Test
    void fieldsThatAStageCannotTakeAreRefusedAtOpening() {
        DeviceStage stage = Augment.images().horizontalFlip(0.5).stage("image");
        var rows = new TensorSpec(PARAMETERS, DType.U8, 4, 8);
        assertEquals("found image: f32[4,5,5,3], expected u8[B,H,W,C]",
                refused(stage, new TensorSpec("image", DType.F32, 4, 5, 5, 3), rows));
        assertEquals("found image: u8[4,5,5], expected u8[B,H,W,C]",
                refused(stage, new TensorSpec("image", DType.U8, 4, 5, 5), rows));
        assertEquals("found [image: u8[4,5,5,3]], expected also image_parameters: u8[4,8], which"
                + " Augment.withParameters adds", refused(stage, new TensorSpec("image", DType.U8, 4, 5, 5, 3)));
        assertEquals("a crop of 6 x 6 of images of 5 x 5", refused(Augment.images().centerCrop(6, 6).stage("image"),
                new TensorSpec("image", DType.U8, 4, 5, 5, 3), rows));
    }

    @Test
    void stepsThatNeedNoNeighborsShareAPass() {
        assertEquals("[[CROP, FLIP_HORIZONTALLY, WARP, JITTER], [JITTER_REST, GRAYSCALE, ERASE]]",
                passes(Augment.images().randomCrop(9, 9).horizontalFlip(0.5).rotate(9, Interpolation.BILINEAR, 0)
                        .colorJitter(0.1, 0.1, 0.1, 0.1).grayscale(0.1).randomErasing(0.5)));
        Augment flips = Augment.images();
        for (int i = 0; i < 9; i++) {
            flips = flips.verticalFlip(0.5);
        }
        assertEquals("[[" + "FLIP_VERTICALLY, ".repeat(7) + "FLIP_VERTICALLY], [FLIP_VERTICALLY]]", passes(flips));
        assertEquals("[[RESIZE, FLIP_HORIZONTALLY, JITTER, SOLARIZE]]",
                passes(Augment.images().randomResizedCrop(9, 9).horizontalFlip(0.5).colorJitter(0.1, 0, 0.1, 0.1)
                        .invert(0.5)));
        assertEquals("[[FLIP_VERTICALLY], [POLICY], [POLICY], [EQUALIZE], [SHARPNESS]]",
                passes(Augment.images().verticalFlip(0.5).randAugment().equalize(0.5).sharpness(2, 0.5)));
        assertEquals("[[FLIP_VERTICALLY], [POLICY], [POLICY], [POLICY], [MIX, FLIP_HORIZONTALLY, GRAYSCALE]]",
                passes(Augment.images().verticalFlip(0.5).augMix(3, 1, 3, 1, Interpolation.BILINEAR)
                        .horizontalFlip(0.5).grayscale(0.5)));
        assertEquals("[[FLIP_VERTICALLY, NOISE, GRAYSCALE], [BLUR, ERASE], [TONE, FLIP_VERTICALLY], [WARP]]",
                passes(Augment.images().verticalFlip(0.5).gaussianNoise(Range.of(0, 0.1)).grayscale(0.5)
                        .gaussianBlur(3).randomErasing(0.5).gamma(Range.of(0.5, 2), 0.5).verticalFlip(0.5)
                        .perspective(0.5, 0.5)));
    }

    private static String passes(Augment augment) {
        List<NamedStep> steps = augment.over(new TensorSpec("image", DType.U8, 20, 26, 3)).steps();
        return Passes.of(steps, augment.table().offsets(), new Size(20, 26)).stream()
                .map(pass -> pass.operations().stream()
                .map(operation -> operation.op().kind()).toList()).toList().toString();
    }

    /** A kernel cannot refuse them. */
    @Test
    void anyBytesInTheTableGiveTheSamePixelsByKernelAndTwinWithinTheImage() throws Exception {
        Path library = NativeLab.compile(Path.of("target/native"));
        var random = new SplittableRandom(SEED);
        List<Augment> pipelines = List.of(recipe(), Augment.images().randAugment(4, 9, Interpolation.BILINEAR),
                Augment.images().randomCrop(9, 8, Padding.of(3, Padding.Mode.REFLECT)).posterize(3, 0.5)
                        .rotate(9, Interpolation.NEAREST, 1),
                Augment.images().randomResizedCrop(30, 40).sharpness(2, 0.5).equalize(0.5).autocontrast(0.5),
                Augment.images().perspective(0.5, 0.5).gaussianBlur(5).gaussianNoise(Range.of(0, 0.1))
                        .gamma(Range.of(0.5, 2), 0.5).brightnessContrast(0.2, 0.2, 0.5), Augment.images().augMix());
        for (int i = 0; i < 60; i++) {
            Augment augment = pipelines.get(i % pipelines.size());
            int rowBytes = augment.table().rowBytes();
            Cells images = Cells.random(DType.U8, 6 * 20 * 26 * 3, random);
            Cells rows = Cells.random(DType.U8, 6L * rowBytes, random);
            for (int at = i % 2 * rowBytes * 6; at < 6 * rowBytes; at++) {      // small numbers as often as large ones
                rows.set(at, random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(4) == 0 ? 0x40 : 0);
            }
            Map<String, byte[]> found = new TreeMap<>();
            TensorSpec result = augment.over(new TensorSpec("image", DType.U8, 20, 26, 3)).result("image");
            var work = new StageWork(augment.stage("image"), 6, new TensorSpec("image", DType.U8, 6, 20, 26, 3),
                    new TensorSpec(PARAMETERS, DType.U8, 6, rowBytes));
            try (var host = new DeviceLab(Device.host()); var compiled = new NativeLab(library, 1)) {
                for (var lab : List.of(host, compiled)) {
                    var addresses = new HashMap<>(Map.of("image", lab.upload(images.bytes()),
                            PARAMETERS, lab.upload(rows.bytes()),
                            StageWork.OUT + "image", lab.upload(new byte[(int) (6 * result.byteSize())])));
                    work.enqueue(lab, addresses);
                    found.put(lab == host ? "twin" : "kernel", lab.download(addresses.get(StageWork.OUT + "image")));
                    work.close();
                }
            }
            assertArrayEquals(found.get("twin"), found.get("kernel"), augment + ", case " + i);
        }
    }

    @Test
    void functionsBySeriesAreTheLibrarysButForTheirLastBits() {
        var random = new SplittableRandom(SEED);
        for (int i = 0; i < 100_000; i++) {
            double degrees = random.nextDouble(-360, 360);
            assertEquals(StrictMath.sin(StrictMath.toRadians(degrees)), Series.sine(degrees), 0x1p-50);
            double x = random.nextDouble(-600, 10);
            double power = StrictMath.exp(x);
            assertEquals(power, Series.exp(x), 2 * Math.ulp(power));
            double logarithm = StrictMath.log(power);
            assertEquals(logarithm, Series.log(power), 2 * Math.ulp(logarithm));
        }
        assertEquals(1, Series.sine(90));
        assertEquals(0, Series.sine(-180) + 0.0);
        assertEquals(-1, Series.sine(630));
        assertEquals(1, Series.exp(0));
        assertEquals(0, Series.exp(Double.NEGATIVE_INFINITY));
        assertEquals(0, Series.log(1));
    }

    @Test
    void drawingTheTableAllocatesNothingOnceItIsWarm() {
        Augment augment = recipe();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment row = arena.allocate(128);
            AugmentMap map = augment.over(new TensorSpec("image", DType.U8, 20, 26, 3));
            ParameterTable table = augment.table();
            var draws = new ParameterDraws(map.steps(), table, map.sizes());
            var random = new KeyedRandom(SEED, 0);
            assertEquals(0, HeapUse.fewest(0, () -> {
                for (int position = 0; position < 200; position++) {
                    random.select(position, 0);
                    draws.draw(random, row);
                }
            }));
        }
    }

    @Test
    void theFingerprintChangesWithThePipeline() {
        try (MemoryTensorStore store = store()) {
            assertEquals(3, List.of(Augment.images().horizontalFlip(0.5), Augment.images().horizontalFlip(0.25),
                    Augment.images("other").horizontalFlip(0.5)).stream()
                    .map(augment -> augment.withParameters(images(store), "image").fingerprint()).distinct().count());
            Dataset once = Augment.images().horizontalFlip(0.5).withParameters(images(store), "image");
            assertEquals("two fields are named 'image_parameters'",
                    refusal(() -> Augment.images().verticalFlip(0.5).withParameters(once, "image")));
        }
    }

    @Nested
    @Tag("gpu")
    class OnAGpu {
        @Test
        void batchesAreThoseOfTheWorkers() {
            Device device;
            try {
                device = Device.cuda(0);
            } catch (DeviceUnavailableException e) {
                Assumptions.abort(e.getMessage());
                return;
            }
            try (device) {
                assertEquals(0, AugmentLaunchChecks.differingBatches(device, recipe(), recipe().stage("image")));
            }
        }
    }
}
