// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Range;
import io.penstock.memory.DType;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Smooths with a normal distribution: torchvision's GaussianBlur. The image is mirrored at the centers of its outermost
 * pixels. Columns are summed first, then rows, in f32; the result is rounded once.
 *
 * @param size the pixels of the kernel in one direction, odd
 * @param sigma the standard deviation in pixels, positive
 */
public record GaussianBlur(int size, Range sigma) implements Step {

    private static final Form FORM = Form.of("gaussianBlur").with(DType.F64, "sigma");

    public static final Range SIGMA = Range.of(0.1, 2);

    public GaussianBlur {
        sigma.checkPositive("sigma");
        if (size < 1 || size % 2 == 0) {
            throw new IllegalArgumentException("a kernel of " + size + " pixels, expected an odd number");
        }
    }

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public Size check(Size image, int channels) {
        checkMirrors(image.height(), image.width());
        return image;
    }

    /** Checks that an image is large enough to be mirrored. That of a file may have any size. */
    private void checkMirrors(int height, int width) {
        if (Math.min(height, width) <= size / 2) {
            throw new IllegalArgumentException(this + " of images of " + height + " x " + width
                    + ", expected sides of at least " + (size / 2 + 1));
        }
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = Distributions.uniform(random, sigma);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.BLUR, 0, 0, size), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        checkMirrors(canvas.height(), canvas.width());
        Step.checkParameter("sigma", values[at], Double.MIN_VALUE, Double.MAX_VALUE);
        smooth(canvas, size, values[at]);
    }

    /** Smooths an image. */
    public static void smooth(Canvas canvas, int size, double sigma) {
        int height = canvas.height();
        int channels = canvas.channels();
        int rowBytes = canvas.width() * channels;
        int reach = size / 2;
        int side = reach * channels;
        Workspace work = canvas.work();
        float[] weights = work.floats(0, size);
        weigh(size, sigma, weights);
        float[] column = work.floats(1, rowBytes);
        float[] sums = work.floats(2, rowBytes + 2 * side);
        float[] smooth = work.floats(3, rowBytes);
        byte[] pixels = canvas.pixels();
        byte[] target = canvas.spare(canvas.byteCount());
        int loaded = 0;
        for (int y = 0; y < height; y++) {
            for (; loaded <= Math.min(y + reach, height - 1); loaded++) {
                Workspace.toFloats(pixels, loaded * rowBytes, work.row(loaded % size, rowBytes), rowBytes);
            }
            Arrays.fill(column, 0, rowBytes, 0);
            for (int k = 0; k < size; k++) {
                add(work.row(mirrored(y + k - reach, height) % size, rowBytes), weights[k], column, rowBytes);
            }
            System.arraycopy(column, 0, sums, side, rowBytes);
            for (int x = 1; x <= reach; x++) {
                for (int c = 0; c < channels; c++) {
                    sums[side - x * channels + c] = sums[side + x * channels + c];
                    sums[side + rowBytes + (x - 1) * channels + c] = sums[side + rowBytes - (x + 1) * channels + c];
                }
            }
            Arrays.fill(smooth, 0, rowBytes, 0);
            for (int k = 0; k < size; k++) {
                System.arraycopy(sums, k * channels, column, 0, rowBytes);
                add(column, weights[k], smooth, rowBytes);
            }
            round(smooth, target, y * rowBytes, rowBytes);
        }
        canvas.replace(height, canvas.width());
    }

    /** Computes the weights in binary64, and rounds them to f32. */
    private static void weigh(int size, double deviation, float[] weights) {
        double sum = 0;
        for (int k = 0; k < size; k++) {
            sum += weight(k, size, deviation);
        }
        for (int k = 0; k < size; k++) {
            weights[k] = (float) (weight(k, size, deviation) / sum);
        }
    }

    private static double weight(int k, int size, double deviation) {
        double distance = (k - size / 2) / deviation;
        return Series.exp(-0.5 * distance * distance);
    }

    private static int mirrored(int i, int n) {
        return i < 0 ? -i : i < n ? i : 2 * n - 2 - i;
    }

    /** Uses one index for both arrays, or the compiler would not vectorize the loop. */
    private static void add(float[] row, float weight, float[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] += weight * row[i];
        }
    }

    private static void round(float[] values, byte[] target, int to, int length) {
        for (int i = 0; i < length; i++) {
            target[to + i] = Warp.rounded(values[i]);
        }
    }

    @Override
    public String toString() {
        return "gaussianBlur(" + size + ", sigma " + sigma + ")";
    }
}
