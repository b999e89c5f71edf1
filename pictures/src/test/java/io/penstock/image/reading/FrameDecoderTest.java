// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.testing.HeapUse;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** Parts of image files, chosen before they are decoded: their pixels are those of the whole image. */
class FrameDecoderTest {

    private static final long SEED = 7;
    private static final List<PixelFormat> FORMATS = List.of(PixelFormat.RGB, PixelFormat.GRAY, PixelFormat.RGBA);

    private static byte[] decode(ImageDecoding decoding, byte[] image, Consumer<ImageFrame> choice)
            throws IOException {
        return decode(decoding, JpegLibrary.preferred(), image, choice);
    }

    private static byte[] decode(ImageDecoding decoding, JpegLibrary library, byte[] image,
            Consumer<ImageFrame> choice) throws IOException {
        try (Arena arena = Arena.ofConfined(); FrameDecoder decoder = new FrameDecoder(decoding, library)) {
            ImageFrame frame = decoder.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, image), image.length);
            choice.accept(frame);
            long bytes = (long) frame.height() * frame.width() * decoding.format().channels();
            MemorySegment target = arena.allocate(bytes + 2).fill((byte) 0x5A);
            decoder.decode(target, 1);
            assertEquals(0x5A, target.get(ValueLayout.JAVA_BYTE, 0));
            assertEquals(0x5A, target.get(ValueLayout.JAVA_BYTE, bytes + 1));
            return target.asSlice(1, bytes).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static byte[] part(byte[] whole, int width, int channels, int top, int left, int rows, int columns) {
        byte[] part = new byte[rows * columns * channels];
        for (int y = 0; y < rows; y++) {
            System.arraycopy(whole, ((top + y) * width + left) * channels, part, y * columns * channels,
                    columns * channels);
        }
        return part;
    }

    /** Every image that can be read, by its name. */
    private static Map<String, byte[]> images() throws IOException {
        Map<String, byte[]> images = new java.util.TreeMap<>();
        for (String name : Oracle.images().keySet()) {
            images.put(name, Files.readAllBytes(Oracle.folder().resolve(name)));
        }
        for (Fixtures.Entry entry : Fixtures.entries("images").filter(e -> e.expect().equals("read")).toList()) {
            images.put(entry.toString(), Files.readAllBytes(entry.path()));
        }
        return images;
    }

    @Test
    void aPartIsThatPartOfTheWholeImage() throws IOException {
        var random = new Random(SEED);
        for (Map.Entry<String, byte[]> image : images().entrySet()) {
            for (JpegLibrary library : Oracle.libraries().toList()) {
                boolean isSlow = library == JpegLibrary.JDK;
                if (isSlow && (!image.getKey().endsWith(".jpg") || image.getKey().equals("arithmetic.jpg"))) {
                    continue;
                }
                PixelFormat format = FORMATS.get(random.nextInt(FORMATS.size()));
                ImageDecoding decoding = ImageDecoding.to(format);
                if (random.nextBoolean()) {
                    decoding = decoding.upright();
                }
                int[] size = new int[2];
                byte[] whole = decode(decoding, library, image.getValue(), frame -> {
                    size[0] = frame.height();
                    size[1] = frame.width();
                });
                for (int i = 0; i < (isSlow ? 2 : 25); i++) {
                    int rows = 1 + random.nextInt(size[0]);
                    int columns = 1 + random.nextInt(size[1]);
                    int top = random.nextInt(size[0] - rows + 1);
                    int left = random.nextInt(size[1] - columns + 1);
                    assertArrayEquals(part(whole, size[1], format.channels(), top, left, rows, columns),
                            decode(decoding, library, image.getValue(), frame -> frame.crop(top, left, rows, columns)),
                            () -> library + ", " + image.getKey() + ", " + format + ": " + rows + " x " + columns
                                    + " at " + top + ", " + left);
                }
            }
        }
    }

    @Test
    void partsResizedAndMirroredAreThoseOfPillow() throws IOException {
        int compared = 0;
        for (Object each : Json.array(Oracle.all().get("framed"))) {
            Map<String, Object> truth = Json.object(each);
            int[] part = ints(truth.get("part"));
            int[] to = ints(truth.get("to"));
            byte[] image = Files.readAllBytes(Oracle.folder().resolve((String) truth.get("image")));
            ImageDecoding decoding =
                    truth.get("upright").equals(true) ? ImageDecoding.rgb().upright() : ImageDecoding.rgb();
            Consumer<ImageFrame> choice = frame -> {
                frame.crop(part[0], part[1], part[2], part[3]);
                assertTrue(frame.resize(to[0], to[1], Resizer.Filter.valueOf((String) truth.get("filter"))));
            };
            assertEquals(truth.get("sha256"), Oracle.sha256(decode(decoding, image, choice)), truth.toString());
            assertEquals(truth.get("mirrored_sha256"),
                    Oracle.sha256(decode(decoding, image, choice.andThen(ImageFrame::mirror))), truth.toString());
            compared++;
        }
        assertEquals(96, compared);
    }

    private static int[] ints(Object array) {
        return Json.array(array).stream().mapToInt(n -> ((Number) n).intValue()).toArray();
    }

    @Test
    void aResizedPartMayBeCroppedAndMirroredInAnyOrder() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("noise_420.jpg"));
        Consumer<ImageFrame> resized = frame -> frame.resize(40, 64, Resizer.Filter.BILINEAR);
        byte[] whole = decode(ImageDecoding.rgb(), image, resized.andThen(ImageFrame::mirror));
        byte[] expected = part(whole, 64, 3, 7, 11, 20, 30);
        assertArrayEquals(expected, decode(ImageDecoding.rgb(), image,
                resized.andThen(ImageFrame::mirror).andThen(frame -> frame.crop(7, 11, 20, 30))));
        assertArrayEquals(expected, decode(ImageDecoding.rgb(), image,
                resized.andThen(frame -> frame.crop(7, 64 - 11 - 30, 20, 30)).andThen(ImageFrame::mirror)));
        var frame = new ImageFrame();
        frame.reset(10, 10);
        assertTrue(frame.resize(5, 5, Resizer.Filter.BOX));
        assertFalse(frame.resize(4, 5, Resizer.Filter.BOX));
        assertTrue(frame.resize(5, 5, Resizer.Filter.BILINEAR));
        assertThrows(IllegalArgumentException.class, () -> frame.crop(0, 3, 5, 3));
    }

    @Test
    void scaledDecodingChangesLittleAndOnlyWhereItIsAsked() throws IOException {
        assumeTrue(JpegLibrary.TURBOJPEG.isPresent(), "libturbojpeg is not there");
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("noise_420.jpg"));
        ImageDecoding decoding = ImageDecoding.rgb();
        for (int i = 0; i < 4; i++) {
            int left = 3 + 2 * i;
            Consumer<ImageFrame> choice = frame -> {
                frame.crop(5, left, 99, 131);
                frame.resize(11, 13, Resizer.Filter.BILINEAR);
            };
            byte[] exact = decode(decoding, JpegLibrary.TURBOJPEG, image, choice);
            byte[] scaled = decode(decoding.scaled(), JpegLibrary.TURBOJPEG, image, choice);
            int sum = 0;
            for (int k = 0; k < exact.length; k++) {
                sum += Math.abs((exact[k] & 0xFF) - (scaled[k] & 0xFF));
            }
            assertTrue(sum > 0 && sum < 3 * exact.length, sum + " over " + exact.length);
        }
        Consumer<ImageFrame> tooSmall = frame -> frame.resize(70, 80, Resizer.Filter.BILINEAR);
        assertArrayEquals(decode(decoding, JpegLibrary.TURBOJPEG, image, tooSmall),
                decode(decoding.scaled(), JpegLibrary.TURBOJPEG, image, tooSmall));
    }

    @Test
    void cutFilesAreRefusedThoughTheirPartIsThere() throws IOException {
        for (String name : List.of("noise_420.jpg", "noise_422_progressive.jpg", "restarts_420.jpg")) {
            byte[] image = Files.readAllBytes(Oracle.folder().resolve(name));
            for (JpegLibrary library : Oracle.libraries().toList()) {
                for (int length = image.length - 1; length > 0; length -= 1 + image.length / 60) {
                    byte[] cut = Arrays.copyOf(image, length);
                    assertThrows(CodecException.class, () -> decode(ImageDecoding.rgb(), library, cut,
                            frame -> frame.crop(0, 0, 4, 4)), library + ", " + name + " cut to " + length);
                }
            }
        }
    }

    /** This is what the documentation says of damage behind the part. */
    @Test
    void damageBehindThePartIsFoundOnlyWhereTheWholeImageIsDecoded() throws IOException {
        assumeTrue(JpegLibrary.TURBOJPEG.isPresent(), "libturbojpeg is not there");
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("noise_420.jpg"));
        byte[] damaged = image.clone();
        damaged[damaged.length - 200] = (byte) 0xFF;
        damaged[damaged.length - 199] = (byte) 0xC4;
        ImageDecoding decoding = ImageDecoding.rgb();
        Consumer<ImageFrame> top = frame -> frame.crop(0, 20, 30, 40);
        assertThrows(CodecException.class, () -> decode(decoding, JpegLibrary.TURBOJPEG, damaged, frame -> { }));
        assertThrows(CodecException.class, () -> decode(decoding, JpegLibrary.TURBOJPEG, damaged,
                frame -> frame.crop(80, 20, 29, 40)));
        if (TurboJpeg.decodesParts()) {
            assertArrayEquals(decode(decoding, JpegLibrary.TURBOJPEG, image, top),
                    decode(decoding, JpegLibrary.TURBOJPEG, damaged, top));
        } else {
            assertThrows(CodecException.class, () -> decode(decoding, JpegLibrary.TURBOJPEG, damaged, top));
        }
    }

    @Test
    void filesWithChangedBytesAreReadOrRefused() throws IOException {
        var random = new Random(SEED);
        List<byte[]> files = new ArrayList<>();
        for (String name : List.of("noise_420.jpg", "noise_422_progressive.jpg", "restarts_420.jpg", "ycck.jpg")) {
            files.add(Files.readAllBytes(Oracle.folder().resolve(name)));
        }
        int refused = 0;
        for (int i = 0; i < 1_500; i++) {
            byte[] file = files.get(i % files.size()).clone();
            for (int change = random.nextInt(4); change >= 0; change--) {
                file[random.nextInt(i % 2 == 0 ? 700 : file.length)] = (byte) random.nextInt();
            }
            try {
                decode(ImageDecoding.rgb(), file, frame -> {
                    int rows = 1 + random.nextInt(Math.min(30, frame.height()));
                    int columns = 1 + random.nextInt(Math.min(40, frame.width()));
                    frame.crop(random.nextInt(frame.height() - rows + 1), random.nextInt(frame.width() - columns + 1),
                            rows, columns);
                });
            } catch (CodecException _) {
                refused++;
            }
        }
        assertTrue(refused > 100 && refused < 1_500, refused + " refused");
    }

    @Test
    void aDecoderReadsOnAfterAnImageThatItRefused() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("noise_420.jpg"));
        byte[] cut = Arrays.copyOf(image, image.length / 2);
        Consumer<ImageFrame> choice = frame -> frame.crop(10, 20, 30, 40);
        byte[] expected = decode(ImageDecoding.rgb(), image, choice);
        try (Arena arena = Arena.ofConfined(); FrameDecoder decoder = new FrameDecoder(ImageDecoding.rgb())) {
            MemorySegment good = arena.allocateFrom(ValueLayout.JAVA_BYTE, image);
            MemorySegment bad = arena.allocateFrom(ValueLayout.JAVA_BYTE, cut);
            MemorySegment target = arena.allocate(expected.length);
            for (int i = 0; i < 3; i++) {
                choice.accept(decoder.read(bad, cut.length));
                assertThrows(CodecException.class, () -> decoder.decode(target, 0));
                choice.accept(decoder.read(good, image.length));
                decoder.decode(target.fill((byte) 0), 0);
                assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @Test
    void sidesFrom1To20000PixelsAreRead() throws IOException {
        for (int[] size : new int[][] {{1, 1}, {20_000, 3}, {3, 20_000}, {1, 65_500}}) {
            for (String format : List.of("jpg", "png")) {
                byte[] image = white(size[0], size[1], format);
                for (Resizer.Filter filter : Resizer.Filter.values()) {
                    byte[] small = decode(ImageDecoding.gray(), image, frame -> {
                        assertEquals(size[0], frame.width());
                        frame.resize(5, 4, filter);
                    });
                    for (byte value : small) {
                        assertEquals(-1, value, () -> Arrays.toString(size) + format + filter);
                    }
                }
                byte[] corner = decode(ImageDecoding.rgb(), image, frame -> {
                    frame.crop(size[1] - 1, size[0] - 1, 1, 1);
                    frame.resize(2, 3, Resizer.Filter.BILINEAR);
                });
                assertArrayEquals(new byte[] {-1, -1, -1}, Arrays.copyOf(corner, 3));
            }
        }
    }

    private static byte[] white(int width, int height, String format) throws IOException {
        var image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_GRAY);
        byte[] row = new byte[width];
        Arrays.fill(row, (byte) -1);
        for (int y = 0; y < height; y++) {
            image.getRaster().setDataElements(0, y, width, 1, row);
        }
        var out = new ByteArrayOutputStream();
        assertTrue(ImageIO.write(image, format, out));
        return out.toByteArray();
    }

    @Test
    void decodingAPartAllocatesNothingOnceItIsWarm() throws IOException {
        assumeTrue(JpegLibrary.TURBOJPEG.isPresent(), "libturbojpeg is not there");
        List<byte[]> images = new ArrayList<>();
        for (String name : List.of("noise_420.jpg", "orientation_6.jpg", "type2_8bit.png")) {
            images.add(Files.readAllBytes(Oracle.folder().resolve(name)));
        }
        try (Arena arena = Arena.ofConfined();
                FrameDecoder decoder = new FrameDecoder(ImageDecoding.rgb().upright(), JpegLibrary.TURBOJPEG)) {
            MemorySegment[] stored = images.stream().map(image -> arena.allocateFrom(ValueLayout.JAVA_BYTE, image))
                    .toArray(MemorySegment[]::new);
            MemorySegment target = arena.allocate(3 * 12 * 14);
            assertEquals(0, HeapUse.fewest(0, () -> {
                for (int i = 0; i < 60; i++) {
                    decodeInto(decoder, stored[i % stored.length], i, target);
                }
            }));
        }
    }

    private static void decodeInto(FrameDecoder decoder, MemorySegment image, int i, MemorySegment target) {
        ImageFrame frame = decoder.read(image, image.byteSize());
        frame.crop(i % 3, i % 2, frame.height() - 4, frame.width() - 3);
        frame.resize(12, 14, Resizer.Filter.BILINEAR);
        if (i % 2 == 0) {
            frame.mirror();
        }
        decoder.decode(target, 0);
    }
}
