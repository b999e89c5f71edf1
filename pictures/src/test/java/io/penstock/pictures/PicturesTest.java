// SPDX-License-Identifier: Apache-2.0
package io.penstock.pictures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.Augment;
import io.penstock.dataset.Dataset;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.testing.MemoryRecordStore;
import io.penstock.transform.ImageTransform.Layout;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The fields of pictures have one name each, whatever store holds them. */
class PicturesTest {

    private static final int SIDE = 12;
    private static final int PICTURES = 7;

    @TempDir
    Path folder;

    /** Pictures of noise, which the JDK writes: three dogs and four cats. */
    private Path photos() throws IOException {
        Path photos = folder.resolve("photos");
        for (int i = 0; i < PICTURES; i++) {
            Path file = photos.resolve(i < 3 ? "dog" : "cat").resolve(i + ".png");
            Files.createDirectories(file.getParent());
            var image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
            image.setRGB(0, 0, SIDE, SIDE, new Random(i).ints((long) SIDE * SIDE).toArray(), 0, SIDE);
            ImageIO.write(image, "png", file.toFile());
        }
        return photos;
    }

    /** The labels of an epoch by their pictures' pixels. */
    private static Map<String, Long> labelsByPixels(Dataset samples) {
        Map<String, Long> found = new TreeMap<>();
        try (DataLoader loader = DataLoader.builder(samples).batchSize(3).shuffle(5).endEpoch(1).workers(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (int row = 0; row < batch.count(); row++) {
                        byte[] pixels = batch.tensor("image").row(row).segment().toArray(ValueLayout.JAVA_BYTE);
                        found.put(new String(pixels, StandardCharsets.ISO_8859_1),
                                batch.tensor("label").getLong(row));
                    }
                }
            }
        }
        return found;
    }

    /** {@code loader = DataLoader(ImageFolder("photos", transform), batch_size=4, shuffle=True, num_workers=2)} */
    @Test
    void aFolderOfImagesIsOneCall() throws IOException {
        Path path = photos();
        long seed = 1;
        int pictures = 0;
        try (Pictures photos = Pictures.open(path);
                DataLoader loader = DataLoader.builder(Augment.images().randomResizedCrop(8, 8).horizontalFlip(0.5)
                        .normalize(new float[] {0.5f, 0.5f, 0.5f}, new float[] {0.5f, 0.5f, 0.5f})
                        .to(DType.F32, Layout.NCHW).mapped(photos, "image"))
                        .batchSize(4).shuffle(seed).workers(2).open()) {
            assertEquals(List.of("cat", "dog"), photos.classes());
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    assertEquals("f32[" + batch.count() + ",3,8,8]", batch.tensor("image").toString());
                    assertEquals("i64[" + batch.count() + "]", batch.tensor("label").toString());
                    for (int row = 0; row < batch.count(); row++, pictures++) {
                        String label = photos.classes().get((int) batch.tensor("label").getLong(row));
                        assertEquals(label, Path.of(photos.name(batch.sample(row))).getParent().toString());
                    }
                }
            }
        }
        assertEquals(PICTURES, pictures);
    }

    @Test
    void pixelsAndLabelsAreThoseOfTheFiles() throws IOException {
        Map<String, Long> expected = new TreeMap<>();
        try (Pictures photos = Pictures.open(photos())) {
            for (int i = 0; i < PICTURES; i++) {
                BufferedImage image = ImageIO.read(folder.resolve("photos").resolve(photos.name(i)).toFile());
                byte[] pixels = new byte[SIDE * SIDE * 3];
                for (int p = 0; p < SIDE * SIDE; p++) {
                    int rgb = image.getRGB(p % SIDE, p / SIDE);
                    pixels[3 * p] = (byte) (rgb >> 16);
                    pixels[3 * p + 1] = (byte) (rgb >> 8);
                    pixels[3 * p + 2] = (byte) rgb;
                }
                expected.put(new String(pixels, StandardCharsets.ISO_8859_1),
                        photos.name(i).startsWith("cat") ? 0L : 1L);
            }
            assertEquals(expected, labelsByPixels(photos.decoded(ImageDecoder.rgb(SIDE, SIDE))));
        }
        assertEquals(PICTURES, expected.size());
    }

    @Test
    void aTarHasTheFieldsOfAFolder() throws IOException {
        Path path = photos();
        Path tar = folder.resolve("photos-000000.tar");
        try (RecordStore store = RecordStore.open(path); Pictures photos = Pictures.of(store);
                var writer = WebDatasetWriter.create(folder.resolve("photos-%06d.tar"), 100, 1 << 20)) {
            for (int i = 0; i < PICTURES; i++) {
                byte[] file = Files.readAllBytes(path.resolve(photos.name(i)));
                byte[] label = {(byte) (photos.name(i).startsWith("cat") ? '0' : '1')};
                writer.write("" + i, Map.of("png", MemorySegment.ofArray(file), "cls", MemorySegment.ofArray(label)));
            }
            writer.commit();
        }
        try (Pictures files = Pictures.open(path); Pictures members = Pictures.open(tar)) {
            assertEquals(files.fields(), members.fields());
            assertEquals(List.of(), members.classes());
            assertEquals(labelsByPixels(files.decoded(ImageDecoder.rgb(SIDE, SIDE))),
                    labelsByPixels(members.decoded(ImageDecoder.rgb(SIDE, SIDE))));
        }
    }

    /** As Hugging Face's tables have pictures, and stores without labels. */
    @Test
    void columnsAreFoundByTheirEncodingOrTheirName() {
        byte[][] row = {{1}, {2}, {3, 0, 0, 0}};
        try (var store = new MemoryRecordStore(List.of(Column.bytes("path", ""), Column.bytes("image.bytes", ""),
                Column.numbers("label", DType.I32)), new byte[][][] {row})) {
            assertEquals("[image: u8[*], label: i32[]]", Pictures.of(store).fields().toString());
        }
        try (var store = new MemoryRecordStore(List.of(Column.bytes("a", "JPEG")), new byte[][][] {{{1}}})) {
            assertEquals("[image: u8[*]]", Pictures.of(store).fields().toString());
        }
    }

    @Test
    void severalColumnsOfPicturesOrNoneAreRefused() {
        try (var store = new MemoryRecordStore(List.of(Column.bytes("a", "png"), Column.bytes("b", "jpg")),
                new byte[][][] {{{1}, {2}}})) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> Pictures.of(store)).getMessage()
                    .startsWith("found 2 columns of JPEG or PNG in ["));
        }
        try (var store = new MemoryRecordStore(List.of(Column.text("image", "")), new byte[][][] {{{1}}})) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> Pictures.of(store)).getMessage()
                    .startsWith("found 0 columns of JPEG or PNG in ["));
        }
    }

    @Test
    void closingClosesTheStoreThatWasOpened() throws IOException {
        Path path = photos();
        Pictures opened = Pictures.open(path);
        opened.close();
        assertThrows(BatchException.class, () -> labelsByPixels(opened.decoded(ImageDecoder.rgb(SIDE, SIDE))));
        try (RecordStore store = RecordStore.open(path)) {
            Pictures.of(store).close();
            assertEquals(PICTURES, labelsByPixels(Pictures.of(store).decoded(ImageDecoder.rgb(SIDE, SIDE))).size());
        }
    }
}
