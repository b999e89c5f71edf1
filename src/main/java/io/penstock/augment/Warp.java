// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

/**
 * Reads an image at transformed places. Coordinates are f32 indices of pixel centers, computed as
 * {@code (a x + b y) + c} with x and y counted from the middle of the image.
 */
final class Warp {

    private Warp() {
    }

    /**
     * Maps the pixel at (x, y) from the middle to the input's column {@code (xx x + xy y) + x0} and row
     * {@code (yx x + yy y) + y0}.
     */
    static void affine(Canvas canvas, float xx, float xy, float x0, float yx, float yy, float y0,
            Interpolation interpolation, int fill) {
        int height = canvas.height();
        int width = canvas.width();
        byte[] source = canvas.pixels();
        byte[] target = canvas.spare(canvas.byteCount());
        int to = 0;
        for (int i = 0; i < height; i++) {
            float y = i - (height - 1) * 0.5f;
            for (int j = 0; j < width; j++) {
                float x = j - (width - 1) * 0.5f;
                float column = xx * x + xy * y + x0;
                float row = yx * x + yy * y + y0;
                if (interpolation == Interpolation.NEAREST) {
                    nearest(source, height, width, canvas.channels(), row, column, fill, target, to);
                } else {
                    bilinear(source, height, width, canvas.channels(), row, column, fill, target, to);
                }
                to += canvas.channels();
            }
        }
        canvas.replace(height, width);
    }

    /** Halves are rounded to even. */
    private static void nearest(byte[] source, int height, int width, int channels, float row, float column, int fill,
            byte[] target, int to) {
        int y = (int) Math.rint(row);
        int x = (int) Math.rint(column);
        boolean isInside = y >= 0 && y < height && x >= 0 && x < width;
        for (int c = 0; c < channels; c++) {
            target[to + c] = isInside ? source[(y * width + x) * channels + c] : (byte) fill;
        }
    }

    /** Pixels outside the image have the fill's value. */
    private static void bilinear(byte[] source, int height, int width, int channels, float row, float column, int fill,
            byte[] target, int to) {
        int y = (int) Math.floor(row);
        int x = (int) Math.floor(column);
        float down = row - y;
        float right = column - x;
        float upperLeft = (1 - right) * (1 - down);
        float upperRight = right * (1 - down);
        float lowerLeft = (1 - right) * down;
        float lowerRight = right * down;
        int at = (y * width + x) * channels;
        if (y >= 0 && y < height - 1 && x >= 0 && x < width - 1) {
            int below = at + width * channels;
            for (int c = 0; c < channels; c++) {
                float value = upperLeft * (source[at + c] & 0xFF) + upperRight * (source[at + channels + c] & 0xFF)
                        + lowerLeft * (source[below + c] & 0xFF) + lowerRight * (source[below + channels + c] & 0xFF);
                target[to + c] = rounded(value);
            }
            return;
        }
        for (int c = 0; c < channels; c++) {
            float value = 0;
            float covered = 0;
            for (int tap = 0; tap < 4; tap++) {
                int tapX = x + (tap & 1);
                int tapY = y + (tap >> 1);
                if (tapX >= 0 && tapX < width && tapY >= 0 && tapY < height) {
                    float weight = tap == 0 ? upperLeft : tap == 1 ? upperRight : tap == 2 ? lowerLeft : lowerRight;
                    value += weight * (source[(tapY * width + tapX) * channels + c] & 0xFF);
                    covered += weight;
                }
            }
            target[to + c] = rounded(value + (1 - covered) * fill);
        }
    }

    private static byte rounded(float value) {
        return (byte) Math.clamp((int) Math.rint(value), 0, 255);
    }
}
