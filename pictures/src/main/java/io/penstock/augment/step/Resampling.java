// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import java.util.Arrays;

/**
 * Reads an image once through a projective map, with antialiasing, as {@code docs/spec/augment.md} has it under
 * "fused". Along rows and columns a triangle weighs the pixels: to the result itself, if the map neither turns nor
 * leaves the image; else to an image of at most 1.5 times the result's resolution, unless the image is no finer, and
 * {@link Warp} reads that bilinearly. Values between the two are f32. Only the part of a file's image that is read is
 * decoded. For one thread.
 */
public final class Resampling {

    /** The most input pixels that a bilinear reading may move on from one output pixel to the next. */
    private static final double MOST_STEP = 1.5;
    /** How far, in pixels, rounding may put a corner outside the image. */
    private static final double TOLERANCE = 1e-6;
    /** Pixels around those that an exact computation of the places reads. */
    private static final int MARGIN = 2;
    /** The least divisor of a corner, as a share of the greatest, up to which places are as exact as that. */
    private static final double LEAST_DIVISOR = 0.1;

    private final Triangle across = new Triangle();
    private final Triangle down = new Triangle();
    private final double[] scaled = new double[9];
    /** The part of an image that is read. */
    private int top;
    private int left;
    private int bottom;
    private int right;

    /** Creates a resampling without memory. */
    Resampling() {
    }

    /**
     * Replaces the canvas' image by what a map shows of it. A mask is read at the nearest pixel.
     *
     * @param m nine numbers, row by row: the map of the result's points to those of the image, both counted in pixels
     *     from the upper left corner
     * @param fill the value outside the image
     */
    public void run(Canvas canvas, double[] m, int height, int width, int fill) {
        Warp warp = canvas.work().warp();
        int inHeight = canvas.height();
        int inWidth = canvas.width();
        if (canvas.isMask()) {
            warp.read(canvas, 0, 0, inHeight, inWidth);
            warp.perspective(canvas, m, height, width, Interpolation.NEAREST, fill);
            return;
        }
        if (m[1] == 0 && m[3] == 0 && m[6] == 0 && m[7] == 0 && isInside(m[0] / m[8], m[2] / m[8], width, inWidth)
                && isInside(m[4] / m[8], m[5] / m[8], height, inHeight)) {
            across.set(inWidth, width, m[0] / m[8], m[2] / m[8], 0);
            down.set(inHeight, height, m[4] / m[8], m[5] / m[8], 0);
            round(weigh(canvas), canvas, height, width);
            return;
        }
        double x = width / 2.0;
        double y = height / 2.0;
        double divisor = m[6] * x + m[7] * y + m[8];
        int smallWidth = reduced(inWidth, step(m, 0, x, y, divisor));
        int smallHeight = reduced(inHeight, step(m, 3, x, y, divisor));
        if (smallWidth == inWidth && smallHeight == inHeight) {
            bound(m, height, width, inHeight, inWidth);
            canvas.crop(top, left, bottom - top, right - left, Padding.NONE);
            warp.read(canvas, top, left, inHeight, inWidth);
            warp.perspective(canvas, m, height, width, Interpolation.BILINEAR, fill);
            return;
        }
        for (int i = 0; i < m.length; i++) {
            scaled[i] = i < 3 ? m[i] * smallWidth / inWidth : i < 6 ? m[i] * smallHeight / inHeight : m[i];
        }
        bound(scaled, height, width, smallHeight, smallWidth);
        across.set(inWidth, right - left, (double) inWidth / smallWidth, 0, left);
        down.set(inHeight, bottom - top, (double) inHeight / smallHeight, 0, top);
        warp.read(weigh(canvas), top, left, bottom - top, right - left, smallHeight, smallWidth);
        warp.perspective(canvas, scaled, height, width, Interpolation.BILINEAR, fill);
    }

    private static boolean isInside(double scale, double offset, int outputs, int inputs) {
        double end = offset + scale * outputs;
        return Math.min(offset, end) >= -TOLERANCE && Math.max(offset, end) <= inputs + TOLERANCE;
    }

    /** Returns how many columns or rows two neighbors in the middle of the result are apart. */
    private static double step(double[] m, int row, double x, double y, double divisor) {
        double place = (m[row] * x + m[row + 1] * y + m[row + 2]) / divisor;
        double perColumn = (m[row] - place * m[6]) / divisor;
        double perRow = (m[row + 1] - place * m[7]) / divisor;
        return Math.sqrt(perColumn * perColumn + perRow * perRow);
    }

    private static int reduced(int size, double step) {
        return step > MOST_STEP ? Math.max(1, (int) (size * MOST_STEP / step)) : size;
    }

    /** Sets the part of an image that is read: all of it if the map is steep, at least two rows and columns. */
    private void bound(double[] m, int height, int width, int inHeight, int inWidth) {
        top = left = 0;
        bottom = inHeight;
        right = inWidth;
        double leastX = Double.POSITIVE_INFINITY;
        double leastY = Double.POSITIVE_INFINITY;
        double leastDivisor = Double.POSITIVE_INFINITY;
        double mostX = Double.NEGATIVE_INFINITY;
        double mostY = Double.NEGATIVE_INFINITY;
        double mostDivisor = Double.NEGATIVE_INFINITY;
        for (int corner = 0; corner < 4; corner++) {
            double x = (corner & 1) * width;
            double y = (corner >> 1) * height;
            double divisor = (m[6] * x + m[7] * y + m[8]) / m[8];
            double column = (m[0] * x + m[1] * y + m[2]) / m[8] / divisor;
            double row = (m[3] * x + m[4] * y + m[5]) / m[8] / divisor;
            leastX = Math.min(leastX, column);
            leastY = Math.min(leastY, row);
            leastDivisor = Math.min(leastDivisor, divisor);
            mostX = Math.max(mostX, column);
            mostY = Math.max(mostY, row);
            mostDivisor = Math.max(mostDivisor, divisor);
        }
        if (leastDivisor >= LEAST_DIVISOR * mostDivisor) {
            top = first(leastY, inHeight);
            left = first(leastX, inWidth);
            bottom = end(mostY, top, inHeight);
            right = end(mostX, left, inWidth);
        }
    }

    private static int first(double least, int size) {
        return (int) Math.clamp(Math.floor(least) - MARGIN, 0.0, Math.max(size - 2, 0));
    }

    private static int end(double most, int first, int size) {
        return (int) Math.clamp(Math.ceil(most) + MARGIN, Math.min(first + 2, size), (double) size);
    }

    /** Weighs the part of the image that the outputs of both directions need: columns first, then rows. */
    private float[] weigh(Canvas canvas) {
        int channels = canvas.channels();
        int firstRow = down.low();
        int rowFloats = (across.high() - across.low()) * channels;
        canvas.crop(firstRow, across.low(), down.high() - firstRow, across.high() - across.low(), Padding.NONE);
        byte[] pixels = canvas.pixels();
        float[] sums = canvas.work().floats(0, rowFloats);
        float[] weighed = canvas.work().floats(1,
                Math.multiplyExact(Math.multiplyExact(down.size(), across.size()), channels));
        int loaded = firstRow;
        for (int i = 0; i < down.size(); i++) {
            Arrays.fill(sums, 0, rowFloats, 0);
            for (int k = 0; k < down.count(i); k++) {
                int row = down.first(i) + k;
                float[] floats = canvas.work().row(row % down.most(), rowFloats);
                if (row >= loaded) {
                    Workspace.toFloats(pixels, (row - firstRow) * rowFloats, floats, rowFloats);
                    loaded = row + 1;
                }
                add(floats, down.weight(i, k), sums, rowFloats);
            }
            across.run(sums, channels, weighed, down.output(i) * across.size() * channels);
        }
        return weighed;
    }

    private static void add(float[] row, float weight, float[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] += weight * row[i];
        }
    }

    private static void round(float[] values, Canvas canvas, int height, int width) {
        int count = height * width * canvas.channels();
        byte[] target = canvas.spare(count);
        for (int i = 0; i < count; i++) {
            target[i] = Warp.rounded(values[i]);
        }
        canvas.replace(height, width);
    }
}
