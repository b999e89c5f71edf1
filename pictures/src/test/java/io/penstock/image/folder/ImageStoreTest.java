// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.image.reading.Oracle;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Fixtures;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.StoreFormats;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** An image file is a store of its pixels; inspecting it says what Pillow says of it. */
class ImageStoreTest {

    /** The manifest's reference picture of a fixture: what a decoder's result is compared with, not part of it. */
    private static final String REFERENCE = "ref_png";

    @TempDir
    private Path folder;

    @TestFactory
    Stream<DynamicTest> whatPillowReadsIsReadTheSame() throws IOException {
        return Fixtures.entries("images").filter(e -> !e.expect().equals("reject"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertReadsAs(entry)));
    }

    private static void assertReadsAs(Entry entry) throws IOException {
        Map<String, Object> found = inspect(entry.path());
        assertEquals("images", found.get("kind"));
        assertEquals(entry.fields().get("format"), found.get("format"));
        Map<String, Object> expected = Json.object(entry.fields().get("image"));
        Map<String, Object> image = Json.object(found.get("image"));
        expected.forEach((name, value) -> {
            if (!name.equals(REFERENCE)) {
                // JPEGs too: the decoders that are there agree with Pillow's to the last bit on these.
                assertEquals(value, image.get(name), name);
            }
        });
    }

    private static Map<String, Object> inspect(Path path) throws IOException {
        return Json.object(Json.parse(Json.write(Inspection.of(path, Depth.CONTENT).toMap())));
    }

    @TestFactory
    Stream<DynamicTest> whatIsNotAWholeImageIsRefusedInOneLineThatNamesTheFile() throws IOException {
        return Fixtures.entries("images").filter(e -> e.expect().equals("reject"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
                    String message = assertThrows(MalformedStoreException.class,
                            () -> Inspection.of(entry.path(), Depth.STRUCTURE)).getMessage();
                    assertTrue(message.startsWith(entry.path() + ": "), message);
                    assertTrue(message.contains(", expected "), message);
                    assertFalse(message.contains("\n"), message);
                    String word = switch (entry.toString()) {
                        case "images/reject_bad_crc.png" -> "CRC";
                        case "images/reject_truncated.png" -> "the image ends inside chunk IDAT";
                        case "images/reject_truncated_in_header.jpg" -> "the image ends inside segment";
                        case "images/reject_not_an_image.jpg" -> "the start of a JPEG or a PNG";
                        case "images/reject_empty.jpg" -> "no bytes";
                        default -> "";
                    };
                    assertTrue(message.contains(word), message);
                }));
    }

    @TestFactory
    Stream<DynamicTest> modesAndPixelsOfEveryKindAreThoseOfPillow() throws IOException {
        Map<String, Object> truths = Oracle.images();
        return truths.keySet().stream().filter(name -> !name.matches("arithmetic.jpg|sampled_440.jpg"))
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Map<String, Object> truth = Json.object(truths.get(name));
                    Map<String, Object> image = Json.object(inspect(Oracle.folder().resolve(name)).get("image"));
                    for (String field : List.of("width", "height", "mode", "pixels_sha256")) {
                        assertEquals(truth.get(field), image.get(field), field);
                    }
                    assertEquals(truth.get("upright"), image.get("upright"));
                    if (name.startsWith("orientation_")) {
                        assertEquals("orientation_" + image.get("exif_orientation") + ".jpg", name);
                    }
                    if (image.containsKey("rgb_sha256")) {
                        assertEquals(truth.get("rgb_sha256"), image.get("rgb_sha256"));
                    }
                }));
    }

    @Test
    void theTensorHasWhatIsStoredInAllItsBits() throws IOException {
        try (TensorStore gray = TensorStore.open(Fixtures.path("images/gray16.png"));
                TensorStore rgb = TensorStore.open(Oracle.folder().resolve("type2_16bit.png"));
                TensorStore cmyk = TensorStore.open(Fixtures.path("images/cmyk.jpg"))) {
            assertEquals(": u16[29,23,1]", gray.tensors().getFirst().toString());
            assertEquals(DType.U16, rgb.tensors().getFirst().dtype());
            assertEquals(": u8[32,48,4]", cmyk.tensors().getFirst().toString());
            assertTrue(gray.isConverted(0));
            Span span = new Span();
            rgb.locate(0, 2, 3, span);
            assertEquals(3 * 13 * 3 * 2, span.byteSize());
            assertEquals(2 * 13 * 3 * 2, span.byteOffset());
            assertThrows(IndexOutOfBoundsException.class, () -> rgb.locate(0, 9, 3, span));
        }
    }

    @Test
    void anImageIsRecognisedByItsBytesWhateverItsName() throws IOException {
        Path file = Files.copy(Fixtures.path("images/rgb.png"), folder.resolve("n02105855_2933.JPEG"));
        assertEquals("images", StoreFormats.recognize(Location.of(file)).name());
        try (TensorStore store = TensorStore.open(file); TensorStore same = TensorStore.open(
                Fixtures.path("images/rgb.png")); TensorStore other = TensorStore.open(
                Fixtures.path("images/gray.png"))) {
            assertTrue(store.fingerprint().startsWith("images:u8[44,60,3]:sha256="), store.fingerprint());
            assertEquals(same.fingerprint(), store.fingerprint());
            assertFalse(other.fingerprint().equals(store.fingerprint()));
        }
    }

    @Test
    void moreThanTheLimitOfPixelsIsRefused() {
        assertThrows(MalformedStoreException.class,
                () -> ImageProvider.open(Location.of(Fixtures.path("images/rgb.png")), 60 * 44 - 1));
    }
}
