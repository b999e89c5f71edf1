// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * Weighted sums of rows, for all lanes at once. A row is an array of its own, and a loop uses the same index in all of
 * them: so C2 vectorizes it.
 */
final class LaneSums {

    /** Lanes of a block: enough that a loop's start costs little, and few enough that the rows stay in L2. */
    static final int LANES = 256;

    private LaneSums() {
    }

    /** Appends values as their bits. */
    static void put(IntBuffer words, float... values) {
        for (float value : values) {
            words.put(Float.floatToRawIntBits(value));
        }
    }

    /**
     * Computes {@code out = weights[from] · rows[first] + weights[from + 1] · rows[first + 1] + …}, in {@code f32}.
     * Groups of eight are summed as pairs of pairs of pairs, then groups of four, then single rows, each added to the
     * sum of those before.
     */
    static void weigh(float[][] rows, int first, float[] weights, int from, int count, float[] out, int lanes) {
        Arrays.fill(out, 0, lanes, 0);
        int i = 0;
        for (; i + 8 <= count; i += 8) {
            int r = first + i;
            int w = from + i;
            add8(out, rows[r], rows[r + 1], rows[r + 2], rows[r + 3], rows[r + 4], rows[r + 5], rows[r + 6],
                    rows[r + 7], weights, w, lanes);
        }
        if (i + 4 <= count) {
            int r = first + i;
            add4(out, rows[r], rows[r + 1], rows[r + 2], rows[r + 3], weights, from + i, lanes);
            i += 4;
        }
        for (; i < count; i++) {
            add(out, rows[first + i], weights[from + i], lanes);
        }
    }

    private static void add8(float[] out, float[] a, float[] b, float[] c, float[] d, float[] e, float[] f, float[] g,
            float[] h, float[] weights, int at, int lanes) {
        float wa = weights[at];
        float wb = weights[at + 1];
        float wc = weights[at + 2];
        float wd = weights[at + 3];
        float we = weights[at + 4];
        float wf = weights[at + 5];
        float wg = weights[at + 6];
        float wh = weights[at + 7];
        for (int l = 0; l < lanes; l++) {
            out[l] += ((wa * a[l] + wb * b[l]) + (wc * c[l] + wd * d[l]))
                    + ((we * e[l] + wf * f[l]) + (wg * g[l] + wh * h[l]));
        }
    }

    private static void add4(float[] out, float[] a, float[] b, float[] c, float[] d, float[] weights, int at,
            int lanes) {
        float wa = weights[at];
        float wb = weights[at + 1];
        float wc = weights[at + 2];
        float wd = weights[at + 3];
        for (int l = 0; l < lanes; l++) {
            out[l] += (wa * a[l] + wb * b[l]) + (wc * c[l] + wd * d[l]);
        }
    }

    private static void add(float[] out, float[] a, float weight, int lanes) {
        for (int l = 0; l < lanes; l++) {
            out[l] += weight * a[l];
        }
    }
}
