// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.penstock.image.Interpolation;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Warps of images of any size against the specification's formulas, pixel by pixel. */
class WarpTest {

    private static final int FILL = 77;

    private final Random random = new Random(8);

    @Test
    void everyPixelOfBlocksAndLongRowsIsThatOfTheSpecification() {
        for (int[] size : new int[][] {{300, 40}, {70, 1500}, {5, 1030}, {2, 2}, {1, 9}, {9, 1}, {90, 80}}) {
            for (int channels = 1; channels <= 4; channels++) {
                double angle = random.nextDouble(6);
                double scale = random.nextDouble(0.5, 1.6);
                double[] affine = {Math.cos(angle) / scale, -Math.sin(angle) / scale, (size[1] - 1) / 2.0 + 1.3,
                    Math.sin(angle) / scale, Math.cos(angle) / scale, (size[0] - 1) / 2.0 - 2.1};
                warped(size[0], size[1], channels, affine);
                warped(size[0], size[1], channels, new double[] {1, 0, 3, 0, 1, -2});
                warped(size[0], size[1], channels, new double[] {1.9, 0.2, -5.5, -0.3, 1.7, 2, 0.8 / size[1],
                    -0.2 / size[0], 2});
            }
        }
    }

    @Test
    void placesThatAreNoNumbersShowTheFill() {
        byte[] filled = new byte[20 * 30 * 3];
        Arrays.fill(filled, (byte) FILL);
        for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, 1e30}) {
            Canvas canvas = canvas(filled.clone(), 20, 30, 3);
            canvas.work().warp().affine(canvas, new double[] {1, 0, bad, 0, 1, bad}, Interpolation.BILINEAR, FILL);
            assertArrayEquals(filled, stored(canvas));
        }
    }

    /** Six numbers are an affine map, nine are a perspective. */
    private void warped(int height, int width, int channels, double[] m) {
        byte[] pixels = new byte[height * width * channels];
        random.nextBytes(pixels);
        float[] f = new float[m.length];
        for (int i = 0; i < f.length; i++) {
            f[i] = (float) (m.length == 9 ? m[i] / m[8] : m[i]);
        }
        byte[] expected = new byte[pixels.length];
        for (int i = 0; i < height * width; i++) {
            float row;
            float column;
            if (m.length == 6) {
                float x = i % width - (width - 1) * 0.5f;
                float y = i / width - (height - 1) * 0.5f;
                column = f[0] * x + f[1] * y + f[2];
                row = f[3] * x + f[4] * y + f[5];
            } else {
                float x = i % width + 0.5f;
                float y = i / width + 0.5f;
                float divisor = f[6] * x + f[7] * y + 1;
                column = (f[0] * x + f[1] * y + f[2]) / divisor - 0.5f;
                row = (f[3] * x + f[4] * y + f[5]) / divisor - 0.5f;
            }
            for (int c = 0; c < channels; c++) {
                expected[i * channels + c] = (byte) read(pixels, height, width, channels, c, row, column);
            }
        }
        Canvas canvas = canvas(pixels, height, width, channels);
        if (m.length == 6) {
            canvas.work().warp().affine(canvas, m, Interpolation.BILINEAR, FILL);
        } else {
            canvas.work().warp().perspective(canvas, m, Interpolation.BILINEAR, FILL);
        }
        assertArrayEquals(expected, stored(canvas), height + " x " + width + " x " + channels + " by "
                + Arrays.toString(m));
    }

    private static double read(byte[] pixels, int height, int width, int channels, int channel, float row,
            float column) {
        int y = (int) Math.floor(row);
        int x = (int) Math.floor(column);
        float down = row - y;
        float right = column - x;
        float value = 0;
        float covered = 0;
        int inside = 0;
        for (int tap = 0; tap < 4; tap++) {
            int tapY = y + tap / 2;
            int tapX = x + tap % 2;
            if (tapY >= 0 && tapY < height && tapX >= 0 && tapX < width) {
                float weight = (tap % 2 == 0 ? 1 - right : right) * (tap < 2 ? 1 - down : down);
                value += weight * (pixels[(tapY * width + tapX) * channels + channel] & 0xFF);
                covered += weight;
                inside++;
            }
        }
        return Math.rint(inside == 4 ? value : value + (1 - covered) * FILL);
    }

    private static Canvas canvas(byte[] pixels, int height, int width, int channels) {
        Canvas canvas = new Canvas();
        canvas.load(MemorySegment.ofArray(pixels), 0, height, width, channels);
        return canvas;
    }

    private static byte[] stored(Canvas canvas) {
        byte[] found = new byte[canvas.byteCount()];
        canvas.store(MemorySegment.ofArray(found), 0);
        return found;
    }
}
