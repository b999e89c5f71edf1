// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.Augment;
import io.penstock.augment.AugmentText;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.decode.Decoder;
import io.penstock.format.webdataset.WebDatasetStore;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.testing.Folders;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.testing.MemoryTensorStore;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of stores whose images are augmented once: the same bytes as in a loader's epochs. */
class AugmentedConversionTest {

    private static final long SEED = 9;
    private static final int SAMPLES = 7;
    private static final int COPIES = 3;
    private static final Augment STEPS = AugmentText.parse("rrc=16x12,flip,jitter=0.4:0.4:0.4:0.1,normalize=imagenet");
    private static final Augment PIXELS = AugmentText.parse("crop=16x12:2,flip");

    @TempDir
    Path folder;

    private static MemoryTensorStore tensors() {
        return new MemoryTensorStore(1, new TensorSpec("image", DType.U8, SAMPLES, 20, 26, 3),
                new TensorSpec("label", DType.I64, SAMPLES), new TensorSpec("mask", DType.U8, SAMPLES, 20, 26, 1));
    }

    /** Records of an image, a class and a text; the last one lacks its image. */
    private static MemoryRecordStore records() {
        byte[][][] values = new byte[SAMPLES][3][];
        var random = new SplittableRandom(5);
        for (int record = 0; record < SAMPLES; record++) {
            byte[] pixels = new byte[20 * 26 * 3];
            random.nextBytes(pixels);
            values[record] = new byte[][] {record == SAMPLES - 1 ? null : pixels, {(byte) ('0' + record)}, {'t', 'x'}};
        }
        return new MemoryRecordStore(List.of(Column.numbers("pixels", DType.U8, 20, 26, 3), Column.bytes("cls", "cls"),
                Column.text("note", "utf8")), values);
    }

    /** The rows of a field that a loader makes in the store's order, epoch by epoch. */
    private static List<byte[]> loaded(Dataset samples, String field) {
        List<byte[]> rows = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(samples).batchSize(2).workers(2).seed(SEED).endEpoch(COPIES)
                .open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        rows.add(batch.tensor(field).row(row).segment().toArray(ValueLayout.JAVA_BYTE));
                    }
                }
            }
        }
        return rows;
    }

    private static void assertRows(List<byte[]> expected, TensorStore store, int tensor) throws IOException {
        assertEquals(expected.size(), store.tensors().get(tensor).dim(0));
        for (int row = 0; row < expected.size(); row++) {
            assertArrayEquals(expected.get(row),
                    store.tensor(tensor).row(row).segment().toArray(ValueLayout.JAVA_BYTE), "row " + row);
        }
    }

    @Test
    void anArrayHasTheImagesOfOneEpochAfterTheOther() throws Exception {
        Path target = folder.resolve("copies.npy");
        try (MemoryTensorStore store = tensors()) {
            ConversionSummary written = new Conversion(store, target, "npy")
                    .augmented(STEPS, List.of("image"), COPIES, SEED).run();
            assertEquals(SAMPLES * COPIES, written.records());
            assertEquals(List.of("fields: label, mask", "name: image"), written.lost());
            try (TensorStore copies = TensorStore.open(target)) {
                assertEquals(new TensorSpec("", DType.F32, SAMPLES * COPIES, 3, 16, 12), copies.tensors().getFirst());
                assertRows(loaded(STEPS.mapped(TensorRows.of("image", store, 0), "image"), "image"), copies, 0);
            }
        }
    }

    @Test
    void severalTensorsHaveTheSameRowsAndFieldsAreAugmentedAlike() throws Exception {
        Path target = folder.resolve("copies.safetensors");
        try (MemoryTensorStore store = tensors()) {
            new Conversion(store, target, "safetensors")
                    .augmented(PIXELS, List.of("image", "mask"), COPIES, SEED).run();
            Dataset samples = TensorRows.of("image", store, 0).and("mask", store, 2).and("label", store, 1);
            Dataset augmented = PIXELS.mapped(PIXELS.mapped(samples, "image"), "mask");
            try (TensorStore copies = TensorStore.open(target)) {
                List<String> names = copies.tensors().stream().map(TensorSpec::name).toList();
                for (String field : List.of("image", "mask", "label")) {
                    assertRows(loaded(augmented, field), copies, names.indexOf(field));
                }
            }
        }
    }

    @Test
    void aTarHasASampleACopyWithTheOtherColumnsAsTheyAre() throws Exception {
        Path target = folder.resolve("copies.tar");
        try (MemoryRecordStore store = records()) {
            ConversionSummary written = new Conversion(store, target, "webdataset").skipIncomplete()
                    .augmented(PIXELS, List.of(), COPIES, SEED).run();
            assertEquals((SAMPLES - 1) * COPIES, written.records());
            assertEquals(List.of("1 records that lack a value"), written.lost());
            List<byte[]> expected = loaded(PIXELS.mapped(RecordFields.of(store).and("pixels").complete(), "pixels"),
                    "pixels");
            try (RecordStore copies = RecordStore.open(target)) {
                assertEquals(expected.size(), copies.size());
                assertEquals("000002-1", ((WebDatasetStore) copies).key(SAMPLES - 1 + 2));
                Dataset read = RecordFields.of(copies).and("pixels.npy", Decoder.npy(DType.U8, 16, 12, 3))
                        .and("cls", Decoder.decimal(DType.I64));
                List<byte[]> pixels = loaded(read, "pixels.npy").subList(0, expected.size());
                List<byte[]> classes = loaded(read, "cls");
                for (int row = 0; row < expected.size(); row++) {
                    assertArrayEquals(expected.get(row), pixels.get(row), "row " + row);
                    assertEquals(row % (SAMPLES - 1), classes.get(row)[0]);
                }
            }
        }
    }

    @Test
    void copiesOfARecordThatLacksAnotherColumnAreLeftOutOnRequest() throws Exception {
        Path target = folder.resolve("copies.tar");
        byte[][][] values = {{new byte[20 * 26 * 3], {'0'}}, {new byte[20 * 26 * 3], null}};
        try (MemoryRecordStore store = new MemoryRecordStore(List.of(Column.numbers("pixels", DType.U8, 20, 26, 3),
                Column.bytes("cls", "cls")), values)) {
            ConversionSummary written = new Conversion(store, target, "webdataset").skipIncomplete()
                    .augmented(PIXELS, List.of(), COPIES, SEED).run();
            assertEquals(COPIES, written.records());
            assertEquals(List.of("1 records that lack a value"), written.lost());
        }
        try (RecordStore copies = RecordStore.open(target)) {
            assertEquals(COPIES, copies.size());
        }
    }

    @Test
    void aFieldToAugmentThatIsNotThereIsRefusedAndNothingIsWritten() throws Exception {
        try (MemoryTensorStore store = tensors(); MemoryRecordStore records = records()) {
            for (List<String> images : List.of(List.of("picture"), List.of("image", "msak"))) {
                String found = assertThrows(ConversionException.class, () -> new Conversion(store,
                        folder.resolve("copies.safetensors"), "safetensors")
                        .augmented(PIXELS, images, COPIES, SEED).run()).getMessage();
                assertEquals("found no field of images [" + images.getLast() + "], expected some of"
                        + " [image: u8[20,26,3], label: i64[], mask: u8[20,26,1]]", found);
            }
            String found = assertThrows(ConversionException.class, () -> new Conversion(records,
                    folder.resolve("copies.tar"), "webdataset").skipIncomplete()
                    .augmented(PIXELS, List.of("pixels", "msak"), COPIES, SEED).run()).getMessage();
            assertTrue(found.startsWith("found no field of images [msak], expected some of [pixels: "), found);
        }
        assertEquals(List.of(), Folders.files(folder));
    }

    @Test
    void recordsBecomeAnArray() throws Exception {
        Path target = folder.resolve("copies.npy");
        try (MemoryRecordStore store = records()) {
            new Conversion(store, target, "npy").skipIncomplete().fields(List.of("pixels"))
                    .augmented(STEPS, List.of(), COPIES, SEED).run();
            try (TensorStore copies = TensorStore.open(target)) {
                assertRows(loaded(STEPS.mapped(RecordFields.of(store).and("pixels").complete(), "pixels"), "pixels"),
                        copies, 0);
            }
        }
    }

    @Test
    void filesOfImagesAreDecodedByTheSteps() throws Exception {
        var random = new Random(2);
        byte[][][] values = new byte[SAMPLES][2][];
        for (int record = 0; record < SAMPLES; record++) {
            BufferedImage image = new BufferedImage(20 + record, 30, BufferedImage.TYPE_INT_RGB);
            image.setRGB(0, 0, 20 + record, 30, random.ints(30L * (20 + record)).toArray(), 0, 20 + record);
            ByteArrayOutputStream png = new ByteArrayOutputStream();
            ImageIO.write(image, "png", png);
            values[record] = new byte[][] {png.toByteArray(), {(byte) ('0' + record)}};
        }
        try (MemoryRecordStore store = new MemoryRecordStore(
                List.of(Column.bytes("png", "png"), Column.bytes("cls", "cls")), values)) {
            List<byte[]> expected = loaded(STEPS.mapped(RecordFields.of(store).and("png"), "png"), "png");
            Path array = folder.resolve("copies.npy");
            assertEquals(List.of("fields: cls", "name: png"), new Conversion(store, array, "npy")
                    .augmented(STEPS, List.of(), COPIES, SEED).run().lost());
            try (TensorStore copies = TensorStore.open(array)) {
                assertRows(expected, copies, 0);
            }
            Path tar = folder.resolve("copies.tar");
            new Conversion(store, tar, "webdataset").augmented(STEPS, List.of(), COPIES, SEED).run();
            try (RecordStore copies = RecordStore.open(tar)) {
                List<byte[]> found = loaded(RecordFields.of(copies)
                        .and("png.npy", Decoder.npy(DType.F32, 3, 16, 12)), "png.npy");
                for (int row = 0; row < expected.size(); row++) {
                    assertArrayEquals(expected.get(row), found.get(row), "row " + row);
                }
            }
        }
    }

    @Test
    void whatCannotBeAugmentedIsRefusedAndNothingIsWritten() throws Exception {
        Path target = folder.resolve("copies.npy");
        try (MemoryTensorStore store = tensors(); MemoryRecordStore records = records();
                MemoryTensorStore texts = new MemoryTensorStore(1, new TensorSpec("ids", DType.I32, 4, 4))) {
            assertRefused("found several fields of images: [image, mask], expected the names", store, target,
                    "npy", PIXELS);
            assertRefused("found no images u8[H,W,C] of one size in [ids: i32[4]], expected some", texts, target,
                    "npy", PIXELS);
            assertRefused("megatron holds tokens, expected a format of tensors or samples", texts, target,
                    "megatron", PIXELS);
            assertRefused("a crop of 99 x 99 of images of 20 x 26", records, target, "npy",
                    AugmentText.parse("center=99"));
            String lacking = assertThrows(IOException.class, () -> new Conversion(records, target, "npy")
                    .augmented(PIXELS, List.of(), 2, SEED).run()).getMessage();
            assertTrue(lacking.contains("record number 6"), lacking);
            assertThrows(IllegalArgumentException.class, () -> new Conversion(store, target, "npy")
                    .augmented(PIXELS, List.of(), 0, SEED));
        }
        assertEquals(List.of(), Folders.files(folder));
    }

    private static void assertRefused(String message, Store store, Path target, String format, Augment steps) {
        String found = assertThrows(ConversionException.class, () -> new Conversion(store, target, format)
                .augmented(steps, List.of(), 2, SEED).run()).getMessage();
        assertTrue(found.contains(message), found);
    }
}
