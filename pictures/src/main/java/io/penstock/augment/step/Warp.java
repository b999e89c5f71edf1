// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Interpolation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Reads an image at transformed places. Coordinates are f32 indices of pixel centers. A mask is read at the nearest
 * pixel, whatever its image's interpolation. For one thread.
 *
 * <p>Rows of the result are made in blocks, by short loops over arrays with one result, which the JIT compiler
 * vectorizes. Only the loop that collects the four pixels around each place is not: it reads two neighbors of all
 * channels at once. All places of a block are read as if they were inside the image, from the nearest pixels that are;
 * those at the border are then made again, one by one.
 */
public final class Warp {

    /** An array whose pixels are read must be this much longer than its pixels. */
    static final int SLACK_BYTES = Long.BYTES;

    /** Added to a number of up to 22 bits, it leaves the nearest integer in the lowest bits; halves go to even. */
    private static final float TO_INTEGER = 0x1.8p23f;
    private static final int INTEGER_ZERO = Float.floatToRawIntBits(TO_INTEGER);
    private static final int BLOCK_PIXELS = 1024;

    private static final VarHandle LONG_OF_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT_OF_BYTES =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** Row by row; the last two numbers are those of the divisor, which an affine map does not have. */
    private final float[] map = new float[8];
    private boolean isAffine;
    /** The size of the image; a part of it is in memory. */
    private int height;
    private int width;
    private int top;
    private int left;
    private int partHeight;
    private int partWidth;
    private int channels;
    private byte[] pixels = {};
    /** What is read instead of the pixels, if the image has other values. */
    private float @Nullable [] values;
    private int fill;

    /** The output row's columns, counted from the map's origin, and its places. */
    private float[] across = {};
    private float[] rowColumns = {};
    private float[] rowRows = {};
    private float[] divisors = {};
    /** The places of a block. */
    private float[] columns = {};
    private float[] rows = {};
    private float[] right = {};
    private float[] down = {};
    private int[] at = {};
    private int[] upperLeft = {};
    private int[] upperRight = {};
    private int[] lowerLeft = {};
    private int[] lowerRight = {};
    private float[] sums = {};
    private int[] packed = {};

    /**
     * Warps an image: the output's pixel at (x, y), counted from the middle of the image, reads the input at column
     * {@code (xx x + xy y) + x0} and row {@code (yx x + yy y) + y0}.
     *
     * @param m the six numbers xx, xy, x0, yx, yy, y0
     */
    public void affine(Canvas canvas, double[] m, Interpolation interpolation, int outside) {
        read(canvas, 0, 0, canvas.height(), canvas.width());
        for (int i = 0; i < 6; i++) {
            map[i] = (float) m[i];
        }
        isAffine = true;
        run(canvas, height, width, (height - 1) * 0.5f, (width - 1) * 0.5f, interpolation, outside);
    }

    /**
     * Maps the center (x, y) of a pixel, 0.5 to the right and below its corner, to the input's column
     * {@code ((a x + b y) + c) / d - 0.5} and row {@code ((e x + f y) + g) / d - 0.5} with
     * {@code d = (h x + i y) + 1}.
     *
     * @param m nine numbers, of which these are the first eight divided by the last
     */
    public void perspective(Canvas canvas, double[] m, Interpolation interpolation, int outside) {
        read(canvas, 0, 0, canvas.height(), canvas.width());
        perspective(canvas, m, height, width, interpolation, outside);
    }

    /** Reads a part of an image, which is in the canvas. */
    void read(Canvas canvas, int partTop, int partLeft, int wholeHeight, int wholeWidth) {
        pixels = canvas.pixels();
        values = null;
        part(partTop, partLeft, canvas.height(), canvas.width(), wholeHeight, wholeWidth);
    }

    /** Reads a part of an image of other values, 0 to 255. */
    void read(float[] part, int partTop, int partLeft, int rowCount, int columnCount, int wholeHeight, int wholeWidth) {
        values = part;
        part(partTop, partLeft, rowCount, columnCount, wholeHeight, wholeWidth);
    }

    private void part(int partTop, int partLeft, int rowCount, int columnCount, int wholeHeight, int wholeWidth) {
        top = partTop;
        left = partLeft;
        partHeight = rowCount;
        partWidth = columnCount;
        height = wholeHeight;
        width = wholeWidth;
    }

    /** The same as {@link #perspective(Canvas, double[], Interpolation, int)}, from what {@link #read} took. */
    void perspective(Canvas canvas, double[] m, int outHeight, int outWidth, Interpolation interpolation, int outside) {
        for (int i = 0; i < map.length; i++) {
            map[i] = (float) (m[i] / m[map.length]);
        }
        isAffine = false;
        run(canvas, outHeight, outWidth, -0.5f, -0.5f, interpolation, outside);
    }

    private void run(Canvas canvas, int outHeight, int outWidth, float originY, float originX,
            Interpolation interpolation, int outside) {
        boolean isNearest = interpolation == Interpolation.NEAREST || canvas.isMask();
        fill = canvas.isMask() ? canvas.maskFill() : outside;
        channels = canvas.channels();
        byte[] target = canvas.spare(Math.multiplyExact(Math.multiplyExact(outHeight, outWidth), channels));
        int most = Math.max(1, BLOCK_PIXELS / outWidth);
        reserve(outWidth, most * outWidth);
        for (int x = 0; x < outWidth; x++) {
            across[x] = x - originX;
        }
        for (int y = 0; y < outHeight; y += most) {
            int blockRows = Math.min(most, outHeight - y);
            for (int k = 0; k < blockRows; k++) {
                place(y + k - originY, outWidth, k * outWidth);
            }
            int to = y * outWidth * channels;
            if (isNearest) {
                for (int i = 0; i < blockRows * outWidth; i++) {
                    nearest(i, target, to + i * channels);
                }
                continue;
            }
            if (values != null) {
                bilinear(values, blockRows * outWidth, target, to);
            } else if (height > 1 && width > 1) {
                bilinear(blockRows * outWidth, target, to);
            }
            for (int k = 0; k < blockRows; k++) {
                borders(k * outWidth, outWidth, target, to + k * outWidth * channels);
            }
        }
        canvas.replace(outHeight, outWidth);
    }

    private void reserve(int row, int block) {
        if (across.length < row) {
            across = new float[row];
            rowColumns = new float[row];
            rowRows = new float[row];
            divisors = new float[row];
        }
        if (columns.length < block) {
            columns = new float[block];
            rows = new float[block];
            right = new float[block];
            down = new float[block];
            at = new int[block];
            upperLeft = new int[block];
            upperRight = new int[block];
            lowerLeft = new int[block];
            lowerRight = new int[block];
            sums = new float[block];
            packed = new int[block];
        }
    }

    /** Computes the places of an output row. */
    private void place(float y, int length, int to) {
        line(across, map[0], map[1] * y, map[2], rowColumns, length);
        line(across, map[3], map[4] * y, map[5], rowRows, length);
        if (!isAffine) {
            line(across, map[6], map[7] * y, 1, divisors, length);
            divide(rowColumns, divisors, length);
            divide(rowRows, divisors, length);
        }
        System.arraycopy(rowColumns, 0, columns, to, length);
        System.arraycopy(rowRows, 0, rows, to, length);
    }

    private static void line(float[] x, float a, float b, float c, float[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = a * x[i] + b + c;
        }
    }

    private static void divide(float[] numbers, float[] divisors, int length) {
        for (int i = 0; i < length; i++) {
            numbers[i] = numbers[i] / divisors[i] - 0.5f;
        }
    }

    /** Halves are rounded to even. */
    private void nearest(int i, byte[] target, int to) {
        float row = rows[i];
        float column = columns[i];
        if (row > -1 && row < height && column > -1 && column < width) {
            int y = nearestInteger(row);
            int x = nearestInteger(column);
            if (y >= 0 && y < height && x >= 0 && x < width) {
                int from = (y * width + x) * channels;
                for (int c = 0; c < channels; c++) {
                    target[to + c] = pixels[from + c];
                }
                return;
            }
        }
        for (int c = 0; c < channels; c++) {
            target[to + c] = (byte) fill;
        }
    }

    /** Makes a block. Pixels that are not {@link #isInside} get any value. */
    private void bilinear(int count, byte[] target, int to) {
        corners(count);
        fractions(columns, right, count);
        fractions(rows, down, count);
        gather(pixels, at, channels, partWidth * channels, upperLeft, upperRight, lowerLeft, lowerRight, count);
        for (int shift = 0; shift < Byte.SIZE * channels; shift += Byte.SIZE) {
            upper(upperLeft, upperRight, right, down, shift, sums, count);
            lower(lowerLeft, lowerRight, right, down, sums, shift, packed, count);
        }
        spread(packed, target, to, channels, count);
    }

    /** Finds the upper left neighbor of each place, as if all were inside. */
    private void corners(int count) {
        corners(rows, columns, top, left, Math.max(partHeight - 2, 0), Math.max(partWidth - 2, 0), partWidth, at,
                count);
    }

    private static void corners(float[] rows, float[] columns, int top, int left, int lastRow, int lastColumn,
            int width, int[] at, int count) {
        for (int i = 0; i < count; i++) {
            at[i] = Math.max(Math.min((int) rows[i] - top, lastRow), 0) * width
                    + Math.max(Math.min((int) columns[i] - left, lastColumn), 0);
        }
    }

    private static void fractions(float[] numbers, float[] fractions, int count) {
        for (int i = 0; i < count; i++) {
            fractions[i] = numbers[i] - (int) numbers[i];
        }
    }

    /** Collects the four pixels at each corner, channel c in the bits from 8 c on. */
    private static void gather(byte[] pixels, int[] at, int channels, int rowBytes, int[] upperLeft, int[] upperRight,
            int[] lowerLeft, int[] lowerRight, int count) {
        int pixelBits = Byte.SIZE * channels;
        for (int i = 0; i < count; i++) {
            int from = at[i] * channels;
            long upper = (long) LONG_OF_BYTES.get(pixels, from);
            long lower = (long) LONG_OF_BYTES.get(pixels, from + rowBytes);
            upperLeft[i] = (int) upper;
            upperRight[i] = (int) (upper >>> pixelBits);
            lowerLeft[i] = (int) lower;
            lowerRight[i] = (int) (lower >>> pixelBits);
        }
    }

    private static void upper(int[] upperLeft, int[] upperRight, float[] right, float[] down, int shift, float[] sums,
            int count) {
        for (int i = 0; i < count; i++) {
            sums[i] = (1 - right[i]) * (1 - down[i]) * (upperLeft[i] >> shift & 0xFF)
                    + right[i] * (1 - down[i]) * (upperRight[i] >> shift & 0xFF);
        }
    }

    /** Adds the lower two neighbors, rounds, and puts the channel into its bits. The channels before it keep theirs. */
    private static void lower(int[] lowerLeft, int[] lowerRight, float[] right, float[] down, float[] sums, int shift,
            int[] packed, int count) {
        int before = (1 << shift) - 1;
        for (int i = 0; i < count; i++) {
            float sum = sums[i] + (1 - right[i]) * down[i] * (lowerLeft[i] >> shift & 0xFF)
                    + right[i] * down[i] * (lowerRight[i] >> shift & 0xFF);
            packed[i] = packed[i] & before | (int) (sum + TO_INTEGER - TO_INTEGER) << shift;
        }
    }

    /** Writes pixels one after another. Writing one overwrites some bytes after it, which the next one writes again. */
    private static void spread(int[] packed, byte[] target, int to, int channels, int count) {
        for (int i = 0; i < count; i++) {
            INT_OF_BYTES.set(target, to + i * channels, packed[i]);
        }
    }

    private void bilinear(float[] of, int count, byte[] target, int to) {
        corners(count);
        fractions(columns, right, count);
        fractions(rows, down, count);
        for (int i = 0; i < count; i++) {
            if (!isInside(i)) {
                continue;
            }
            float w = (1 - right[i]) * (1 - down[i]);
            float wRight = right[i] * (1 - down[i]);
            float wBelow = (1 - right[i]) * down[i];
            float wOpposite = right[i] * down[i];
            int from = at[i] * channels;
            int below = from + partWidth * channels;
            for (int c = 0; c < channels; c++) {
                target[to + i * channels + c] = rounded(w * of[from + c] + wRight * of[from + channels + c]
                        + wBelow * of[below + c] + wOpposite * of[below + channels + c]);
            }
        }
    }

    /** Tells whether all four pixels around a place are in the image. */
    private boolean isInside(int i) {
        return rows[i] >= 0 && rows[i] < height - 1 && columns[i] >= 0 && columns[i] < width - 1;
    }

    /** Makes the pixels of an output row that are not inside. If the map is affine, the pixels inside are one run. */
    private void borders(int first, int length, byte[] target, int to) {
        int low = 0;
        for (; low < length && !isInside(first + low); low++) {
            border(first + low, target, to + low * channels);
        }
        for (int x = length - 1; x > low; x--) {
            if (!isInside(first + x)) {
                border(first + x, target, to + x * channels);
            } else if (isAffine) {
                return;
            }
        }
    }

    /** Reads where some of the four pixels are outside the image: these have the fill's value. */
    private void border(int i, byte[] target, int to) {
        float row = rows[i];
        float column = columns[i];
        if (!(row > -1 && row < height && column > -1 && column < width)) {
            for (int c = 0; c < channels; c++) {
                target[to + c] = (byte) fill;
            }
            return;
        }
        int y = (int) Math.floor(row);
        int x = (int) Math.floor(column);
        float below = row - y;
        float beside = column - x;
        for (int c = 0; c < channels; c++) {
            float value = 0;
            float covered = 0;
            for (int tap = 0; tap < 4; tap++) {
                int tapX = x + (tap & 1);
                int tapY = y + (tap >> 1);
                if (tapX >= 0 && tapX < width && tapY >= 0 && tapY < height) {
                    float weight = ((tap & 1) == 0 ? 1 - beside : beside) * (tap < 2 ? 1 - below : below);
                    value += weight * value(((tapY - top) * partWidth + tapX - left) * channels + c);
                    covered += weight;
                }
            }
            target[to + c] = rounded(value + (1 - covered) * fill);
        }
    }

    private float value(int index) {
        return values != null ? values[index] : pixels[index] & 0xFF;
    }

    private static int nearestInteger(float value) {
        return Float.floatToRawIntBits(value + TO_INTEGER) - INTEGER_ZERO;
    }

    /** Rounds a value of 0 to 255 and a few units in the last place; halves go to even. */
    public static byte rounded(float value) {
        return (byte) Float.floatToRawIntBits(value + TO_INTEGER);
    }
}
