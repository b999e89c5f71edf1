// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Range;
import io.penstock.memory.DType;
import io.penstock.sampling.KeyedRandom;
import java.util.random.RandomGenerator;

/**
 * Adds a normally distributed number to every value: torchvision's GaussianNoise with a mean of 0.
 *
 * <p>The parameters are the deviation and a key. The key seeds a counter: any value's noise can be computed alone, from
 * its place, in integers and by a table. So a kernel computes the same.
 *
 * @param sigma the standard deviation, as a share of 255
 */
public record GaussianNoise(Range sigma) implements Step {

    private static final Form FORM = Form.of("gaussianNoise").with(DType.F64, "sigma", "key");

    /** Keys are whole numbers below 2^53, so that a double holds them. */
    private static final int KEY_SHIFT = 11;
    private static final int TABLE_BITS = 12;
    private static final int DRAW_BITS = 16;
    private static final int DRAWS_PER_WORD = Long.SIZE / DRAW_BITS;
    /** The noise of deviation 1 for each value of a draw's highest bits. */
    private static final float[] NORMAL = Distributions.normalTable(1 << TABLE_BITS);

    public GaussianNoise {
        if (sigma.low() < 0 || sigma.high() > 1) {
            throw new IllegalArgumentException("sigma " + sigma + ", expected 0 to 1");
        }
    }

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = Distributions.uniform(random, sigma);
        values[at + 1] = random.nextLong() >>> KEY_SHIFT;
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(PixelOp.of(PixelOp.Kind.NOISE), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        Step.checkParameter("sigma", values[at], 0, 1);
        Step.checkParameter("key", values[at + 1], 0, 0x1p53);
        add(canvas, values[at], values[at + 1]);
    }

    /** Returns a copy of the table of normal numbers. */
    public static float[] normals() {
        return NORMAL.clone();
    }

    /** Adds noise to an image. */
    public static void add(Canvas canvas, double sigma, double sequence) {
        float deviation = (float) (sigma * 255);
        long key = (long) sequence;
        byte[] pixels = canvas.pixels();
        int bytes = canvas.byteCount();
        for (int i = 0; i < bytes; i += DRAWS_PER_WORD) {
            long word = KeyedRandom.word(key, i / DRAWS_PER_WORD);
            int end = Math.min(i + DRAWS_PER_WORD, bytes);
            for (int k = i; k < end; k++) {
                float value = (pixels[k] & 0xFF)
                        + deviation * NORMAL[(int) (word >>> DRAW_BITS - TABLE_BITS) & (1 << TABLE_BITS) - 1];
                pixels[k] = Warp.rounded(Math.min(Math.max(value, 0f), 255f));
                word >>>= DRAW_BITS;
            }
        }
    }

    @Override
    public String toString() {
        return "gaussianNoise(sigma " + sigma + ")";
    }
}
