// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * Power spectra of real frames of one size, a frame a lane; for one thread. Two samples are packed as one complex
 * number, whose transform is decimated in time by the factors 4, 5, 3 and 2, and taken apart.
 *
 * <p>A row has one number of each frame. The passes but the last find the rows of a group in one array, because the
 * butterflies of a group have the same twiddles: a loop over several rows costs less than several loops. They leave the
 * digits of the groups' numbers reversed; the last pass puts rows in order.
 */
final class LaneFft {

    private static final int MOST = 1 << 16;

    private final int size;
    private final int half;
    /** The power of each frequency, from 0 to half the size; filled by {@link #transform}. */
    final float[][] power;
    /** How many rows a group has: the radix of the last pass. */
    private final int rows;
    private final float[][] groupRe;
    private final float[][] groupIm;
    /** The frequency of each group's first row, when the passes but the last are done. */
    private final int[] frequencies;
    private final float[][] re;
    private final float[][] im;
    private final Stage[] stages;
    /** Where pairs of samples stand if no row is moved between passes. */
    private final int[] places;
    /** Cosine and sine of {@code 2 π k / size}. */
    private final float[] cos;
    private final float[] sin;

    /**
     * A pass of butterflies.
     *
     * @param radix the legs of a butterfly
     * @param step how many frequencies the transforms have that it joins
     * @param twiddles cosine and sine of each leg but the first, for each frequency {@code k}
     * @param order the frequency of each {@code k} whose digits are reversed
     */
    private record Stage(int radix, int step, float[] twiddles, int[] order) {
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
        rows = radices.length == 0 ? 1 : radices[0];
        groupRe = new float[half / rows][rows * LaneSums.LANES];
        groupIm = new float[half / rows][rows * LaneSums.LANES];
        re = new float[half][LaneSums.LANES];
        im = new float[half][LaneSums.LANES];
        power = new float[half + 1][LaneSums.LANES];
        places = new int[half];
        for (int i = 0; i < half; i++) {
            places[i] = reversed(i, half, radices);
        }
        stages = new Stage[radices.length];
        int[] order = {0};
        for (int s = 0; s < stages.length; s++) {
            int radix = radices[stages.length - 1 - s];
            stages[s] = stage(radix, order);
            order = s == stages.length - 1 ? order : followed(order, radix);
        }
        frequencies = order;
        cos = new float[half + 1];
        sin = new float[half + 1];
        for (int k = 0; k <= half; k++) {
            cos[k] = (float) StrictMath.cos(2 * Math.PI * k / size);
            sin[k] = (float) StrictMath.sin(2 * Math.PI * k / size);
        }
    }

    /** The order behind a pass: each frequency is followed by those of its other legs. */
    private static int[] followed(int[] order, int radix) {
        int[] next = new int[order.length * radix];
        for (int i = 0; i < next.length; i++) {
            next[i] = order[i / radix] + i % radix * order.length;
        }
        return next;
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
    private static int reversed(int index, int half, int[] radices) {
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

    private static Stage stage(int radix, int[] order) {
        int step = order.length;
        float[] twiddles = new float[step * (radix - 1) * 2];
        int at = 0;
        for (int k = 0; k < step; k++) {
            for (int leg = 1; leg < radix; leg++) {
                double angle = 2 * Math.PI * leg * k / (step * radix);
                twiddles[at++] = (float) StrictMath.cos(angle);
                twiddles[at++] = (float) StrictMath.sin(angle);
            }
        }
        return new Stage(radix, step, twiddles, order);
    }

    /**
     * Gives sample {@code n} of all frames.
     *
     * @param n its number in the frame
     * @param from has it, of one frame after the other
     * @param first of the first frame
     * @param weight what it is multiplied by
     * @param lanes how many frames there are, the same for all samples
     */
    void put(int n, float[] from, int first, float weight, int lanes) {
        float[] group = group(n);
        int at = n / 2 % rows * lanes;
        System.arraycopy(from, first, group, at, lanes);
        if (weight != 1) {
            multiply(group, at, at + lanes, weight);
        }
    }

    private static void multiply(float[] values, int from, int to, float by) {
        for (int i = from; i < to; i++) {
            values[i] *= by;
        }
    }

    /** Says that sample {@code n} of all frames is 0. */
    void putZeros(int n, int lanes) {
        int at = n / 2 % rows * lanes;
        Arrays.fill(group(n), at, at + lanes, 0);
    }

    private float[] group(int n) {
        return (n % 2 == 0 ? groupRe : groupIm)[n / 2 / rows];
    }

    /** Computes {@link #power} of the samples that were given, which it overwrites. */
    void transform(int lanes) {
        int last = stages.length - 1;
        for (int s = 0; s < last; s++) {
            Stage stage = stages[s];
            int step = groupRe.length / (stage.step * stage.radix);
            for (int k = 0; k < stage.step; k++) {
                for (int group = 0; group < step; group++) {
                    butterfly(stage, stage.order[k], groupRe, groupIm, k * stage.radix * step + group, step,
                            rows * lanes);
                }
            }
        }
        int step = groupRe.length;
        for (int group = 0; group < step; group++) {
            int k = frequencies[group];
            for (int leg = 0; leg < rows; leg++) {
                System.arraycopy(groupRe[group], leg * lanes, re[k + leg * step], 0, lanes);
                System.arraycopy(groupIm[group], leg * lanes, im[k + leg * step], 0, lanes);
            }
            if (last >= 0) {
                butterfly(stages[last], k, re, im, k, step, lanes);
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

    /** Joins rows that are {@code step} apart, the first at {@code at}, by the twiddles of frequency {@code k}. */
    private static void butterfly(Stage stage, int k, float[][] re, float[][] im, int at, int step, int lanes) {
        int radix = stage.radix;
        if (k != 0) {
            float[] w = stage.twiddles;
            for (int leg = 1; leg < radix; leg++) {
                int of = (k * (radix - 1) + leg - 1) * 2;
                turn(re[at + leg * step], im[at + leg * step], w[of], w[of + 1], lanes);
            }
        }
        switch (radix) {
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

    /** In steps, because C2 does not vectorize a loop as long as all. */
    private static void radix5(float[] ar, float[] ai, float[] br, float[] bi, float[] cr, float[] ci, float[] dr,
            float[] di, float[] er, float[] ei, int lanes) {
        sums5(ar, br, cr, dr, er, lanes);
        sums5(ai, bi, ci, di, ei, lanes);
        join(br, bi, er, ei, lanes);
        join(cr, ci, dr, di, lanes);
    }

    /** Of one part of five numbers: the sum of all; of legs as far from the first, sums and differences. */
    private static void sums5(float[] a, float[] b, float[] c, float[] d, float[] e, int lanes) {
        final float quarterOfRoot5 = 0.559017f;
        final float sin72 = 0.95105654f;
        final float sin144 = 0.58778524f;
        for (int l = 0; l < lanes; l++) {
            float outerSum = b[l] + e[l];
            float outerDifference = b[l] - e[l];
            float innerSum = c[l] + d[l];
            float innerDifference = c[l] - d[l];
            float sum = outerSum + innerSum;
            float middle = a[l] - 0.25f * sum;
            float apart = quarterOfRoot5 * (outerSum - innerSum);
            a[l] += sum;
            b[l] = middle + apart;
            c[l] = middle - apart;
            d[l] = sin144 * outerDifference - sin72 * innerDifference;
            e[l] = sin72 * outerDifference + sin144 * innerDifference;
        }
    }

    /** Replaces {@code a} and {@code b} by {@code a - i b} and {@code a + i b}. */
    private static void join(float[] ar, float[] ai, float[] br, float[] bi, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float r = ar[l] - bi[l];
            float i = ai[l] + br[l];
            ar[l] += bi[l];
            ai[l] -= br[l];
            br[l] = r;
            bi[l] = i;
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
