// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.image.PixelFormat;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.store.Fixtures.Entry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** JPEG, by each library that is there: pixels as near to Pillow's as two decoders are, and nothing made up. */
class JpegTest {

    @TestFactory
    Stream<DynamicTest> pixelsAreThoseOfTheReferenceWithinTheDecodersTolerance() throws IOException {
        return Fixtures.entries("images").filter(e -> e.fields().containsKey("plain_upsampling"))
                .flatMap(entry -> Oracle.libraries().map(library -> DynamicTest.dynamicTest(entry + " " + library,
                        () -> assertNear(library, entry))));
    }

    private static void assertNear(JpegLibrary library, Entry entry) throws IOException {
        Map<String, Object> image = Json.object(entry.fields().get("image"));
        byte[] reference = Oracle.decode(Files.readAllBytes(Fixtures.path((String) image.get("ref_png"))), null);
        byte[] pixels = Oracle.decode(library, Files.readAllBytes(entry.path()), null, 1);
        List<Object> tolerance = Json.array(entry.fields().get("plain_upsampling"));
        assertNear(reference, pixels, ((Number) tolerance.get(0)).doubleValue(),
                ((Number) tolerance.get(1)).doubleValue());
    }

    private static void assertNear(byte[] expected, byte[] found, double most, double mean) {
        assertEquals(expected.length, found.length);
        long sum = 0;
        int largest = 0;
        for (int i = 0; i < expected.length; i++) {
            int difference = Math.abs((expected[i] & 0xFF) - (found[i] & 0xFF));
            sum += difference;
            largest = Math.max(largest, difference);
        }
        assertTrue(largest <= most && sum <= mean * expected.length, "differs by up to " + largest + ", "
                + (double) sum / expected.length + " on average");
    }

    @TestFactory
    Stream<DynamicTest> everySamplingCodingAndMarkerIsRead() throws IOException {
        Map<String, Object> truths = Oracle.images();
        return Oracle.names(".jpg").stream().flatMap(name -> Oracle.libraries()
                .filter(library -> library != JpegLibrary.JDK || !name.equals("arithmetic.jpg"))
                .map(library -> DynamicTest.dynamicTest(name + " " + library, () -> {
                    Map<String, Object> truth = Json.object(truths.get(name));
                    byte[] image = Files.readAllBytes(Oracle.folder().resolve(name));
                    assertEquals(truth.get("width").toString(), "" + header(image).width());
                    assertEquals(truth.get("height").toString(), "" + header(image).height());
                    if (library == JpegLibrary.JDK && name.equals("sampled_440.jpg")) {
                        // Its libjpeg repeats rows of chroma where the newer one blends them.
                        assertNear(Oracle.decode(image, PixelFormat.RGB),
                                Oracle.decode(library, image, PixelFormat.RGB, 1), 48, 5);
                        return;
                    }
                    assertEquals(truth.get("pixels_sha256"), Oracle.sha256(Oracle.decode(library, image, null, 1)));
                    assertEquals(truth.get("rgb_sha256"),
                            Oracle.sha256(Oracle.decode(library, image, PixelFormat.RGB, 1)));
                    assertEquals(truth.get("rgba_sha256"),
                            Oracle.sha256(Oracle.decode(library, image, PixelFormat.RGBA, 1)));
                })));
    }

    @Test
    void bothLibrariesMakeTheSameGray() throws IOException {
        for (String name : List.of("adobe_rgb.jpg", "ycck.jpg", "sampled_440.jpg", "gray_progressive.jpg")) {
            byte[] image = Files.readAllBytes(Oracle.folder().resolve(name));
            List<String> digests = Oracle.libraries().map(library -> {
                try {
                    return Oracle.sha256(Oracle.decode(library, image, PixelFormat.GRAY, 1));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }).distinct().toList();
            assertEquals(1, digests.size(), name);
        }
    }

    @Test
    void scaledDecodingIsNearTheMeanOfTheSquares() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("orientation_1.jpg"));
        byte[] whole = Oracle.decode(image, PixelFormat.RGB);
        for (int denominator : new int[] {2, 4, 8}) {
            byte[] means = new byte[24 / denominator * (16 / denominator) * 3];
            for (int i = 0; i < means.length; i++) {
                int left = i / 3 % (24 / denominator) * denominator;
                int top = i / 3 / (24 / denominator) * denominator;
                int sum = 0;
                for (int p = 0; p < denominator * denominator; p++) {
                    sum += whole[((top + p / denominator) * 24 + left + p % denominator) * 3 + i % 3] & 0xFF;
                }
                means[i] = (byte) Math.round((double) sum / (denominator * denominator));
            }
            for (JpegLibrary library : Oracle.libraries().toList()) {
                byte[] scaled = Oracle.decode(library, image, PixelFormat.RGB, denominator);
                assertNear(means, scaled, library == JpegLibrary.JDK ? 1 : 24, 3);
            }
        }
        byte[] odd = Files.readAllBytes(Fixtures.path("images/odd_size_420.jpg"));
        for (JpegLibrary library : Oracle.libraries().toList()) {
            assertEquals(3 * 2 * 3, Oracle.decode(library, odd, PixelFormat.RGB, 8).length);
        }
    }

    @Test
    void everyCutIsRefusedByEveryLibrary() throws IOException {
        for (String name : List.of("images/odd_size_420.jpg", "images/progressive.jpg", "images/cmyk.jpg")) {
            byte[] image = Files.readAllBytes(Fixtures.path(name));
            for (JpegLibrary library : Oracle.libraries().toList()) {
                for (int length = 0; length < image.length; length += length < 700 ? 1 : 7) {
                    byte[] cut = Arrays.copyOf(image, length);
                    assertThrows(CodecException.class, () -> Oracle.decode(library, cut, null, 1),
                            library + ", " + name + " cut to " + length);
                }
            }
        }
    }

    @Test
    void arithmeticCodingIsRefusedByTheJdkWithTheLibraryThatReadsIt() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("arithmetic.jpg"));
        assertTrue(assertThrows(CodecException.class, () -> Oracle.decode(JpegLibrary.JDK, image, null, 1))
                .getMessage().contains("libturbojpeg"));
    }

    @Test
    void segmentsThatDoNotConcernThePixelsMayHoldAnything() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("orientation_6.jpg"));
        byte[] expected = Oracle.decode(image, null);
        byte[] icc = "ICC_PROFILE\0\1\1 no profile at all".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        for (int marker : new int[] {0xE0, 0xE1, 0xE2, 0xED, 0xFE}) {
            byte[] more = new byte[image.length + 5 + icc.length];
            System.arraycopy(image, 0, more, 0, 2);
            // A fill byte comes before the marker.
            byte[] head = {-1, -1, (byte) marker, 0, (byte) (2 + icc.length)};
            System.arraycopy(head, 0, more, 2, 5);
            System.arraycopy(icc, 0, more, 7, icc.length);
            System.arraycopy(image, 2, more, 7 + icc.length, image.length - 2);
            for (JpegLibrary library : Oracle.libraries().toList()) {
                assertEquals(Oracle.sha256(expected), Oracle.sha256(Oracle.decode(library, more, null, 1)));
            }
            assertEquals(6, header(more).orientation());
        }
    }

    /** Pillow reads it too, where Exif has none. */
    @Test
    void theOrientationIsReadFromXmp() throws IOException {
        byte[] image = Files.readAllBytes(Fixtures.path("images/rgb_444.jpg"));
        byte[] xmp = "http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation=\"7\">".getBytes(StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream more = new ByteArrayOutputStream();
        more.write(image, 0, 2);
        more.write(new byte[] {-1, (byte) 0xE1, 0, (byte) (2 + xmp.length)});
        more.write(xmp);
        more.write(image, 2, image.length - 2);
        assertEquals(7, header(more.toByteArray()).orientation());
    }

    /** Pillow and torchvision take images of which libjpeg warns, and refuse those that are cut off. */
    @Test
    void imagesOfWhichTheLibraryWarnsAreTakenOnRequestUnlessTheyAreCutOff() throws IOException {
        byte[] image = Files.readAllBytes(Fixtures.path("images/rgb_444.jpg"));
        byte[] more = Arrays.copyOf(image, image.length + 3);
        more[image.length - 2] = 1;
        more[image.length - 1] = 2;
        more[image.length] = 3;
        more[image.length + 1] = -1;
        more[image.length + 2] = (byte) 0xD9;
        byte[] cut = Arrays.copyOf(image, image.length * 3 / 4);
        if (JpegLibrary.TURBOJPEG.isPresent()) {                        // the JDK says nothing of such bytes
            String message = assertThrows(CodecException.class,
                    () -> Oracle.decode(JpegLibrary.TURBOJPEG, more, PixelFormat.RGB, 1)).getMessage();
            assertTrue(message.contains("extraneous bytes") && message.contains("penstock.jpeg.warnings=accept"),
                    message);
        }
        for (JpegLibrary library : Oracle.libraries().toList()) {
            assertEquals(Oracle.sha256(Oracle.decode(library, image, PixelFormat.RGB, 1)),
                    Oracle.sha256(acceptingWarnings(library, more)), library::toString);
            assertTrue(assertThrows(CodecException.class, () -> acceptingWarnings(library, cut)).getMessage()
                    .contains("cut off"), library::toString);
        }
    }

    private static byte[] acceptingWarnings(JpegLibrary library, byte[] image) throws IOException {
        try (Arena arena = Arena.ofConfined(); JpegDecoder decoder = library.open(true)) {
            MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, image);
            ImageHeader header = new ImageHeader();
            JpegHeader jpeg = new JpegHeader();
            jpeg.read(stored, image.length, header);
            ImagePart part = new ImagePart();
            part.set(0, 0, header.width, header.height);
            part.pixelBytes = 3;
            MemorySegment pixels = arena.allocate(part.byteSize());
            decoder.decode(jpeg, header, stored, image.length, PixelFormat.RGB, 1, part, pixels, 0);
            return pixels.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Versions of libjpeg-turbo guess missing coefficients in different ways, without a warning. */
    @Test
    void aProgressiveImageWithoutAllScansIsRefused() throws IOException {
        for (String name : List.of("gray_progressive.jpg", "noise_422_progressive.jpg")) {
            byte[] image = Files.readAllBytes(Oracle.folder().resolve(name));
            int scan = indexOf(image, 0xDA);
            int scans = 0;
            for (int at = scan; at + 1 < image.length; at++) {
                if (image[at] != -1 || (image[at + 1] & 0xFF) != 0xDA || scans++ == 0) {
                    continue;                                            // the first scan is kept
                }
                byte[] cut = Arrays.copyOf(image, at + 2);
                cut[at + 1] = (byte) 0xD9;
                refused(" of component 1", cut);
            }
            assertTrue(scans > 1, name);
        }
    }

    @Test
    void whatIsNotReadIsRefusedByItsHeader() throws IOException {
        byte[] image = Files.readAllBytes(Fixtures.path("images/rgb_444.jpg"));
        int frame = indexOf(image, 0xC0);
        refused("lossless JPEG", with(image, frame, 0xC3));
        refused("hierarchical JPEG", with(image, frame, 0xC5));
        refused("12 bits a sample", with(image, frame + 3, 12));
        refused("2 components", with(image, frame + 8, 2));
        refused("an image of 64x0", with(with(image, frame + 4, 0), frame + 5, 0));
        refused("a sampling factor of 0x1", with(image, frame + 10, 1));
        refused("for 65535x65535 pixels", with(with(with(with(image, frame + 4, 255), frame + 5, 255), frame + 6, 255),
                frame + 7, 255));
        refused("a scan without a frame", with(image, frame, 0xE5));
    }

    @Test
    void aProgressiveImageOfMoreScansThanAnyWriterMakesIsRefused() throws IOException {
        byte[] image = Files.readAllBytes(Fixtures.path("images/progressive.jpg"));
        byte[] scans = new byte[image.length + 2 * 500];
        System.arraycopy(image, 0, scans, 0, image.length - 2);
        for (int i = image.length - 2; i < scans.length; i += 2) {
            scans[i] = -1;
            scans[i + 1] = (byte) 0xDA;
        }
        refused("more than 500 scans", scans);
    }

    private static byte[] with(byte[] image, int at, int value) {
        byte[] changed = image.clone();
        changed[at] = (byte) value;
        return changed;
    }

    private static int indexOf(byte[] image, int marker) {
        for (int i = 2; i < image.length; i++) {
            if (image[i - 1] == -1 && (image[i] & 0xFF) == marker) {
                return i;
            }
        }
        throw new AssertionError("no marker " + marker);
    }

    private static void refused(String reason, byte[] image) {
        List<String> messages = new ArrayList<>();
        Oracle.libraries().forEach(library -> messages.add(assertThrows(CodecException.class,
                () -> Oracle.decode(library, image, PixelFormat.RGB, 1)).getMessage()));
        for (String message : messages) {
            assertTrue(message.contains(reason) && message.contains(", expected "), reason + " is not in: " + message);
        }
    }

    static ImageHeader header(byte[] image) throws IOException {
        try (Arena arena = Arena.ofConfined(); var reader = new ImageReader()) {
            return reader.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, image), image.length);
        }
    }
}
