// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.pixels;

import io.penstock.augment.value.Interpolation;

/**
 * Reads an image at transformed places. Coordinates are f32 indices of pixel centers. A mask is read at the nearest
 * pixel, whatever its image's interpolation.
 */
public final class Warp {

    /** Added to a number of up to 22 bits, it leaves the nearest integer in the lowest bits; halves go to even. */
    private static final float TO_INTEGER = 0x1.8p23f;
    private static final int INTEGER_ZERO = Float.floatToRawIntBits(TO_INTEGER);

    private Warp() {
    }

    /**
     * Maps the pixel at (x, y) from the middle to the input's column {@code (xx x + xy y) + x0} and row
     * {@code (yx x + yy y) + y0}.
     */
    public static void affine(Canvas canvas, float xx, float xy, float x0, float yx, float yy, float y0,
            Interpolation interpolation, int fill) {
        int height = canvas.height();
        int width = canvas.width();
        int channels = canvas.channels();
        boolean isNearest = interpolation == Interpolation.NEAREST || canvas.isMask();
        int outside = canvas.isMask() ? canvas.maskFill() : fill;
        byte[] source = canvas.pixels();
        byte[] target = canvas.spare(canvas.byteCount());
        float middle = (width - 1) * 0.5f;
        int to = 0;
        for (int i = 0; i < height; i++) {
            float y = i - (height - 1) * 0.5f;
            float columnOfRow = xy * y;
            float rowOfRow = yy * y;
            if (isNearest) {
                for (int j = 0; j < width; j++, to += channels) {
                    float x = j - middle;
                    nearest(source, height, width, channels, yx * x + rowOfRow + y0, xx * x + columnOfRow + x0,
                            outside, target, to);
                }
            } else {
                for (int j = 0; j < width; j++, to += channels) {
                    float x = j - middle;
                    bilinear(source, height, width, channels, yx * x + rowOfRow + y0, xx * x + columnOfRow + x0,
                            outside, target, to);
                }
            }
        }
        canvas.replace(height, width);
    }

    /**
     * Maps the center (x, y) of a pixel, 0.5 to the right and below its corner, to the input's column
     * {@code ((a x + b y) + c) / d - 0.5} and row {@code ((e x + f y) + g) / d - 0.5} with
     * {@code d = (h x + i y) + 1}.
     *
     * @param m the eight numbers a, b, c, e, f, g, h, i
     */
    public static void perspective(Canvas canvas, float[] m, Interpolation interpolation, int fill) {
        int height = canvas.height();
        int width = canvas.width();
        int channels = canvas.channels();
        boolean isNearest = interpolation == Interpolation.NEAREST || canvas.isMask();
        int outside = canvas.isMask() ? canvas.maskFill() : fill;
        byte[] source = canvas.pixels();
        byte[] target = canvas.spare(canvas.byteCount());
        int to = 0;
        for (int i = 0; i < height; i++) {
            float y = i + 0.5f;
            for (int j = 0; j < width; j++, to += channels) {
                float x = j + 0.5f;
                float divisor = m[6] * x + m[7] * y + 1;
                float column = (m[0] * x + m[1] * y + m[2]) / divisor - 0.5f;
                float row = (m[3] * x + m[4] * y + m[5]) / divisor - 0.5f;
                if (isNearest) {
                    nearest(source, height, width, channels, row, column, outside, target, to);
                } else {
                    bilinear(source, height, width, channels, row, column, outside, target, to);
                }
            }
        }
        canvas.replace(height, width);
    }

    /** Halves are rounded to even. */
    private static void nearest(byte[] source, int height, int width, int channels, float row, float column, int fill,
            byte[] target, int to) {
        if (row > -1 && row < height && column > -1 && column < width) {
            int y = nearestInteger(row);
            int x = nearestInteger(column);
            if (y >= 0 && y < height && x >= 0 && x < width) {
                int at = (y * width + x) * channels;
                for (int c = 0; c < channels; c++) {
                    target[to + c] = source[at + c];
                }
                return;
            }
        }
        for (int c = 0; c < channels; c++) {
            target[to + c] = (byte) fill;
        }
    }

    private static void bilinear(byte[] source, int height, int width, int channels, float row, float column, int fill,
            byte[] target, int to) {
        if (!(row >= 0 && row < height - 1 && column >= 0 && column < width - 1)) {
            border(source, height, width, channels, row, column, fill, target, to);
            return;
        }
        int y = (int) row;
        int x = (int) column;
        float down = row - y;
        float right = column - x;
        float upperLeft = (1 - right) * (1 - down);
        float upperRight = right * (1 - down);
        float lowerLeft = (1 - right) * down;
        float lowerRight = right * down;
        int at = (y * width + x) * channels;
        int below = at + width * channels;
        if (channels == 3) {
            target[to] = rounded(upperLeft * (source[at] & 0xFF) + upperRight * (source[at + 3] & 0xFF)
                    + lowerLeft * (source[below] & 0xFF) + lowerRight * (source[below + 3] & 0xFF));
            target[to + 1] = rounded(upperLeft * (source[at + 1] & 0xFF) + upperRight * (source[at + 4] & 0xFF)
                    + lowerLeft * (source[below + 1] & 0xFF) + lowerRight * (source[below + 4] & 0xFF));
            target[to + 2] = rounded(upperLeft * (source[at + 2] & 0xFF) + upperRight * (source[at + 5] & 0xFF)
                    + lowerLeft * (source[below + 2] & 0xFF) + lowerRight * (source[below + 5] & 0xFF));
            return;
        }
        for (int c = 0; c < channels; c++) {
            target[to + c] = rounded(
                    upperLeft * (source[at + c] & 0xFF) + upperRight * (source[at + channels + c] & 0xFF)
                            + lowerLeft * (source[below + c] & 0xFF)
                            + lowerRight * (source[below + channels + c] & 0xFF));
        }
    }

    /** Reads where some of the four pixels are outside the image: these have the fill's value. */
    private static void border(byte[] source, int height, int width, int channels, float row, float column, int fill,
            byte[] target, int to) {
        if (!(row > -1 && row < height && column > -1 && column < width)) {
            for (int c = 0; c < channels; c++) {
                target[to + c] = (byte) fill;
            }
            return;
        }
        int y = (int) Math.floor(row);
        int x = (int) Math.floor(column);
        float down = row - y;
        float right = column - x;
        for (int c = 0; c < channels; c++) {
            float value = 0;
            float covered = 0;
            for (int tap = 0; tap < 4; tap++) {
                int tapX = x + (tap & 1);
                int tapY = y + (tap >> 1);
                if (tapX >= 0 && tapX < width && tapY >= 0 && tapY < height) {
                    float weight = ((tap & 1) == 0 ? 1 - right : right) * (tap < 2 ? 1 - down : down);
                    value += weight * (source[(tapY * width + tapX) * channels + c] & 0xFF);
                    covered += weight;
                }
            }
            target[to + c] = rounded(value + (1 - covered) * fill);
        }
    }

    private static int nearestInteger(float value) {
        return Float.floatToRawIntBits(value + TO_INTEGER) - INTEGER_ZERO;
    }

    /** Rounds a value of 0 to 255 and a few units in the last place; halves go to even. */
    public static byte rounded(float value) {
        return (byte) Float.floatToRawIntBits(value + TO_INTEGER);
    }
}
