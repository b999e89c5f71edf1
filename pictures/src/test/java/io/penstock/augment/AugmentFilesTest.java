// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.augment.step.AugmentMap;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.PixelFormat;
import io.penstock.image.StepParameters;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.image.reading.Oracle;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.pictures.ImageDecoder;
import io.penstock.sampling.KeyedRandom;
import io.penstock.state.LoaderState;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.ImageTransform;
import io.penstock.transform.ImageTransform.Layout;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** Pipelines over image files of all sizes and kinds: the pixels are those of decoding the whole file first. */
class AugmentFilesTest {

    private static final long SEED = 42;
    private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};

    private static List<byte[]> files() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (String name : List.of("noise_420.jpg", "noise_422_progressive.jpg", "gray_progressive.jpg", "ycck.jpg",
                "orientation_6.jpg", "restarts_420.jpg", "type6_8bit.png", "type3_4bit_adam7.png", "type0_16bit.png")) {
            files.add(Files.readAllBytes(Oracle.folder().resolve(name)));
        }
        for (String name : List.of("cmyk.jpg", "one_by_one.jpg", "rgba.png", "odd_size_420.jpg")) {
            files.add(Files.readAllBytes(Fixtures.path("images/" + name)));
        }
        return files;
    }

    private static MemoryRecordStore store(List<byte[]> files) {
        return new MemoryRecordStore(List.of(Column.bytes("jpg", "jpg")),
                files.stream().map(file -> new byte[][] {file}).toArray(byte[][][]::new));
    }

    private static Dataset dataset(MemoryRecordStore store) {
        return RecordFields.of(store).and("jpg");
    }

    /** Pixels of a whole file. */
    private static Tensor decoded(Arena arena, byte[] file, PixelFormat format) throws IOException {
        try (var reader = new ImageReader()) {
            var header = reader.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, file), file.length);
            Tensor pixels = Tensor.of(arena.allocate((long) format.channels() * header.height() * header.width()),
                    DType.U8, header.height(), header.width(), format.channels());
            reader.decode(format, 1, pixels.segment(), 0);
            return pixels;
        }
    }

    /** Each sample of an epoch by its index, with its position. */
    private static Map<Long, byte[]> loaded(Dataset dataset, int workers, int batchSize, LoaderState from,
            Map<Long, Long> positions) {
        Map<Long, byte[]> found = new HashMap<>();
        var settings = DataLoader.builder(dataset).batchSize(batchSize).shuffle(SEED).endEpoch(1).workers(workers);
        if (from != null) {
            settings.resume(from);
        }
        try (DataLoader loader = settings.open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        found.put(batch.sample(row),
                                batch.tensor("jpg").row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                        positions.put(batch.sample(row), batch.position(row));
                    }
                }
            }
        }
        return found;
    }

    private static void assertPixelsAreThoseOfWholeDecoding(Augment augment, PixelFormat format, int height,
            int width) throws IOException {
        List<byte[]> files = files();
        Augment decoding = augment.decoding(ImageDecoding.to(format));
        Map<Long, Long> positions = new HashMap<>();
        try (MemoryRecordStore store = store(files); Arena arena = Arena.ofConfined()) {
            Map<Long, byte[]> found = loaded(decoding.mapped(dataset(store), "jpg"), 2, 3, null, positions);
            assertEquals(files.size(), found.size());
            for (int i = 0; i < files.size(); i++) {
                Tensor pixels = decoded(arena, files.get(i), format);
                List<StepParameters> parameters = augment.parameters(new KeyedRandom(SEED, 0),
                        positions.get((long) i), (int) pixels.dim(0), (int) pixels.dim(1));
                Tensor expected = Tensor.of(arena.allocate((long) height * width * format.channels()), DType.U8, height,
                        width, format.channels());
                augment.apply(parameters, pixels, expected);
                byte[] bytes = expected.segment().toArray(ValueLayout.JAVA_BYTE);
                assertArrayEquals(bytes, found.get((long) i), "file " + i);
                Tensor file = Tensor.of(arena.allocateFrom(ValueLayout.JAVA_BYTE, files.get(i)), DType.U8,
                        files.get(i).length);
                decoding.apply(parameters, file, expected);
                assertArrayEquals(bytes, expected.segment().toArray(ValueLayout.JAVA_BYTE), "file " + i + " applied");
            }
        }
    }

    @Test
    void aCropDrawnBeforeDecodingGivesThePixelsOfOneDrawnBehindIt() throws IOException {
        for (PixelFormat format : PixelFormat.values()) {
            assertPixelsAreThoseOfWholeDecoding(Augment.images().randomResizedCrop(20, 24).horizontalFlip(0.5), format,
                    20, 24);
            assertPixelsAreThoseOfWholeDecoding(Augment.images().resize(30).centerCrop(28, 25), format, 28, 25);
        }
    }

    @Test
    void stepsBeforeAndBehindTheCropSeeTheSamePixels() throws IOException {
        assertPixelsAreThoseOfWholeDecoding(Augment.images().randomResizedCrop(20, 24).colorJitter(0.4, 0.4, 0.4, 0.1)
                .horizontalFlip(0.5).rotate(20, Interpolation.BILINEAR, 7), PixelFormat.RGB, 20, 24);
        assertPixelsAreThoseOfWholeDecoding(Augment.images().verticalFlip(0.5).horizontalFlip(0.5).resize(16)
                .randomCrop(14, 15, Padding.of(3, Padding.Mode.REFLECT)), PixelFormat.RGB, 14, 15);
        assertPixelsAreThoseOfWholeDecoding(Augment.images().horizontalFlip(0.5).randomCrop(1, 1).resize(3, 5),
                PixelFormat.GRAY, 3, 5);
        assertPixelsAreThoseOfWholeDecoding(Augment.images().resize(40, 30).randomResizedCrop(8, 9).randomErasing(1),
                PixelFormat.RGB, 8, 9);
    }

    @Test
    void aFitAndAPipelineOfTheSameStepsGiveTheSamePixels() throws IOException {
        try (MemoryRecordStore store = store(files());
                var fitted = new SampleReader(RecordFields.of(store).and("jpg",
                        ImageDecoder.of(ImageDecoding.rgb().upright(), ImageFit.shorterSide(32, 28, 24))),
                        ReadMode.AUTO);
                var augmented = new SampleReader(Augment.images().resize(32).centerCrop(28, 24)
                        .decoding(ImageDecoding.rgb().upright()).mapped(dataset(store), "jpg"), ReadMode.AUTO)) {
            for (long sample = 0; sample < store.size(); sample++) {
                assertArrayEquals(bytes(fitted.locate(sample, 0)), bytes(augmented.locate(sample, 0)));
            }
        }
    }

    private static byte[] bytes(Span span) {
        return span.segment().asSlice(span.byteOffset(), span.byteSize()).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void workersBatchSizesAndResumingDoNotChangeASample() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            files.addAll(files());
        }
        try (MemoryRecordStore store = store(files)) {
            Dataset dataset = Augment.images().randomResizedCrop(9, 11).horizontalFlip(0.5).normalize(MEAN, DEVIATION)
                    .to(DType.BF16, Layout.NHWC).mapped(dataset(store), "jpg");
            assertEquals("jpg: bf16[9,11,3]", dataset.fields().get(0).toString());
            Map<Long, byte[]> expected = loaded(dataset, 0, 4, null, new HashMap<>());
            LoaderState state;
            try (DataLoader loader =
                    DataLoader.builder(dataset).batchSize(7).shuffle(SEED).endEpoch(1).workers(3).open()) {
                loader.next().close();
                state = loader.state();
            }
            Map<Long, byte[]> rest = loaded(dataset, 1, 7, state, new HashMap<>());
            assertEquals(files.size() - 7, rest.size());
            rest.forEach((sample, pixels) -> assertArrayEquals(expected.get(sample), pixels));
        }
    }

    @Test
    void floatsAreThoseThatImageTransformMakesOfThePixels() {
        Augment crop = Augment.images().randomCrop(5, 7).horizontalFlip(1);
        for (int channels = 1; channels <= 4; channels++) {
            try (MemoryTensorStore store =
                    new MemoryTensorStore(channels, new TensorSpec("jpg", DType.U8, 6, 9, 8, channels))) {
                Dataset images = TensorRows.of("jpg", store, 0);
                float[] mean = Arrays.copyOf(new float[] {0.1f, 0.2f, 0.3f, 0.4f}, channels);
                float[] deviation = Arrays.copyOf(new float[] {0.5f, 0.3f, 0.2f, 0.7f}, channels);
                for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
                    for (Layout layout : Layout.values()) {
                        for (boolean settles : new boolean[] {false, true}) {
                            Augment steps = settles ? crop.randomErasing(1) : crop;
                            Dataset expected = ImageTransform.of(Layout.NHWC, channels, 5, 7).normalize(mean, deviation)
                                    .to(dtype, layout).mapped(steps.mapped(images, "jpg"), "jpg");
                            Map<Long, byte[]> floats = loaded(expected, 0, 2, null, new HashMap<>());
                            loaded(steps.normalize(mean, deviation).to(dtype, layout).mapped(images, "jpg"), 0, 2, null,
                                    new HashMap<>()).forEach((sample, found) ->
                                            assertArrayEquals(floats.get(sample), found));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aFileThatCannotBeReadOrIsTooSmallIsOneBadSample() throws IOException {
        List<byte[]> files = files();
        byte[] good = files.get(0);
        byte[] damaged = good.clone();
        Arrays.fill(damaged, 700, 1200, (byte) 0xFF);
        List<byte[]> some = List.of(good, Arrays.copyOf(good, good.length / 2), good, new byte[] {1, 2, 3}, good,
                files.get(10), good, damaged, good, new byte[0], good, good);
        try (MemoryRecordStore store = store(some)) {
            Dataset dataset = Augment.images().centerCrop(60, 50).horizontalFlip(0.5).mapped(dataset(store), "jpg");
            try (DataLoader loader = DataLoader.builder(dataset).batchSize(4).endEpoch(1).workers(2)
                    .onBadSample(BadSamplePolicy.SKIP).open()) {
                int valid = 0;
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        valid += batch.valid();
                    }
                }
                assertEquals(7, valid);
                assertEquals(List.of(1L, 3L, 5L, 7L, 9L),
                        loader.badSamples().stream().map(bad -> bad.sample()).sorted().toList());
                assertTrue(loader.badSamples().stream().anyMatch(bad -> bad.sample() == 5
                        && bad.reason().contains("a crop of 60 x 50 of images of 1 x 1")),
                        () -> loader.badSamples().toString());
            }
        }
    }

    @Test
    void aFileThatCannotBeDecodedDoesNotChangeTheImageBehindIt() throws IOException {
        byte[] good = files().get(0);
        try (Arena arena = Arena.ofConfined()) {
            Tensor whole = file(arena, good);
            Tensor cut = file(arena, Arrays.copyOf(good, good.length / 2));
            Augment crop = Augment.images().randomResizedCrop(24, 20);
            for (Augment augment : List.of(crop, crop.colorJitter(0.4, 0, 0, 0), crop.colorJitter(0, 0.4, 0.4, 0),
                    crop.colorJitter(0.4, 0.4, 0.4, 0.1), crop.grayscale(1), crop.gaussianBlur(5), crop.augMix(),
                    crop.sharpness(2, 1), crop.rotate(20, Interpolation.BILINEAR, 0))) {
                var random = new KeyedRandom(SEED, 0);
                byte[][] found = new byte[2][];
                try (SampleMap.Mapper worker = augment.over(new TensorSpec("jpg", DType.U8, TensorSpec.VARIABLE))
                        .open().orElseThrow()) {
                    for (int i = 0; i < found.length; i++) {
                        Tensor out = Tensor.of(arena.allocate(24 * 20 * 3), DType.U8, 24, 20, 3);
                        random.select(0, 0);
                        AugmentTest.mapped(worker, whole, random, out);
                        found[i] = out.segment().toArray(ValueLayout.JAVA_BYTE);
                        assertThrows(CodecException.class, () -> worker.map(cut.segment(), 0,
                                cut.segment().byteSize(), random, out.segment(), 0, out.segment().byteSize(),
                                PartClock.NONE));
                    }
                }
                assertArrayEquals(found[0], found[1], augment::toString);
            }
        }
    }

    private static Tensor file(Arena arena, byte[] bytes) {
        return Tensor.of(arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes), DType.U8, bytes.length);
    }

    @Test
    void aFileThatIsTooSmallToBeMirroredIsOneBadSample() throws IOException {
        byte[] good = files().get(0);
        var narrow = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(6, 40, BufferedImage.TYPE_3BYTE_BGR), "png", narrow);
        Augment images = Augment.images();
        Map<String, Augment> small = Map.of(
                "gaussianBlur(13, sigma 0.1..2.0) of images of 40 x 6, expected sides of at least 7",
                images.gaussianBlur(13),
                "padding 6 REFLECT of images of 40 x 6, expected sides of at least 7",
                images.pad(Padding.of(6, Padding.Mode.REFLECT)),
                "padding 7 SYMMETRIC of images of 40 x 6, expected sides of at least 7",
                images.randomCrop(9, 9, Padding.of(7, Padding.Mode.SYMMETRIC)));
        for (Map.Entry<String, Augment> each : small.entrySet()) {
            Augment augment = each.getValue().resize(9, 9);
            try (MemoryRecordStore store = store(List.of(good, narrow.toByteArray(), good));
                    DataLoader loader = DataLoader.builder(augment.mapped(dataset(store), "jpg")).batchSize(3)
                            .endEpoch(1).onBadSample(BadSamplePolicy.SKIP).open();
                    Batch batch = loader.next()) {
                assertEquals(List.of(1L), loader.badSamples().stream().map(bad -> bad.sample()).toList());
                String reason = loader.badSamples().getFirst().reason();
                assertTrue(reason.contains(each.getKey()), reason);
                assertEquals(2, batch.valid());
            }
        }
    }

    /** One row of pixels, of which a shorter side of 256 would make 3.9 GB. */
    @Test
    void aFileThatIsTooFlatToBeResizedIsOneBadSample() throws IOException {
        var flat = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(20_000, 1, BufferedImage.TYPE_3BYTE_BGR), "png", flat);
        byte[] good = files().get(0);
        Augment augment = Augment.images().verticalFlip(1).resize(256).centerCrop(8, 8);
        try (MemoryRecordStore store = store(List.of(good, flat.toByteArray(), good));
                DataLoader loader = DataLoader.builder(augment.mapped(dataset(store), "jpg")).batchSize(3).endEpoch(1)
                        .onBadSample(BadSamplePolicy.SKIP).open();
                Batch batch = loader.next()) {
            assertEquals(2, batch.valid());
            assertEquals(1, loader.badSamples().size());
            assertEquals(1, loader.badSamples().getFirst().sample());
            String reason = loader.badSamples().getFirst().reason();
            assertTrue(reason.endsWith("pixels of 3932160000 bytes, expected a size that fits in memory"), reason);
        }
    }

    @Test
    void aSizeThatNoStepFixesIsRefusedAndSoIsDecodingOfPixels() throws IOException {
        try (MemoryRecordStore store = store(files()); MemoryTensorStore pixels =
                new MemoryTensorStore(1, new TensorSpec("jpg", DType.U8, 2, 20, 26, 3))) {
            refused("'jpg' has image files of all sizes, expected a step that makes one size",
                    () -> Augment.images().resize(20).horizontalFlip(0.5).mapped(dataset(store), "jpg"));
            refused("a crop of 21 x 20 of images of 20 x 20",
                    () -> Augment.images().resize(20).centerCrop(21, 20).mapped(dataset(store), "jpg"));
            refused("grayscale of images of 4 channels", () -> Augment.images().grayscale(1).randomResizedCrop(3, 3)
                    .decoding(ImageDecoding.to(PixelFormat.RGBA)).mapped(dataset(store), "jpg"));
            refused("which is decoded, expected image files", () -> Augment.images().horizontalFlip(0.5)
                    .decoding(ImageDecoding.rgb()).mapped(TensorRows.of("jpg", pixels, 0), "jpg"));
        }
    }

    private static void refused(String reason, Runnable action) {
        String message = assertThrows(IllegalArgumentException.class, action::run).getMessage();
        assertTrue(message.contains(reason), message);
    }

    @Test
    void theFingerprintTellsHowFilesAreDecoded() throws IOException {
        Augment crop = Augment.images().randomResizedCrop(8, 8);
        try (MemoryRecordStore store = store(files())) {
            assertEquals(5, List.of(crop, crop.decoding(ImageDecoding.gray()),
                    crop.decoding(ImageDecoding.rgb().upright()), crop.decoding(ImageDecoding.rgb().scaled()),
                    crop.normalize(MEAN, DEVIATION)).stream()
                    .map(augment -> augment.mapped(dataset(store), "jpg").fingerprint()).distinct().count());
        }
    }

    @Test
    void augmentingFilesAllocatesNothingOnceItIsWarm() throws IOException {
        assumeTrue(JpegLibrary.TURBOJPEG.isPresent(), "libturbojpeg is not there");
        byte[] file = files().get(0);
        try (MemoryRecordStore store = store(List.of(file)); Arena arena = Arena.ofConfined()) {
            Augment augment = Augment.images().randomResizedCrop(24, 20).horizontalFlip(0.5);
            var in = Tensor.of(arena.allocateFrom(ValueLayout.JAVA_BYTE, file), DType.U8, file.length);
            for (Augment each : List.of(augment, augment.colorJitter(0.4, 0.4, 0.4, 0.1))) {
                AugmentMap map = each.over(dataset(store).fields().get(0));
                var out = Tensor.of(arena.allocate(24 * 20 * 3), DType.U8, 24, 20, 3);
                var random = new KeyedRandom(SEED, 0);
                try (SampleMap.Mapper worker = map.open().orElseThrow()) {
                    assertEquals(0, HeapUse.fewest(0, () -> {
                        for (int position = 0; position < 100; position++) {
                            random.select(position, 0);
                            AugmentTest.mapped(worker, in, random, out);
                        }
                    }));
                }
            }
        }
    }
}
