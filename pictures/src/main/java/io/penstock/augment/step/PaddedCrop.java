// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Padding;
import java.util.Arrays;

/** Crops an image with a border, without making the border. */
final class PaddedCrop {

    /** Replaces the image by a crop. Its place counts from the border's upper left corner. */
    static void run(Canvas canvas, int top, int left, int height, int width, int border, Padding.Mode mode, int fill) {
        byte[] pixels = canvas.pixels();
        int imageHeight = canvas.height();
        int imageWidth = canvas.width();
        int channels = canvas.channels();
        int rowBytes = width * channels;
        byte[] target = canvas.makeRoom((long) height * rowBytes);
        int first = Math.clamp(border - left, 0, width);            // the columns that show the image
        int last = Math.clamp(border - left + imageWidth, first, width);
        for (int y = 0; y < height; y++) {
            int to = y * rowBytes;
            int row = inside(mode, top + y - border, imageHeight);
            if (row < 0) {
                Arrays.fill(target, to, to + rowBytes, (byte) fill);
                continue;
            }
            int from = row * imageWidth * channels;
            if (first < last) {
                System.arraycopy(pixels, from + (left + first - border) * channels, target, to + first * channels,
                        (last - first) * channels);
            }
            for (int x = first > 0 ? 0 : last; x < width; x = x + 1 == first ? last : x + 1) {
                int column = inside(mode, left + x - border, imageWidth);
                for (int c = 0; c < channels; c++) {
                    target[to + x * channels + c] = column < 0 ? (byte) fill : pixels[from + column * channels + c];
                }
            }
        }
        canvas.replace(height, width);
    }

    /** Maps a row or column outside an image of {@code n} to one inside; -1 for the fill. */
    private static int inside(Padding.Mode mode, int i, int n) {
        if (i >= 0 && i < n) {
            return i;
        }
        return switch (mode) {
            case CONSTANT -> -1;
            case EDGE -> i < 0 ? 0 : n - 1;
            case REFLECT -> i < 0 ? -i : 2 * n - 2 - i;
            case SYMMETRIC -> i < 0 ? -i - 1 : 2 * n - 1 - i;
        };
    }
}
