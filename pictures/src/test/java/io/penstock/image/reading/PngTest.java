// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.image.PixelFormat;
import io.penstock.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** PNG: the pixels that Pillow reads, of every color type, depth and interlace; what is damaged is refused. */
class PngTest {

    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

    @TestFactory
    Stream<DynamicTest> pixelsAreThoseThatPillowReads() throws IOException {
        Map<String, Object> truths = Oracle.images();
        return Oracle.names(".png").stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            Map<String, Object> truth = Json.object(truths.get(name));
            byte[] image = Files.readAllBytes(Oracle.folder().resolve(name));
            // Pillow has 16 bits of gray alone, and none for gray with alpha.
            boolean narrowed = name.contains("_16bit") && !truth.get("mode").equals("I;16");
            assertEquals(truth.get("pixels_sha256"), Oracle.sha256(Oracle.decode(image, !narrowed ? null
                    : truth.get("mode").equals("RGB") ? PixelFormat.RGB : PixelFormat.RGBA)));
            if (truth.containsKey("rgb_sha256")) {
                assertEquals(truth.get("rgb_sha256"), Oracle.sha256(Oracle.decode(image, PixelFormat.RGB)), "RGB");
                assertEquals(truth.get("gray_sha256"), Oracle.sha256(Oracle.decode(image, PixelFormat.GRAY)), "gray");
                if (!name.matches("type0_[24]bit.*_extras.png|type2_16bit.*_extras.png")) {
                    // Pillow compares the transparent color as it is stored with what it made of the pixels.
                    assertEquals(truth.get("rgba_sha256"), Oracle.sha256(Oracle.decode(image, PixelFormat.RGBA)),
                            "RGBA");
                }
            }
        }));
    }

    @Test
    void theTransparentColourIsComparedInAll16Bits() throws IOException {
        byte[] rows = {0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7};
        byte[] image = png(header(2, 1, 16, 2, 0), chunk("tRNS", 1, 2, 3, 4, 5, 6), chunk("IDAT", zlib(rows)),
                chunk("IEND"));
        assertEquals("[1, 3, 5, 0, 1, 3, 5, -1]", Arrays.toString(Oracle.decode(image, PixelFormat.RGBA)));
        byte[] samples = Oracle.decode(image, null);
        assertEquals("[2, 1, 4, 3, 6, 5, 2, 1, 4, 3, 7, 5]", Arrays.toString(samples));
        byte[] gray = png(header(2, 1, 16, 0, 0), chunk("tRNS", 1, 3), chunk("IDAT", zlib(new byte[] {0, 1, 3, 1, 2})),
                chunk("IEND"));
        assertEquals("[1, 1, 1, 0, 1, 1, 1, -1]", Arrays.toString(Oracle.decode(gray, PixelFormat.RGBA)));
        assertEquals("[1, 1]", Arrays.toString(Oracle.decode(gray, PixelFormat.GRAY)));
    }

    @Test
    void aTransparentGrayIsComparedAtTheDepthThatIsStored() throws IOException {
        byte[] image = png(header(4, 1, 2, 0, 0), chunk("tRNS", 0, 2), chunk("IDAT", zlib(new byte[] {0, 0x1B})),
                chunk("IEND"));
        assertEquals("[0, 85, -86, -1]", Arrays.toString(Oracle.decode(image, PixelFormat.GRAY)));
        byte[] rgba = Oracle.decode(image, PixelFormat.RGBA);
        assertEquals("[-1, -1, 0, -1]", Arrays.toString(new byte[] {rgba[3], rgba[7], rgba[11], rgba[15]}));
    }

    @Test
    void anIndexBeyondThePaletteIsBlackAndOpaque() throws IOException {
        byte[] image = png(header(2, 1, 8, 3, 0), chunk("PLTE", 9, 8, 7), chunk("IDAT", zlib(new byte[] {0, 0, -1})),
                chunk("IEND"));
        assertEquals("[9, 8, 7, -1, 0, 0, 0, -1]", Arrays.toString(Oracle.decode(image, PixelFormat.RGBA)));
    }

    @Test
    void theOrientationIsReadFromItsChunk() throws IOException {
        int[] exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0};
        byte[] image = png(header(1, 1, 8, 0, 0), chunk("IDAT", zlib(new byte[] {0, 5})), chunk("eXIf", exif),
                chunk("IEND"));
        assertEquals(8, JpegTest.header(image).orientation());
    }

    /** ImageMagick's text, compressed or not, and XMP; Pillow 12.3 says the same of each of these images. */
    @Test
    void theOrientationIsReadFromTextAsInPillow() throws IOException {
        String profile = "\nexif\n      32\n457869660000"
                + "4d4d002a00000008000101120003000000010006\n0000" + "00000000\n";
        String xmp = "<rdf:Description tiff:Orientation=\"5\"/>";
        assertEquals(6, orientation(text("tEXt", PngText.EXIF + "\0" + profile)));
        assertEquals(6, orientation(text("zTXt", PngText.EXIF + "\0\0", profile)));
        assertEquals(6, orientation(text("iTXt", PngText.EXIF + "\0\0\0en\0\0" + profile)));
        assertEquals(6, orientation(text("iTXt", PngText.EXIF + "\0\1\0\0\0", profile)));
        assertEquals(5, orientation(text("iTXt", PngText.XMP + "\0\0\0\0\0" + xmp)));
        assertEquals(5, orientation(text("iTXt", PngText.XMP + "\0\1\0\0\0",
                "<tiff:Orientation>5</tiff:Orientation>")));
        assertEquals(6, orientation(text("iTXt", PngText.XMP + "\0\0\0\0\0" + xmp),
                text("tEXt", PngText.EXIF + "\0" + profile)));
        int[] exif = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0};
        assertEquals(8, orientation(text("tEXt", PngText.EXIF + "\0" + profile), chunk("eXIf", exif)));
        for (String malformed : List.of("", "\0", "\0\n", "\0\nexif\n 3\n45f", "\0\nexif\n 3\nxyz", "x\0" + profile)) {
            for (String kind : List.of("tEXt", "zTXt", "iTXt")) {
                assertEquals(0, orientation(text(kind, PngText.EXIF + malformed)), kind + malformed);
            }
        }
    }

    private static int orientation(byte[]... texts) throws IOException {
        byte[][] chunks = new byte[texts.length + 3][];
        chunks[0] = header(1, 1, 8, 0, 0);
        System.arraycopy(texts, 0, chunks, 1, texts.length);
        chunks[texts.length + 1] = chunk("IDAT", zlib(new byte[] {0, 5}));
        chunks[texts.length + 2] = chunk("IEND");
        return JpegTest.header(png(chunks)).orientation();
    }

    private static byte[] text(String kind, String latin1) {
        return chunk(kind, latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static byte[] text(String kind, String latin1, String compressed) throws IOException {
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        data.write(latin1.getBytes(StandardCharsets.ISO_8859_1));
        data.write(zlib(compressed.getBytes(StandardCharsets.ISO_8859_1)));
        return chunk(kind, data.toByteArray());
    }

    @Test
    void whatIsMalformedIsRefusedWithTheByteAndTheReason() throws IOException {
        byte[] good = chunk("IDAT", zlib(new byte[] {0, 5}));
        byte[] end = chunk("IEND");
        refused("IHDR first", png(good, end));
        refused("an image of 0x1", png(header(0, 1, 8, 0, 0), good, end));
        refused("an image of 4294967295x1", png(header(-1, 1, 8, 0, 0), good, end));
        refused("color type 3 of 16 bits", png(header(1, 1, 16, 3, 0), good, end));
        refused("color type 1 of 8 bits", png(header(1, 1, 8, 1, 0), good, end));
        refused("interlace 2", png(header(1, 1, 8, 0, 2), good, end));
        refused("indices without a palette", png(header(1, 1, 8, 3, 0), good, end));
        refused("a palette of 4 bytes", png(header(1, 1, 8, 3, 0), chunk("PLTE", 1, 2, 3, 4), good, end));
        refused("a PLTE after IDAT", png(header(1, 1, 8, 3, 0), good, chunk("PLTE", 1, 2, 3), end));
        refused("a tRNS of 1 bytes", png(header(1, 1, 8, 0, 0), chunk("tRNS", 1), good, end));
        refused("that must be understood", png(header(1, 1, 8, 0, 0), chunk("ABCD"), good, end));
        refused("that must be understood", png(header(1, 1, 8, 0, 0), header(1, 1, 8, 0, 0), good, end));
        refused("an IDAT apart", png(header(1, 1, 8, 0, 0), good, chunk("tEXt"), good, end));
        refused("before any pixels", png(header(1, 1, 8, 0, 0), end));
        refused("ends before its IEND", png(header(1, 1, 8, 0, 0), good));
        refused("a row with filter 5", png(header(1, 1, 8, 0, 0), chunk("IDAT", zlib(new byte[] {5, 5})), end));
        refused("pixels that end too early", png(header(2, 1, 8, 0, 0), good, end));
        byte[] zlib = zlib(new byte[] {0, 5});
        refused("without its end", png(header(1, 1, 8, 0, 0), chunk("IDAT", Arrays.copyOf(zlib, zlib.length - 2)),
                end));
        zlib[zlib.length - 1]++;
        refused("a damaged zlib stream", png(header(1, 1, 8, 0, 0), chunk("IDAT", zlib), end));
        byte[] flipped = png(header(1, 1, 8, 0, 0), good, end);
        flipped[8 + 25 + 8 + 1]++;
        refused("CRC ", flipped);
        refused("bytes, expected more for 100000x1000", png(header(100_000, 1000, 8, 0, 0), good, end));
        refused("expected at most 178956970", png(header(20_000, 10_000, 8, 0, 0),
                chunk("IDAT", new byte[200_000]), end));
    }

    @Test
    void everyCutIsRefused() throws IOException {
        byte[] image = Files.readAllBytes(Oracle.folder().resolve("type3_4bit_adam7_extras.png"));
        for (int length = 0; length < image.length; length++) {
            byte[] cut = Arrays.copyOf(image, length);
            assertThrows(CodecException.class, () -> Oracle.decode(cut, PixelFormat.RGB), "cut to " + length);
        }
    }

    @Test
    void whatFollowsTheEndIsIgnored() throws IOException {
        byte[] image = png(header(1, 1, 8, 0, 0), chunk("IDAT", zlib(new byte[] {0, 5})), chunk("IEND"), new byte[9]);
        assertEquals("[5]", Arrays.toString(Oracle.decode(image, PixelFormat.GRAY)));
    }

    private static void refused(String reason, byte[] image) {
        String message = assertThrows(CodecException.class, () -> Oracle.decode(image, PixelFormat.RGB)).getMessage();
        assertTrue(message.contains(reason) && message.contains(", expected "), reason + " is not in: " + message);
    }

    private static byte[] png(byte[]... chunks) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(SIGNATURE);
        for (byte[] chunk : chunks) {
            out.write(chunk);
        }
        return out.toByteArray();
    }

    private static byte[] header(int width, int height, int depth, int color, int interlace) {
        return chunk("IHDR", ByteBuffer.allocate(13).putInt(width).putInt(height).put((byte) depth).put((byte) color)
                .putShort((short) 0).put((byte) interlace).array());
    }

    private static byte[] chunk(String name, int... data) {
        byte[] bytes = new byte[data.length];
        for (int i = 0; i < data.length; i++) {
            bytes[i] = (byte) data[i];
        }
        return chunk(name, bytes);
    }

    private static byte[] chunk(String name, byte[] data) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.US_ASCII));
        crc.update(data);
        return ByteBuffer.allocate(12 + data.length).putInt(data.length)
                .put(name.getBytes(StandardCharsets.US_ASCII)).put(data).putInt((int) crc.getValue()).array();
    }

    private static byte[] zlib(byte[] data) {
        try (Deflater deflater = new Deflater()) {
            deflater.setInput(data);
            deflater.finish();
            byte[] packed = new byte[data.length + 64];
            return Arrays.copyOf(packed, deflater.deflate(packed));
        }
    }
}
