// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.json.Json;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Images of whatever size become one size: resized as Pillow resizes, cut as torchvision cuts, turned if told. */
class ImageFitterTest {

    private static byte[] fit(ImageFit fit, ImageDecoding decoding, byte[] image) throws IOException {
        try (Arena arena = Arena.ofConfined(); var fitter = new ImageFitter(fit, new FrameDecoder(decoding))) {
            MemorySegment target = arena.allocate(3L * fit.height() * fit.width());
            MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, image);
            // The second image finds what the first has left.
            for (int i = 0; i < 2; i++) {
                fitter.read(stored, image.length, target.fill((byte) i), 0);
            }
            return target.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static byte[] image(String name) throws IOException {
        return Files.readAllBytes(Oracle.folder().resolve(name));
    }

    @Test
    void fittedImagesAreThoseOfPillowAndTorchvision() throws IOException {
        int compared = 0;
        for (Object each : Json.array(Oracle.all().get("fitted"))) {
            Map<String, Object> truth = Json.object(each);
            int height = ((Number) truth.get("height")).intValue();
            int width = ((Number) truth.get("width")).intValue();
            ImageFit fit = truth.containsKey("shorter_side")
                    ? ImageFit.shorterSide(((Number) truth.get("shorter_side")).intValue(), height, width)
                    : ImageFit.stretch(height, width);
            ImageDecoding decoding =
                    truth.get("upright").equals(true) ? ImageDecoding.rgb().upright() : ImageDecoding.rgb();
            byte[] fitted = fit(fit, decoding, image((String) truth.get("image")));
            assertEquals(truth.get("sha256"), Oracle.sha256(fitted), truth.toString());
            compared++;
        }
        assertEquals(40, compared);
    }

    @Test
    void uprightPixelsOfEveryOrientationAreThoseOfPillow() throws IOException {
        for (int orientation = 1; orientation <= 8; orientation++) {
            String name = "orientation_" + orientation + ".jpg";
            Map<String, Object> upright = Json.object(Json.object(Oracle.images().get(name)).get("upright"));
            ImageFit fit = ImageFit.exactly(((Number) upright.get("height")).intValue(),
                    ((Number) upright.get("width")).intValue());
            assertEquals(upright.get("pixels_sha256"),
                    Oracle.sha256(fit(fit, ImageDecoding.rgb().upright(), image(name))), name);
        }
    }

    @Test
    void scaledDecodingLeavesTwiceTheSizeAndChangesLittle() throws IOException {
        ImageFit fit = ImageFit.stretch(4, 6);
        assertEquals(8, denominator(96, 64, 6, 4));
        assertEquals(4, denominator(95, 56, 6, 4));
        assertEquals(2, denominator(24, 16, 6, 4));
        assertEquals(1, denominator(22, 16, 6, 4));
        byte[] exact = fit(fit, ImageDecoding.rgb(), image("orientation_1.jpg"));
        byte[] scaled = fit(fit, ImageDecoding.rgb().scaled(), image("orientation_1.jpg"));
        int sum = 0;
        for (int i = 0; i < exact.length; i++) {
            sum += Math.abs((exact[i] & 0xFF) - (scaled[i] & 0xFF));
        }
        assertEquals(JpegLibrary.preferred() == JpegLibrary.TURBOJPEG, sum > 0,
                "the JDK's decoder gains nothing by it");
        assertTrue(sum < 6 * exact.length, sum + " over " + exact.length);
    }

    private static int denominator(int width, int height, int resizedWidth, int resizedHeight) {
        var frame = new ImageFrame();
        frame.reset(height, width);
        frame.resize(resizedHeight, resizedWidth, Resizer.Filter.BILINEAR);
        return frame.denominator();
    }

    @Test
    void aFitterReadsOnAfterAnImageThatItRefused() throws IOException {
        byte[] good = image("adobe_rgb.jpg");
        byte[] cut = java.util.Arrays.copyOf(good, good.length - 40);
        ImageFit fit = ImageFit.stretch(5, 5);
        byte[] expected = fit(fit, ImageDecoding.rgb(), good);
        try (Arena arena = Arena.ofConfined();
                var fitter = new ImageFitter(fit, new FrameDecoder(ImageDecoding.rgb()))) {
            MemorySegment target = arena.allocate(75);
            for (int i = 0; i < 3; i++) {
                assertThrows(CodecException.class,
                        () -> fitter.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, cut), cut.length, target, 0));
                fitter.read(arena.allocateFrom(ValueLayout.JAVA_BYTE, good), good.length, target, 0);
                assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @Test
    void sizesThatMakeNoSenseAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> ImageFit.stretch(0, 5));
        assertThrows(IllegalArgumentException.class, () -> ImageFit.shorterSide(223, 224, 10));
        assertThrows(IllegalArgumentException.class, () -> ImageFit.exactly(1 << 16, 1 << 16));
        assertThrows(IllegalArgumentException.class, () -> new ImageFit(ImageFit.Sizing.STRETCH, 5, 5, 5));
    }
}
