// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.step.Canvas;
import io.penstock.augment.step.Placement;
import io.penstock.augment.step.Step;
import io.penstock.augment.step.TargetMap;
import io.penstock.augment.step.TargetMap.Output;
import io.penstock.augment.step.TargetWorker;
import io.penstock.augment.step.Targets;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.ResizeFilter;
import io.penstock.image.Target;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.store.Column;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryRecordStore;
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** Masks, boxes and keypoints that follow their image. */
class TargetsTest {

    private static final long SEED = 11;

    private static Augment geometry() {
        return Augment.images().randomCrop(28, 36, Padding.constant(3, 0)).horizontalFlip(0.5).verticalFlip(0.5)
                .affine(AffineRanges.degrees(20).translate(0.1, 0.1).scale(0.8, 1.3).shear(5, 5), Interpolation.NEAREST,
                        0)
                .perspective(0.3, 0.5, Interpolation.NEAREST, 0).resize(40, 50, ResizeFilter.NEAREST)
                .rotate(15, Interpolation.NEAREST, 0).trivialAugmentWide(Interpolation.NEAREST);
    }

    @Test
    void masksBoxesAndKeypointsEqualThoseOfTorchvision() throws IOException {
        List<Object> lines = AugmentVectorsTest.lines("targets");
        Map<String, Object> given = Json.object(lines.getFirst());
        byte[] mask = Base64.getDecoder().decode((String) given.get("mask"));
        double[][] boxes = numbers(given.get("boxes"));
        double[][] points = numbers(given.get("points"));
        assertEquals(15, lines.size());
        for (Object line : lines.subList(1, lines.size())) {
            Map<String, Object> member = Json.object(line);
            String operation = (String) member.get("operation");
            Augment augment = AugmentVectorsTest.pipeline(operation, Json.object(member.get("settings")));
            Step step = augment.over(new TensorSpec("image", DType.U8, 30, 40, 3)).steps().getFirst().step();
            Map<String, Object> parameters = Json.object(member.get("parameters"));
            double[] values = step.form().parameters().stream()
                    .mapToDouble(name -> AugmentVectorsTest.real(parameters.get(name))).toArray();

            byte[] expectedMask = Base64.getDecoder().decode((String) member.get("mask"));
            assertTrue(AugmentVectorsTest.makeExact(member, expectedMask) < 5);
            var canvas = new Canvas();
            canvas.loadMask(MemorySegment.ofArray(mask), 0, 30, 40, 1, 0);
            step.apply(values, 0, canvas);
            assertArrayEquals(expectedMask, Arrays.copyOf(canvas.pixels(), canvas.byteCount()), operation);

            var placement = new Placement();
            placement.begin(30, 40);
            step.place(values, 0, placement);
            assertEquals(canvas.height(), placement.height());
            assertEquals(canvas.width(), placement.width());
            double[][] expectedBoxes = numbers(member.get("boxes"));
            for (int i = 0; i < boxes.length; i++) {
                double[] box = Arrays.copyOf(boxes[i], 5);
                TargetWorker.moveBox(box, 0, placement);
                for (int k = 0; k < 4; k++) {                           // flips leave a box that is partly outside
                    expectedBoxes[i][k] =
                            Math.clamp(expectedBoxes[i][k], 0.0, k % 2 == 0 ? canvas.width() : canvas.height());
                }
                assertArrayEquals(expectedBoxes[i], Arrays.copyOf(box, 4), 1e-4, operation + parameters);
            }
            if (member.containsKey("points")) {
                double[][] expectedPoints = numbers(member.get("points"));
                for (int i = 0; i < points.length; i++) {
                    placement.move(points[i][0], points[i][1]);
                    assertEquals(expectedPoints[i][0], placement.x(), 1e-4, operation + parameters);
                    assertEquals(expectedPoints[i][1], placement.y(), 1e-4, operation + parameters);
                }
            }
        }
    }

    private static double[][] numbers(Object rows) {
        return Json.array(rows).stream().map(row -> Json.array(row).stream()
                .mapToDouble(AugmentVectorsTest::real).toArray()).toArray(double[][]::new);
    }

    /** Samples of an image whose pixels, and mask, are 0 but for a rectangle of class 9; its box and its middle. */
    private static Dataset samples(int count) {
        return Dataset.generate(count, List.of(new TensorSpec("image", DType.U8, 30, 40, 1),
                new TensorSpec("mask", DType.U8, 30, 40), new TensorSpec("boxes", DType.F32, 2, 4),
                new TensorSpec("points", DType.F32, 1, 1, 2)), "rectangles", (sample, _, out) -> {
                    var random = new Random(sample);
                    int top = random.nextInt(20);
                    int left = random.nextInt(25);
                    int height = 5 + random.nextInt(6);
                    int width = 5 + random.nextInt(8);
                    for (int y = top; y < top + height; y++) {
                        for (int x = left; x < left + width; x++) {
                            out.tensor("image").segment().set(JAVA_BYTE, y * 40 + x, (byte) 9);
                            out.tensor("mask").segment().set(JAVA_BYTE, y * 40 + x, (byte) 9);
                        }
                    }
                    put(out.tensor("boxes"), left, top, left + width, top + height, 0, 0, 0, 0);
                    put(out.tensor("points"), left + width / 2f, top + height / 2f);
                });
    }

    private static void put(Tensor tensor, float... values) {
        MemorySegment.copy(values, 0, tensor.segment(), LittleEndian.F32, 0, values.length);
    }

    @Test
    void aMaskIsMovedAsItsImageAndABoxContainsItsPixelsAndAPointIsOnThem() {
        Augment augment = geometry().colorJitter(0.4, 0.4, 0, 0);
        Dataset mapped = augment.mapped(samples(200), "image", Target.mask("mask"), Target.boxes("boxes").minimum(0, 0),
                Target.keypoints("points"));
        assertEquals(List.of("image", "mask", "boxes", "boxes_valid", "points", "points_visible"),
                mapped.fields().stream().map(TensorSpec::name).toList());
        int seen = 0;
        int visible = 0;
        try (DataLoader loader = DataLoader.builder(mapped).batchSize(20).shuffle(SEED).endEpoch(1).workers(2).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        byte[] mask = batch.tensor("mask").row(row).segment().toArray(JAVA_BYTE);
                        float[] box = new float[8];
                        batch.tensor("boxes").row(row).copyTo(box);
                        boolean isValid = batch.tensor("boxes_valid").row(row).getLong(0) != 0;
                        assertEquals(0, batch.tensor("boxes_valid").row(row).getLong(1), "a box without area");
                        int painted = 0;
                        for (int i = 0; i < mask.length; i++) {
                            int x = i % 50;
                            int y = i / 50;
                            assertTrue(mask[i] == 0 || mask[i] == 9);
                            if (mask[i] == 9) {
                                painted++;
                                assertTrue(isValid && x + 3 >= box[0] && x - 2 <= box[2] && y + 3 >= box[1]
                                        && y - 2 <= box[3], () -> x + ", " + y + " outside " + Arrays.toString(box));
                            }
                        }
                        seen += painted > 0 ? 1 : 0;
                        if (batch.tensor("points_visible").row(row).getLong(0) != 0) {
                            float[] point = new float[2];
                            batch.tensor("points").row(row).copyTo(point);
                            assertTrue(isNear(mask, point), () -> Arrays.toString(point) + " of "
                                    + Arrays.toString(box));
                            visible++;
                        }
                    }
                }
            }
        }
        assertTrue(seen > 150 && visible > 120, seen + " " + visible);
    }

    /** Tells whether a pixel of class 9 is within two pixels: each of the steps takes the nearest one. */
    private static boolean isNear(byte[] mask, float[] point) {
        for (int y = Math.max((int) point[1] - 2, 0); y <= Math.min((int) point[1] + 2, 39); y++) {
            for (int x = Math.max((int) point[0] - 2, 0); x <= Math.min((int) point[0] + 2, 49); x++) {
                if (mask[y * 50 + x] == 9) {
                    return true;
                }
            }
        }
        return false;
    }

    @Test
    void workersAndBatchSizesDoNotChangeATarget() {
        Dataset mapped = geometry().mapped(samples(30), "image", Target.mask("mask"), Target.boxes("boxes"),
                Target.keypoints("points"));
        assertEquals(all(mapped, 0, 30), all(mapped, 3, 7));
    }

    private static Set<String> all(Dataset dataset, int workers, int batchSize) {
        Set<String> found = new HashSet<>();
        try (DataLoader loader = DataLoader.builder(dataset).batchSize(batchSize).shuffle(SEED).endEpoch(1)
                .workers(workers).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        StringBuilder sample = new StringBuilder("" + batch.position(row));
                        for (TensorSpec field : batch.fields()) {
                            sample.append(' ').append(Arrays.hashCode(
                                    batch.tensor(field.name()).row(row).segment().toArray(JAVA_BYTE)));
                        }
                        found.add(sample.toString());
                    }
                }
            }
        }
        return found;
    }

    @Test
    void pixelIndicesAreMirroredAboutTheMiddleOfTheFirstAndLastPixel() {
        Augment flip = Augment.images().horizontalFlip(1);
        assertArrayEquals(new float[] {28, 3, 37, 9},
                moved(flip, Target.boxes("boxes").in(Target.Coordinates.PIXEL_INDICES), 2, 3, 11, 9));
        assertArrayEquals(new float[] {29, 3, 38, 9}, moved(flip, Target.boxes("boxes"), 2, 3, 11, 9));
    }

    @Test
    void aBoxOfWhichTooLittleIsLeftIsInvalidAndZero() {
        Augment crop = Augment.images().centerCrop(30, 20);             // columns 10 to 29
        assertArrayEquals(new float[] {0, 0, 2, 10}, moved(crop, Target.boxes("boxes"), 4, 0, 12, 10));
        assertArrayEquals(new float[] {0, 0, 2, 10},
                moved(crop, Target.boxes("boxes").minimum(20, 0.25), 4, 0, 12, 10));
        assertArrayEquals(new float[4], moved(crop, Target.boxes("boxes").minimum(20.5, 0), 4, 0, 12, 10));
        assertArrayEquals(new float[4], moved(crop, Target.boxes("boxes").minimum(0, 0.26), 4, 0, 12, 10));
        assertArrayEquals(new float[4], moved(crop, Target.boxes("boxes").minimum(0, 0), 1, 0, 9, 10));
    }

    /** Moves a box of images of 30 x 40. */
    private static float[] moved(Augment augment, Target.Boxes target, float... box) {
        float[] found = new float[4];
        run(map(augment, target, Output.VALUES), Tensor.of(MemorySegment.ofArray(box), DType.F32, 1, 4),
                new KeyedRandom(SEED, 0), Tensor.of(MemorySegment.ofArray(found), DType.F32, 1, 4));
        byte[] valid = new byte[1];
        run(map(augment, target, Output.FLAGS), Tensor.of(MemorySegment.ofArray(box), DType.F32, 1, 4),
                new KeyedRandom(SEED, 0), Tensor.of(MemorySegment.ofArray(valid), DType.BOOL, 1));
        assertEquals(found[2] > 0 ? 1 : 0, valid[0]);
        return found;
    }

    /** Moves a target of images of 30 x 40. */
    private static TargetMap map(Augment augment, Target target, Output output) {
        return map(augment, 30, 40, target, output);
    }

    private static TargetMap map(Augment augment, int height, int width, Target target, Output output) {
        return new Targets("image", augment.over(new TensorSpec("image", DType.U8, height, width, 3)), "name", "text")
                .to(target, output, 1);
    }

    @Test
    void outsideTheImageAMaskHasTheClassThatIsAskedFor() {
        Augment augment = Augment.images().pad(Padding.constant(1, 77)).rotate(45, Interpolation.BILINEAR, 33);
        byte[] mask = new byte[32 * 42];
        run(map(augment, Target.mask("mask").outside(255), Output.VALUES),
                Tensor.of(MemorySegment.ofArray(new byte[30 * 40]), DType.U8, 30, 40), new KeyedRandom(SEED, 0),
                Tensor.of(MemorySegment.ofArray(mask), DType.U8, 32, 42));
        Set<Integer> classes = new HashSet<>();
        for (byte value : mask) {
            classes.add(value & 0xFF);
        }
        assertEquals(Set.of(0, 255), classes);
    }

    /** One-hot classes, for example. */
    @Test
    void aMaskOfManyChannelsIsMovedAsItsChannelsAre() throws IOException {
        int channels = 7;
        byte[] mask = new byte[30 * 40 * channels];
        new Random(SEED).nextBytes(mask);
        Augment flip = Augment.images().horizontalFlip(1);
        for (Augment augment : List.of(flip, flip.verticalFlip(1), flip.randomCrop(20, 30), flip.resize(20, 30),
                Augment.images().randomCrop(20, 30).horizontalFlip(1), geometry(),
                Augment.images().fused().horizontalFlip(1).rotate(20, Interpolation.BILINEAR, 0))) {
            TensorSpec result = augment.over(new TensorSpec("image", DType.U8, 30, 40, 3)).result("image");
            int pixels = (int) (result.dim(0) * result.dim(1));
            byte[] together = moved(augment, mask, channels, pixels);
            for (int c = 0; c < channels; c++) {
                byte[] alone = moved(augment, channel(mask, channels, c), 1, pixels);
                assertArrayEquals(alone, channel(together, channels, c), augment + ", channel " + c);
            }
        }
    }

    private static byte[] channel(byte[] mask, int channels, int channel) {
        byte[] found = new byte[mask.length / channels];
        for (int i = 0; i < found.length; i++) {
            found[i] = mask[i * channels + channel];
        }
        return found;
    }

    /** Moves a mask of images of 30 x 40. */
    private static byte[] moved(Augment augment, byte[] mask, int channels, int pixels) throws IOException {
        byte[] found = new byte[pixels * channels];
        var map = new Targets("image", augment.over(new TensorSpec("image", DType.U8, 30, 40, 3)), "name", "text")
                .to(Target.mask("mask"), Output.VALUES, channels);
        try (SampleMap.Mapper worker = map.open().orElseThrow()) {
            run(worker, MemorySegment.ofArray(mask), new KeyedRandom(SEED, 0), MemorySegment.ofArray(found));
        }
        return found;
    }

    @Test
    void movingTargetsAllocatesNothingOnceItIsWarm() {
        MemorySegment mask = MemorySegment.ofArray(new byte[30 * 40]);
        MemorySegment movedMask = MemorySegment.ofArray(new byte[40 * 50]);
        MemorySegment boxes = MemorySegment.ofArray(new float[8]);
        MemorySegment movedBoxes = MemorySegment.ofArray(new float[8]);
        var random = new KeyedRandom(SEED, 0);
        try (SampleMap.Mapper ofMask = map(geometry(), Target.mask("mask"), Output.VALUES).open().orElseThrow();
                SampleMap.Mapper ofBoxes = map(geometry(), Target.boxes("boxes"), Output.VALUES).open().orElseThrow();
                SampleMap.Mapper ofPoints =
                        map(geometry(), Target.keypoints("points"), Output.VALUES).open().orElseThrow()) {
            assertEquals(0, HeapUse.fewest(0, () -> {
                for (int position = 0; position < 200; position++) {
                    random.select(position, 0);
                    run(ofMask, mask, random, movedMask);
                    run(ofBoxes, boxes, random, movedBoxes);
                    run(ofPoints, boxes, random, movedBoxes);
                }
            }));
        }
    }

    private static void run(SampleMap.Mapper mapper, MemorySegment in, KeyedRandom random, MemorySegment out) {
        try {
            mapper.map(in, 0, in.byteSize(), random, out, 0, out.byteSize(), PartClock.NONE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Files of a size of their own: an image, and its mask as gray values or palette indices. */
    private record Files(int height, int width, byte[] image, byte[] mask, byte[] classes) {

        static Files of(int number, int maskHeight) throws IOException {
            var random = new Random(number);
            int height = 30 + random.nextInt(20);
            int width = 38 + random.nextInt(20);
            var image = new BufferedImage(width, height, BufferedImage.TYPE_3BYTE_BGR);
            var mask = new BufferedImage(width, maskHeight == 0 ? height : maskHeight,
                    number % 2 == 0 ? BufferedImage.TYPE_BYTE_GRAY : BufferedImage.TYPE_BYTE_INDEXED);
            random.nextBytes(((DataBufferByte) image.getRaster().getDataBuffer()).getData());
            byte[] classes = ((DataBufferByte) mask.getRaster().getDataBuffer()).getData();
            for (int i = 0; i < classes.length; i++) {
                classes[i] = (byte) random.nextInt(5);
            }
            return new Files(height, width, png(image), png(mask), classes.clone());
        }

        private static byte[] png(BufferedImage image) throws IOException {
            var bytes = new ByteArrayOutputStream();
            ImageIO.write(image, "png", bytes);
            return bytes.toByteArray();
        }
    }

    private static MemoryRecordStore store(List<Files> files, byte[] boxes) {
        return new MemoryRecordStore(List.of(Column.bytes("image", "png"), Column.bytes("mask", "png"),
                Column.numbers("boxes", DType.F32, 2, 4), Column.numbers("points", DType.F32, 2, 2)),
                files.stream().map(each -> new byte[][] {each.image, each.mask, boxes, Arrays.copyOf(boxes, 16)})
                        .toArray(byte[][][]::new));
    }

    private static Dataset fields(MemoryRecordStore store) {
        return RecordFields.of(store).and("image").and("mask").and("boxes").and("points");
    }

    @Test
    void targetsOfImageFilesMoveAsThoseOfDecodedImagesOfTheirSizes() throws IOException {
        List<Files> files = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            files.add(Files.of(i, 0));
        }
        float[] boxes = {3, 4, 17, 25.5f, 20, 2, 31, 9};
        byte[] bytes = new byte[32];
        MemorySegment.copy(boxes, 0, MemorySegment.ofArray(bytes), LittleEndian.F32, 0, boxes.length);
        Augment augment = Augment.images().randomResizedCrop(24, 32).horizontalFlip(0.5).colorJitter(0.1, 0, 0, 0)
                .rotate(20, Interpolation.BILINEAR, 0);
        Target[] targets = {Target.mask("mask").outside(9), Target.boxes("boxes").minimum(4, 0.2),
            Target.keypoints("points")};
        try (MemoryRecordStore store = store(files, bytes);
                DataLoader expected = DataLoader.builder(augment.mapped(RecordFields.of(store).and("image"), "image"))
                        .batchSize(3).shuffle(SEED).endEpoch(1).workers(1).open();
                DataLoader found = DataLoader.builder(augment.mapped(fields(store), "image", targets)).batchSize(3)
                        .shuffle(SEED).endEpoch(1).workers(2).open()) {
            while (found.hasNext()) {
                try (Batch left = expected.next(); Batch right = found.next()) {
                    assertEquals(List.of("image", "mask", "boxes", "boxes_valid", "points", "points_visible"),
                            right.fields().stream().map(TensorSpec::name).toList());
                    assertArrayEquals(bytes(left.tensor("image")), bytes(right.tensor("image")));
                    for (int row = 0; row < right.count(); row++) {
                        Files of = files.get((int) right.sample(row));
                        var random = new KeyedRandom(SEED, 0);
                        random.select(right.position(row), 0);
                        assertMoved(map(augment, of.height, of.width, targets[0], Output.VALUES),
                                Tensor.of(MemorySegment.ofArray(of.classes), DType.U8, of.height, of.width), random,
                                right.tensor("mask").row(row));
                        Tensor box = Tensor.of(MemorySegment.ofArray(bytes), DType.F32, 2, 4);
                        Tensor points = Tensor.of(MemorySegment.ofArray(Arrays.copyOf(bytes, 16)), DType.F32, 2, 2);
                        for (Output output : Output.values()) {
                            assertMoved(map(augment, of.height, of.width, targets[1], output), box, random,
                                    right.tensor(output == Output.VALUES ? "boxes" : "boxes_valid").row(row));
                            assertMoved(map(augment, of.height, of.width, targets[2], output), points, random,
                                    right.tensor(output == Output.VALUES ? "points" : "points_visible").row(row));
                        }
                    }
                }
            }
        }
    }

    private static void assertMoved(TargetMap map, Tensor in, KeyedRandom random, Tensor found) {
        Tensor expected = Tensor.of(MemorySegment.ofArray(new byte[(int) found.byteSize()]), found.dtype(),
                found.shape());
        run(map, in, random, expected);
        assertArrayEquals(bytes(expected), bytes(found), map::toString);
    }

    private static byte[] bytes(Tensor tensor) {
        return tensor.segment().toArray(JAVA_BYTE);
    }

    @Test
    void aMaskThatDoesNotFitItsImageAndAnImageThatIsTooSmallAreBadSamples() throws IOException {
        Files right = Files.of(0, 0);
        assertEquals("a mask of 7 x " + right.width + ", expected " + right.height + " x " + right.width
                + " as the image", bad(Files.of(0, 7), Augment.images().resize(9, 9)));
        assertEquals("a mask of PNG " + right.width + "x" + right.height
                + " RGB 8 bits, expected a PNG of gray or palette indices of at most 8 bits",
                bad(new Files(right.height, right.width, right.image, right.image, right.classes),
                        Augment.images().resize(9, 9)));
        var lossy = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(right.width, right.height, BufferedImage.TYPE_BYTE_GRAY), "jpg", lossy);
        assertEquals("a mask of JPEG " + right.width + "x" + right.height
                + " GRAY 8 bits, expected a PNG of gray or palette indices of at most 8 bits",
                bad(new Files(right.height, right.width, right.image, lossy.toByteArray(), right.classes),
                        Augment.images().resize(9, 9)));
        assertEquals("a crop of 99 x 99 of images of " + right.height + " x " + right.width
                + ", expected an image that randomCrop(99 x 99) can take",
                bad(right, Augment.images().randomCrop(99, 99)));
    }

    /** One row, of which a shorter side of 256 makes 2.6 GB of classes. Of the image only the crop is made. */
    @Test
    void aMaskThatIsTooFlatToBeResizedIsABadSample() throws IOException {
        byte[] image = Files.png(new BufferedImage(40_000, 1, BufferedImage.TYPE_3BYTE_BGR));
        byte[] mask = Files.png(new BufferedImage(40_000, 1, BufferedImage.TYPE_BYTE_GRAY));
        assertEquals("pixels of 2621440000 bytes, expected a size that fits in memory",
                bad(new Files(1, 40_000, image, mask, mask), Augment.images().resize(256).centerCrop(8, 8)));
    }

    /** One row, of which a shorter side of 256 makes more columns than an int counts. */
    @Test
    void anImageThatIsTooFlatToBeResizedIsABadSampleForItsBoxesToo() throws IOException {
        byte[] flat = Files.png(new BufferedImage(9_000_000, 1, BufferedImage.TYPE_BYTE_GRAY));
        var map = new Targets("image", Augment.images().resize(256).centerCrop(8, 8)
                .over(new TensorSpec("image", DType.U8, TensorSpec.VARIABLE)), "name", "text")
                .to(Target.boxes("boxes"), Output.VALUES, 0);
        MemorySegment boxes = MemorySegment.ofArray(new float[8]);
        try (Arena arena = Arena.ofConfined(); SampleMap.Mapper worker = map.open().orElseThrow()) {
            worker.beside(arena.allocateFrom(JAVA_BYTE, flat), 0, flat.length);
            String reason = assertThrows(CodecException.class, () -> worker.map(boxes, 0, boxes.byteSize(),
                    new KeyedRandom(SEED, 0), boxes, 0, boxes.byteSize(), PartClock.NONE)).getMessage();
            assertEquals("integer overflow, expected an image that resize(shorter side 256) can take", reason);
        }
    }

    /** Returns why a sample is bad. */
    private static String bad(Files files, Augment augment) {
        try (MemoryRecordStore store = store(List.of(files), new byte[32]);
                DataLoader loader = DataLoader.builder(augment.mapped(fields(store), "image", Target.mask("mask")))
                        .batchSize(1).shuffle(SEED).endEpoch(1).workers(1).open()) {
            Throwable e = assertThrows(RuntimeException.class, loader::next);
            while (e.getCause() != null) {
                e = e.getCause();
            }
            return e.getMessage();
        }
    }

    private static void run(SampleMap map, Tensor in, KeyedRandom random, Tensor out) {
        try {
            map.map(in, random, out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatDoesNotFitIsRefused() {
        Dataset samples = samples(3);
        Augment flip = Augment.images().horizontalFlip(0.5);
        refused("no field 'other', samples have [image, mask, boxes, points]", flip, samples, Target.boxes("other"));
        refused("found boxes: f32[2,4], expected u8[30,40] or with channels behind, as the image", flip, samples,
                Target.mask("boxes"));
        refused("found points: f32[1,1,2], expected f32[N,4]", flip, samples, Target.boxes("points"));
        refused("found mask: u8[30,40], expected f32[...,2]", flip, samples, Target.keypoints("mask"));
        refused("penstock.augment.augMix mixes images that are moved differently, expected no mask, boxes or keypoints"
                + " beside it", flip.augMix(), samples, Target.boxes("boxes"));
        assertEquals("boxes of at least -1.0 pixels, of which 0.0 are visible, expected at least 0, and 0 to 1",
                assertThrows(IllegalArgumentException.class, () -> Target.boxes("boxes").minimum(-1, 0)).getMessage());
    }

    private static void refused(String message, Augment augment, Dataset samples, Target target) {
        assertEquals(message, assertThrows(IllegalArgumentException.class,
                () -> augment.mapped(samples, "image", target)).getMessage());
    }
}
