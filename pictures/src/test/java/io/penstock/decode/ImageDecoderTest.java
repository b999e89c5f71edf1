// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.pictures.ImageDecoder;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Image files of records become pixels of one size, in the slot. */
class ImageDecoderTest {

    private static final Column JPG = Column.bytes("image", "jpg");

    @Test
    void theFieldIsHeightByWidthByChannels() {
        assertEquals("image: u8[224,192,3]", ImageDecoder.rgb(224, 192).field(JPG).toString());
        assertEquals("image: u8[28,28,1]", ImageDecoder.gray(28, 28).field(JPG).toString());
        assertEquals("m: u8[9,9,1]", ImageDecoder.gray(9, 9).field(Column.bytes("m", "seg.PNG")).toString());
    }

    /** Saved states have these texts in the dataset's fingerprint. */
    @Test
    void theTextOfADecoderTellsWhichPixelsItMakes() {
        ImageFit crop = ImageFit.shorterSide(256, 224, 192);
        assertEquals("RGB images, stretched to 192x224", ImageDecoder.rgb(224, 192).toString());
        assertEquals("RGB images, shorter side 256, middle 192x224, upright",
                ImageDecoder.of(ImageDecoding.rgb().upright().scaled(), crop).toString());
        assertEquals("GRAY images, shorter side 256, middle 192x224, decoded whole",
                ImageDecoder.of(ImageDecoding.gray(), crop).toString());
        assertEquals("GRAY images, exactly 28x28", ImageDecoder.gray(ImageFit.exactly(28, 28)).toString());
    }

    @Test
    void otherImageFormatsAreRefusedByName() {
        for (String encoding : List.of("ppm", "webp", "seg.gif", "tiff")) {
            String message = assertThrows(IllegalArgumentException.class,
                    () -> ImageDecoder.rgb(2, 2).field(Column.bytes("image", encoding))).getMessage();
            assertTrue(message.contains("images in ") && message.contains("are not supported"), message);
        }
        assertThrows(IllegalArgumentException.class,
                () -> ImageDecoder.rgb(2, 2).field(Column.text("caption", "txt")));
    }

    @Test
    void anImageOfAnotherSizeIsRefusedWhereTheSizeIsExact() throws IOException {
        byte[] png = Files.readAllBytes(Fixtures.path("images/rgb.png"));
        assertEquals(60 * 44 * 3, Decoding.decode(ImageDecoder.rgb(ImageFit.exactly(44, 60)), JPG, png).length);
        assertTrue(Decoding.refusal(ImageDecoder.rgb(ImageFit.exactly(60, 44)), JPG, png)
                .contains("an image of 60x44 pixels, expected 44x60"));
    }

    @Test
    void theBytesSayWhichFormatAnImageIsInAndNotTheSuffix() throws IOException {
        byte[] png = Files.readAllBytes(Fixtures.path("images/one_by_one.png"));
        assertArrayEquals(HexFormat.of().parseHex("419e63"),
                Decoding.decode(ImageDecoder.rgb(ImageFit.exactly(1, 1)), JPG, png));
    }

    @Test
    void whatIsMalformedIsRefused() throws IOException {
        int refused = 0;
        for (Fixtures.Entry entry : Fixtures.entries("images").filter(e -> e.expect().equals("reject")).toList()) {
            assertTrue(Decoding.refusal(ImageDecoder.rgb(8, 8), JPG, Files.readAllBytes(entry.path()))
                    .contains(", expected "));
            refused++;
        }
        assertTrue(refused > 5, refused + " fixtures");
    }

    @Test
    void anImageOfMorePixelsThanTheLimitIsRefusedBeforeItIsDecoded() throws IOException {
        byte[] png = Files.readAllBytes(Fixtures.path("images/rgb.png"));
        ImageFit fit = ImageFit.stretch(8, 8);
        ImageDecoding decoding = ImageDecoding.rgb();
        assertTrue(Decoding.refusal(ImageDecoder.of(decoding.maxPixels(60 * 44 - 1), fit), JPG, png)
                .contains("60x44"));
        assertEquals(192, Decoding.decode(ImageDecoder.of(decoding.maxPixels(60 * 44), fit), JPG, png).length);
    }
}
