// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Pixels against those of other programs, within 1: swscale's with {@code accurate_rnd} for 4:4:4 of its own size,
 * Pillow's bilinear resize of each plane in floats for 4:4:4 of others, zimg's ({@code
 * zscale=filter=bilinear:cin=left}) for chroma that is halved, for another range and matrix, and for 10 bits.
 */
final class FramePixelsTest {

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    @ParameterizedTest
    @CsvSource({"h264-odd444, 60, 46", "h264-odd444, 24, 20", "h264-odd444, 100, 90", "h264-bframes, 96, 64",
        "h264-bframes, 40, 36", "h264-bframes, 150, 100", "h264-fullrange709, 96, 64", "h264-10bit, 96, 64"})
    void pixelsAreThoseOfOtherPrograms(String video, int width, int height) throws IOException {
        byte[] expected = VideoFixture.resource(video + "-5-" + width + "x" + height + ".rgb");
        byte[] found = pixels(video + ".mp4", ImageFit.stretch(height, width), 0, width, height);
        int greatest = 0;
        long sum = 0;
        for (int i = 0; i < expected.length; i++) {
            int x = i / 3 % width;
            int y = i / 3 / width;
            if (width == 40 && (x == 0 || x == width - 1 || y == 0 || y == height - 1)) {
                continue; // zimg mirrors what is beyond the edge; Pillow and we leave it out
            }
            int difference = Math.abs((expected[i] & 0xFF) - (found[i] & 0xFF));
            greatest = Math.max(greatest, difference);
            sum += difference;
        }
        assertTrue(greatest <= 1 && sum <= 0.1 * expected.length,
                video + ": differs by up to " + greatest + ", " + (double) sum / expected.length + " on average");
    }

    @Test
    void frameOfAnotherSizeIsRefusedIfItMustBeExact() {
        var refusal = assertThrows(CodecException.class,
                () -> pixels("h264-odd444.mp4", ImageFit.exactly(46, 61), 0, 61, 46));
        assertEquals("a frame of 60x46 pixels, expected 61x46", refusal.getMessage());
    }

    /** The pixel at (x, y) comes to (y, width - 1 - x) counter-clockwise. */
    @Test
    void turnedFramesHaveTheSamePixelsInOtherPlaces() throws IOException {
        byte[] stored = pixels("h264-bframes.mp4", ImageFit.stretch(48, 64), 0, 64, 48);
        for (int rotation : new int[] {90, 180, 270}) {
            boolean isHalf = rotation == 180;
            byte[] turned = pixels("h264-bframes.mp4", isHalf ? ImageFit.stretch(48, 64) : ImageFit.stretch(64, 48),
                    rotation, isHalf ? 64 : 48, isHalf ? 48 : 64);
            int width = isHalf ? 64 : 48;
            for (int y = 0; y < 48; y++) {
                for (int x = 0; x < 64; x++) {
                    int toX = rotation == 90 ? y : isHalf ? 63 - x : 47 - y;
                    int toY = rotation == 90 ? 63 - x : isHalf ? 47 - y : x;
                    assertEquals(stored[(y * 64 + x) * 3], turned[(toY * width + toX) * 3],
                            rotation + ": " + x + ", " + y);
                }
            }
        }
    }

    @Test
    void theMiddleIsCutOutOfAResizedFrame() throws IOException {
        byte[] whole = pixels("h264-bframes.mp4", ImageFit.stretch(32, 48), 0, 48, 32);
        byte[] middle = pixels("h264-bframes.mp4", ImageFit.shorterSide(32, 20, 30), 0, 30, 20);
        for (int y = 0; y < 20; y++) {
            for (int x = 0; x < 30; x++) {
                assertEquals(whole[((y + 6) * 48 + x + 9) * 3 + 1], middle[(y * 30 + x) * 3 + 1], x + ", " + y);
            }
        }
    }

    /** Returns frame 5, interleaved. */
    private static byte[] pixels(String video, ImageFit fit, int rotation, int width, int height) throws IOException {
        MemorySegment file = VideoFixture.of(video).bytes();
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        byte[] out = new byte[width * height * 3];
        var pixels = new FramePixels(fit);
        try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, true)) {
            MemorySegment entry = MemorySegment.ofArray(index);
            reader.load(entry, 0, index.length);
            reader.read(entry, 0, file, 0, new int[] {5}, 1, (_, decoder) -> pixels.write(decoder, rotation,
                    MemorySegment.ofArray(out), 0, new FramePixels.Target(1, 3L * width, 3)));
        }
        return out;
    }
}
