// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * Power spectra of real frames of one size, a frame a lane; for one thread. Two samples are packed as one complex
 * number, whose transform is decimated in time by the factors 4, 2, 3 and 5, and taken apart. A row has one number of
 * each frame; digit reversal permutes the rows' references.
 */
final class LaneFft {

    private static final int MOST = 1 << 16;

    private final int size;
    private final int half;
    /** The samples of a frame, in order; rows of {@link #re} and {@link #im}. */
    final float[][] input;
    /** The power of each frequency, from 0 to half the size; filled by {@link #transform}. */
    final float[][] power;
    private final float[][] re;
    private final float[][] im;
    private final Stage[] stages;
    private final int[] places;
    /** Cosine and sine of {@code 2 π k / size}. */
    private final float[] cos;
    private final float[] sin;

    /** A pass of butterflies: {@code twiddles} has cosine and sine of each leg but the first, for each {@code k}. */
    private record Stage(int radix, int step, float[] twiddles) {
    }

    /**
     * Prepares transforms.
     *
     * @throws IllegalArgumentException if the size is odd, over 65,536, or has prime factors above 5
     */
    LaneFft(int size) {
        this.size = size;
        half = size / 2;
        int[] radices = radices(size);
        re = new float[half][LaneSums.LANES];
        im = new float[half][LaneSums.LANES];
        power = new float[half + 1][LaneSums.LANES];
        input = new float[size][];
        places = new int[half];
        for (int i = 0; i < half; i++) {
            int at = reversed(i, radices);
            places[i] = at;
            input[2 * i] = re[at];
            input[2 * i + 1] = im[at];
        }
        stages = new Stage[radices.length];
        int step = 1;
        for (int s = radices.length - 1; s >= 0; s--) {
            stages[radices.length - 1 - s] = stage(radices[s], step);
            step *= radices[s];
        }
        cos = new float[half + 1];
        sin = new float[half + 1];
        for (int k = 0; k <= half; k++) {
            cos[k] = (float) StrictMath.cos(2 * Math.PI * k / size);
            sin[k] = (float) StrictMath.sin(2 * Math.PI * k / size);
        }
    }

    /** The radices of the passes, the last first. */
    private static int[] radices(int size) {
        int left = size / 2;
        int[] radices = new int[Integer.SIZE];
        int count = 0;
        for (int radix : new int[] {4, 5, 3, 2}) {
            while (left > 1 && left % radix == 0) {
                radices[count++] = radix;
                left /= radix;
            }
        }
        if (left != 1 || size % 2 != 0 || size > MOST) {
            throw new IllegalArgumentException("found a transform of " + size + ", expected an even number up to "
                    + MOST + " without prime factors above 5");
        }
        return Arrays.copyOf(radices, count);
    }

    /** Where a number stands whose subsequences, by the remainder of each radix, lie one behind the other. */
    private int reversed(int index, int[] radices) {
        int at = 0;
        int block = half;
        int rest = index;
        for (int radix : radices) {
            block /= radix;
            at += rest % radix * block;
            rest /= radix;
        }
        return at;
    }

    private static Stage stage(int radix, int step) {
        float[] twiddles = new float[step * (radix - 1) * 2];
        int at = 0;
        for (int k = 0; k < step; k++) {
            for (int leg = 1; leg < radix; leg++) {
                double angle = 2 * Math.PI * leg * k / (step * radix);
                twiddles[at++] = (float) StrictMath.cos(angle);
                twiddles[at++] = (float) StrictMath.sin(angle);
            }
        }
        return new Stage(radix, step, twiddles);
    }

    /** Computes {@link #power} of {@link #input}, which it overwrites. */
    void transform(int lanes) {
        for (Stage stage : stages) {
            for (int block = 0; block < half; block += stage.radix * stage.step) {
                for (int k = 0; k < stage.step; k++) {
                    butterfly(stage, block + k, k * (stage.radix - 1) * 2, lanes);
                }
            }
        }
        first(re[0], im[0], power[0], power[half], lanes);
        for (int k = 1; k <= half - k; k++) {
            pair(re[k], im[k], re[half - k], im[half - k], cos[k], sin[k], power[k], power[half - k], lanes);
        }
    }

    /** Appends what the kernel reads: where pairs of samples go, the twiddles of the passes, and the last turns. */
    void putTables(IntBuffer words) {
        words.put(places);
        for (Stage stage : stages) {
            LaneSums.put(words, stage.twiddles);
        }
        LaneSums.put(words, cos);
        LaneSums.put(words, sin);
    }

    private void butterfly(Stage stage, int at, int twiddle, int lanes) {
        int step = stage.step;
        float[] w = stage.twiddles;
        if (twiddle != 0) {
            for (int leg = 1; leg < stage.radix; leg++) {
                int of = twiddle + 2 * leg - 2;
                turn(re[at + leg * step], im[at + leg * step], w[of], w[of + 1], lanes);
            }
        }
        switch (stage.radix) {
            case 2 -> radix2(re[at], im[at], re[at + step], im[at + step], lanes);
            case 3 -> radix3(re[at], im[at], re[at + step], im[at + step], re[at + 2 * step], im[at + 2 * step], lanes);
            case 4 -> radix4(re[at], im[at], re[at + step], im[at + step], re[at + 2 * step], im[at + 2 * step],
                    re[at + 3 * step], im[at + 3 * step], lanes);
            default -> radix5(re[at], im[at], re[at + step], im[at + step], re[at + 2 * step], im[at + 2 * step],
                    re[at + 3 * step], im[at + 3 * step], re[at + 4 * step], im[at + 4 * step], lanes);
        }
    }

    /** Multiplies by {@code c - i s}. */
    private static void turn(float[] re, float[] im, float c, float s, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float r = re[l] * c + im[l] * s;
            im[l] = im[l] * c - re[l] * s;
            re[l] = r;
        }
    }

    private static void radix2(float[] ar, float[] ai, float[] br, float[] bi, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float r = ar[l] - br[l];
            float i = ai[l] - bi[l];
            ar[l] += br[l];
            ai[l] += bi[l];
            br[l] = r;
            bi[l] = i;
        }
    }

    private static void radix3(float[] ar, float[] ai, float[] br, float[] bi, float[] cr, float[] ci, int lanes) {
        final float sin60 = 0.8660254f;
        for (int l = 0; l < lanes; l++) {
            float sr = br[l] + cr[l];
            float si = bi[l] + ci[l];
            float dr = (br[l] - cr[l]) * sin60;
            float di = (bi[l] - ci[l]) * sin60;
            float mr = ar[l] - 0.5f * sr;
            float mi = ai[l] - 0.5f * si;
            ar[l] += sr;
            ai[l] += si;
            br[l] = mr + di;
            bi[l] = mi - dr;
            cr[l] = mr - di;
            ci[l] = mi + dr;
        }
    }

    private static void radix4(float[] ar, float[] ai, float[] br, float[] bi, float[] cr, float[] ci, float[] dr,
            float[] di, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float evenSumR = ar[l] + cr[l];
            float evenSumI = ai[l] + ci[l];
            float evenDifferenceR = ar[l] - cr[l];
            float evenDifferenceI = ai[l] - ci[l];
            float oddSumR = br[l] + dr[l];
            float oddSumI = bi[l] + di[l];
            float oddDifferenceR = br[l] - dr[l];
            float oddDifferenceI = bi[l] - di[l];
            ar[l] = evenSumR + oddSumR;
            ai[l] = evenSumI + oddSumI;
            br[l] = evenDifferenceR + oddDifferenceI;
            bi[l] = evenDifferenceI - oddDifferenceR;
            cr[l] = evenSumR - oddSumR;
            ci[l] = evenSumI - oddSumI;
            dr[l] = evenDifferenceR - oddDifferenceI;
            di[l] = evenDifferenceI + oddDifferenceR;
        }
    }

    private static void radix5(float[] ar, float[] ai, float[] br, float[] bi, float[] cr, float[] ci, float[] dr,
            float[] di, float[] er, float[] ei, int lanes) {
        final float quarterOfRoot5 = 0.559017f;
        final float sin72 = 0.95105654f;
        final float sin144 = 0.58778524f;
        for (int l = 0; l < lanes; l++) {
            float outerSumR = br[l] + er[l];
            float outerSumI = bi[l] + ei[l];
            float outerDifferenceR = br[l] - er[l];
            float outerDifferenceI = bi[l] - ei[l];
            float innerSumR = cr[l] + dr[l];
            float innerSumI = ci[l] + di[l];
            float innerDifferenceR = cr[l] - dr[l];
            float innerDifferenceI = ci[l] - di[l];
            float sumR = outerSumR + innerSumR;
            float sumI = outerSumI + innerSumI;
            float middleR = ar[l] - 0.25f * sumR;
            float middleI = ai[l] - 0.25f * sumI;
            float apartR = quarterOfRoot5 * (outerSumR - innerSumR);
            float apartI = quarterOfRoot5 * (outerSumI - innerSumI);
            float oneR = middleR + apartR;
            float oneI = middleI + apartI;
            float twoR = middleR - apartR;
            float twoI = middleI - apartI;
            float turnedOneR = sin72 * outerDifferenceI + sin144 * innerDifferenceI;
            float turnedOneI = sin72 * outerDifferenceR + sin144 * innerDifferenceR;
            float turnedTwoR = sin144 * outerDifferenceI - sin72 * innerDifferenceI;
            float turnedTwoI = sin144 * outerDifferenceR - sin72 * innerDifferenceR;
            ar[l] += sumR;
            ai[l] += sumI;
            br[l] = oneR + turnedOneR;
            bi[l] = oneI - turnedOneI;
            cr[l] = twoR + turnedTwoR;
            ci[l] = twoI - turnedTwoI;
            dr[l] = twoR - turnedTwoR;
            di[l] = twoI + turnedTwoI;
            er[l] = oneR - turnedOneR;
            ei[l] = oneI + turnedOneI;
        }
    }

    /** The power of frequency 0 and of the highest. */
    private static void first(float[] re, float[] im, float[] lowest, float[] highest, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float sum = re[l] + im[l];
            float difference = re[l] - im[l];
            lowest[l] = sum * sum;
            highest[l] = difference * difference;
        }
    }

    /** The power of frequency {@code k}, and of that as far from the highest. */
    private static void pair(float[] ar, float[] ai, float[] br, float[] bi, float c, float s, float[] near,
            float[] far, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float evenR = 0.5f * (ar[l] + br[l]);
            float evenI = 0.5f * (ai[l] - bi[l]);
            float oddR = 0.5f * (ai[l] + bi[l]);
            float oddI = 0.5f * (br[l] - ar[l]);
            float turnedR = oddR * c + oddI * s;
            float turnedI = oddI * c - oddR * s;
            float nearR = evenR + turnedR;
            float nearI = evenI + turnedI;
            float farR = evenR - turnedR;
            float farI = evenI - turnedI;
            near[l] = nearR * nearR + nearI * nearI;
            far[l] = farR * farR + farI * farI;
        }
    }

    @Override
    public String toString() {
        return "transform of " + size;
    }
}
