// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * Changes of an image's colors, equal to torchvision's on {@code u8} tensors bit for bit.
 *
 * <p>Arithmetic is in f32 in the written order. {@link Math#fma} stands where torchvision fuses a product and a sum;
 * results are clamped to 0 to 255 and truncated, as there.
 */
public final class ColorChanges {

    public static final float RED = 0.2989f;
    static final float GREEN = 0.587f;
    static final float BLUE = 0.114f;
    public static final float ONE_255TH = (float) (1.0 / 255);
    static final float ONE_SIXTH = (float) (1.0 / 6);
    private static final float ONE_THIRTEENTH = (float) (1.0 / 13);
    private static final int ROWS = 3;
    /** What torchvision multiplies by before it truncates to u8. */
    public static final float TO_U8 = (float) (255 + 1.0 - 1e-3);

    /** The luminance of an RGB pixel, which starts at an index. */
    private static float gray(byte[] pixels, int at) {
        return RED * (pixels[at] & 0xFF) + GREEN * (pixels[at + 1] & 0xFF) + BLUE * (pixels[at + 2] & 0xFF);
    }

    private static byte truncated(float value) {
        return (byte) (int) Math.clamp(value, 0f, 255f);
    }

    public static void brightness(Canvas canvas, double factor) {
        float f = (float) factor;
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            table[i] = truncated(i * f);
        }
        canvas.map(table);
    }

    /** Blends with the mean luminance, whose sum is exact. */
    public static void contrast(Canvas canvas, double factor) {
        byte[] pixels = canvas.pixels();
        int bytes = canvas.byteCount();
        long sum = 0;
        if (canvas.channels() == 3) {
            for (int i = 0; i < bytes; i += 3) {
                sum += (int) gray(pixels, i);
            }
        } else {
            for (int i = 0; i < bytes; i++) {
                sum += pixels[i] & 0xFF;
            }
        }
        float mean = (float) sum / ((float) canvas.height() * canvas.width());
        float f = (float) factor;
        float rest = (float) (1 - factor);
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            table[i] = truncated(i * f + rest * mean);
        }
        canvas.map(table);
    }

    /** Blends with the luminance. Leaves gray images as they are. */
    public static void saturation(Canvas canvas, double factor) {
        change(canvas, Planes.Change.SATURATION, factor);
    }

    private static void change(Canvas canvas, Planes.Change change, double amount) {
        if (canvas.channels() == 3) {
            canvas.work().planes().add(change, amount);
            canvas.work().planes().run(canvas);
        }
    }

    /** Sets all channels to the luminance. Leaves gray images as they are. */
    public static void grayscale(Canvas canvas) {
        if (canvas.channels() != 3) {
            return;
        }
        byte[] pixels = canvas.pixels();
        int bytes = canvas.byteCount();
        for (int i = 0; i < bytes; i += 3) {
            byte gray = (byte) (int) gray(pixels, i);
            pixels[i] = gray;
            pixels[i + 1] = gray;
            pixels[i + 2] = gray;
        }
    }

    /** Keeps the highest bits of each value. */
    public static void posterize(Canvas canvas, int bits) {
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            table[i] = (byte) (i & 0xFF00 >> bits);
        }
        canvas.map(table);
    }

    /** Inverts values from the threshold on. */
    public static void solarize(Canvas canvas, double threshold) {
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            table[i] = (byte) (i >= (float) threshold ? 255 - i : i);
        }
        canvas.map(table);
    }

    /** Stretches each channel to 0 to 255, unless it has one value only. */
    public static void autocontrast(Canvas canvas) {
        byte[] table = canvas.work().table();
        for (int c = 0; c < canvas.channels(); c++) {
            int[] count = canvas.histogram(c);
            int min = 0;
            while (count[min] == 0) {
                min++;
            }
            int max = 255;
            while (count[max] == 0) {
                max--;
            }
            if (min < max) {
                float scale = (max - min) * ONE_255TH;
                for (int i = min; i <= max; i++) {
                    table[i] = truncated((i - min) / scale);
                }
                canvas.map(c, table);
            }
        }
    }

    /** Equalizes each channel's histogram, by Pillow's table. */
    public static void equalize(Canvas canvas) {
        byte[] table = canvas.work().table();
        int pixels = canvas.height() * canvas.width();
        for (int c = 0; c < canvas.channels(); c++) {
            int[] count = canvas.histogram(c);
            int max = 255;
            while (count[max] == 0) {
                max--;
            }
            int step = (pixels - count[max]) / 255;
            if (step > 0) {
                int below = step / 2;
                for (int i = 0; i < table.length; i++) {
                    table[i] = (byte) Math.min(below / step, 255);
                    below += count[i];
                }
                canvas.map(c, table);
            }
        }
    }

    /**
     * Blends with a smoothed image. The outermost pixels stay, and so do images of less than 3 pixels a side.
     *
     * @param rest the smoothed image's weight: 1 less the factor
     */
    public static void sharpen(Canvas canvas, float rest) {
        int height = canvas.height();
        int width = canvas.width();
        if (height < 3 || width < 3) {
            return;
        }
        int channels = canvas.channels();
        int rowBytes = width * channels;
        byte[] pixels = canvas.pixels();
        byte[] target = canvas.spare(canvas.byteCount());
        System.arraycopy(pixels, 0, target, 0, canvas.byteCount());
        Workspace work = canvas.work();
        float[] columns = work.floats(0, rowBytes);
        float[] left = work.floats(1, rowBytes);
        float[] right = work.floats(2, rowBytes);
        float[] sharp = work.floats(3, rowBytes);
        Workspace.toFloats(pixels, 0, work.row(0, rowBytes), rowBytes);
        Workspace.toFloats(pixels, rowBytes, work.row(1, rowBytes), rowBytes);
        for (int y = 1; y < height - 1; y++) {
            Workspace.toFloats(pixels, (y + 1) * rowBytes, work.row((y + 1) % ROWS, rowBytes), rowBytes);
            add(work.row(0, rowBytes), work.row(1, rowBytes), work.row(2, rowBytes), rowBytes, columns);
            System.arraycopy(columns, 0, left, channels, rowBytes - channels);
            System.arraycopy(columns, channels, right, 0, rowBytes - channels);
            sharpen(work.row(y % ROWS, rowBytes), columns, left, right, rowBytes, rest, sharp);
            for (int i = channels; i < rowBytes - channels; i++) {
                target[y * rowBytes + i] = (byte) (int) sharp[i];
            }
        }
        canvas.replace(height, width);
    }

    private static void add(float[] above, float[] row, float[] below, int length, float[] sums) {
        for (int i = 0; i < length; i++) {
            sums[i] = above[i] + row[i] + below[i];
        }
    }

    /** A thirteenth of the sum is rounded exactly: it is never near a half. */
    private static void sharpen(float[] row, float[] columns, float[] left, float[] right, int length, float rest,
            float[] sharp) {
        for (int i = 0; i < length; i++) {
            float sum = 4 * row[i] + left[i] + columns[i] + right[i];
            float smooth = (int) (sum * ONE_THIRTEENTH + 0.5f);
            sharp[i] = Math.min(Math.max((int) Math.fma(rest, smooth - row[i], row[i]), 0), 255);
        }
    }
}
