// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Resizes {@code u8} images with antialiasing, for one thread; reuses its buffers.
 *
 * <p>Rows are resized first, then columns; values in between are rounded to 8 bits. An output pixel {@code i} of
 * {@code n}, from {@code m} pixels, with {@code s = m / n} and {@code t = max(s, 1)}, weighs the input around
 * {@code c = (i + 0.5) s}: pixels {@code j} from {@code floor(c - r t + 0.5)} to below {@code floor(c + r t + 0.5)},
 * within the image, by {@code f((j - c + 0.5) / t)}, normalized to a sum of 1. With {@link Filter#BILINEAR}, {@code f}
 * is the triangle {@code 1 - |x|} and {@code r = 1}; with {@link Filter#BOX} it is 1 for {@code -0.5 < x <= 0.5}, and
 * {@code r = 0.5}; with {@link Filter#BICUBIC} it is Keys' cubic with {@code a = -0.5}, and {@code r = 2}. Weights are
 * rounded to 22 fractional bits and sums to the nearest integer, so the result does not
 * depend on the machine. It equals Pillow's {@code Image.resize}, and torchvision's on Pillow images.
 */
public final class Resizer {

    /** How input pixels are weighed. */
    public enum Filter {
        /** A triangle, two pixels wide, or wider by the reduction factor. */
        BILINEAR,
        /** The mean of the area under an output pixel. */
        BOX,
        /** A cubic, four pixels wide, or wider by the reduction factor; sharper, with overshoot at edges. */
        BICUBIC;

        private double reach() {
            return this == BOX ? 0.5 : this == BILINEAR ? 1 : 2;
        }

        private double weight(double x) {
            double distance = Math.abs(x);
            return switch (this) {
                case BILINEAR -> Math.max(1 - distance, 0);
                case BOX -> x > -0.5 && x <= 0.5 ? 1 : 0;
                case BICUBIC -> distance < 1 ? ((CUBIC + 2) * distance - (CUBIC + 3)) * distance * distance + 1
                        : distance < 2 ? (((distance - 5) * distance + 8) * distance - 4) * CUBIC : 0;
            };
        }
    }

    /** The parameter of Keys, "Cubic Convolution Interpolation for Digital Image Processing" (1981). */
    private static final double CUBIC = -0.5;
    private static final int WEIGHT_BITS = 22;
    private static final int HALF = 1 << WEIGHT_BITS - 1;

    private final Filter filter;
    private final Axis across;
    private final Axis down;
    private byte[] sourceRow = {};
    /** Input rows resized to the output's width, in order. */
    private byte[] narrowed = {};
    private int[] sums = {};
    private byte[] targetRow = {};

    /**
     * Creates a resizer.
     *
     * @param filter how input pixels are weighed
     */
    public Resizer(Filter filter) {
        this.filter = filter;
        this.across = new Axis();
        this.down = new Axis();
    }

    /**
     * Resizes an image and crops the result; computes only that part.
     *
     * @param source the image, height by width by channels, from its first byte on
     * @param sourceWidth pixels in a row
     * @param sourceHeight rows
     * @param channels bytes in a pixel
     * @param width pixels in a row of the resized image
     * @param height rows of the resized image
     * @param left the part's first column
     * @param top the part's first row
     * @param partWidth the part's columns
     * @param partHeight the part's rows
     * @param target the memory to write, {@code partHeight} by {@code partWidth} by {@code channels}
     * @param targetOffset the first byte to write
     */
    public void resize(MemorySegment source, int sourceWidth, int sourceHeight, int channels, int width, int height,
            int left, int top, int partWidth, int partHeight, MemorySegment target, long targetOffset) {
        across.set(filter, sourceWidth, width, left, partWidth);
        down.set(filter, sourceHeight, height, top, partHeight);
        int rowBytes = Math.multiplyExact(partWidth, channels);
        int sourceRowBytes = Math.multiplyExact(sourceWidth, channels);
        int firstRow = down.first[0];
        int rows = down.first[partHeight - 1] + down.count[partHeight - 1] - firstRow;
        sourceRow = atLeast(sourceRow, sourceRowBytes);
        narrowed = atLeast(narrowed, Math.multiplyExact(rows, rowBytes));
        for (int y = 0; y < rows; y++) {
            MemorySegment.copy(source, JAVA_BYTE, (long) (firstRow + y) * sourceRowBytes, sourceRow, 0,
                    sourceRowBytes);
            if (across.isIdentity) {
                System.arraycopy(sourceRow, left * channels, narrowed, y * rowBytes, rowBytes);
            } else if (channels == 3) {
                across.row3(sourceRow, narrowed, y * rowBytes, partWidth);
            } else {
                across.row(sourceRow, channels, narrowed, y * rowBytes, partWidth);
            }
        }
        if (sums.length < rowBytes) {
            sums = new int[rowBytes];
        }
        targetRow = atLeast(targetRow, rowBytes);
        for (int y = 0; y < partHeight; y++) {
            int from = (down.first[y] - firstRow) * rowBytes;
            if (down.isIdentity) {
                System.arraycopy(narrowed, from, targetRow, 0, rowBytes);
            } else {
                column(y, from, rowBytes);
            }
            MemorySegment.copy(targetRow, 0, target, JAVA_BYTE, targetOffset + (long) y * rowBytes, rowBytes);
        }
    }

    /** Computes an output row as the weighted sum of input rows, in loops that the JIT compiler vectorizes. */
    private void column(int y, int from, int rowBytes) {
        Arrays.fill(sums, 0, rowBytes, HALF);
        for (int k = 0; k < down.count[y]; k++) {
            accumulate(narrowed, from + k * rowBytes, down.weights[y * down.maxCount + k], sums, rowBytes);
        }
        round(sums, targetRow, rowBytes);
    }

    private static void accumulate(byte[] row, int from, int weight, int[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] += weight * (row[from + i] & 0xFF);
        }
    }

    private static void round(int[] sums, byte[] into, int length) {
        for (int i = 0; i < length; i++) {
            into[i] = rounded(sums[i]);
        }
    }

    /** Rounds a sum. Only a cubic has negative weights; the others' sums barely exceed 255. */
    private static byte rounded(int sum) {
        return (byte) Math.max(Math.min(sum >> WEIGHT_BITS, 255), 0);
    }

    private static byte[] atLeast(byte[] buffer, int bytes) {
        return buffer.length >= bytes ? buffer : new byte[bytes];
    }

    /** The weights of one direction, kept while sizes stay the same. */
    private static final class Axis {

        private int sourceSize;
        private int size;
        private int start;
        private int part;
        int[] first = {};
        int[] count = {};
        int[] weights = {};
        private double[] exact = {};
        int maxCount;
        boolean isIdentity;

        void set(Filter filter, int newSourceSize, int newSize, int newStart, int newPart) {
            if (sourceSize == newSourceSize && size == newSize && start == newStart && part == newPart) {
                return;
            }
            sourceSize = newSourceSize;
            size = newSize;
            start = newStart;
            part = newPart;
            isIdentity = sourceSize == size;
            double scale = (double) sourceSize / size;
            double stretch = Math.max(scale, 1);
            double reach = filter.reach() * stretch;
            maxCount = (int) Math.ceil(reach) * 2 + 1;
            if (first.length < part) {
                first = new int[part];
                count = new int[part];
            }
            int needed = Math.multiplyExact(part, maxCount);
            if (weights.length < needed) {
                weights = new int[needed];
            }
            if (exact.length < maxCount) {
                exact = new double[maxCount];
            }
            for (int i = 0; i < part; i++) {
                if (isIdentity) {
                    first[i] = start + i;
                    count[i] = 1;
                } else {
                    weigh(filter, i, (start + i + 0.5) * scale, reach, stretch);
                }
            }
        }

        private void weigh(Filter filter, int i, double center, double reach, double stretch) {
            int from = Math.max((int) (center - reach + 0.5), 0);
            int to = Math.min((int) (center + reach + 0.5), sourceSize);
            double inverse = 1 / stretch;
            double sum = 0;
            for (int k = 0; k < to - from; k++) {
                double x = (k + from - center + 0.5) * inverse;
                double weight = filter.weight(x);
                exact[k] = weight;
                sum += weight;
            }
            for (int k = 0; k < to - from; k++) {
                double weight = sum == 0 ? exact[k] : exact[k] / sum;
                weights[i * maxCount + k] = (int) (weight * (1 << WEIGHT_BITS) + (weight < 0 ? -0.5 : 0.5));
            }
            first[i] = from;
            count[i] = to - from;
        }

        void row3(byte[] source, byte[] target, int to, int pixels) {
            for (int i = 0; i < pixels; i++) {
                int red = HALF;
                int green = HALF;
                int blue = HALF;
                int from = 3 * first[i];
                int weight = i * maxCount;
                for (int k = 0; k < count[i]; k++) {
                    int w = weights[weight + k];
                    red += w * (source[from] & 0xFF);
                    green += w * (source[from + 1] & 0xFF);
                    blue += w * (source[from + 2] & 0xFF);
                    from += 3;
                }
                target[to++] = rounded(red);
                target[to++] = rounded(green);
                target[to++] = rounded(blue);
            }
        }

        void row(byte[] source, int channels, byte[] target, int to, int pixels) {
            for (int i = 0; i < pixels; i++) {
                for (int channel = 0; channel < channels; channel++) {
                    int sum = HALF;
                    for (int k = 0; k < count[i]; k++) {
                        sum += weights[i * maxCount + k] * (source[(first[i] + k) * channels + channel] & 0xFF);
                    }
                    target[to++] = rounded(sum);
                }
            }
        }
    }
}
