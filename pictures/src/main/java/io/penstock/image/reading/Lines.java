// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import java.util.Arrays;

/** Arrays of lines of pixels: kept for the next image, and transposed. */
final class Lines {

    /** Lines that are transposed at once. */
    static final int BLOCK = 8;

    private static final int[] NONE = {};
    private static final int LEAST = 64;

    /** Returns the same lines if they are enough and long enough, or more and longer ones. */
    static int[][] atLeast(int[][] lines, int count, int length) {
        int[][] more = lines;
        if (lines.length < count) {
            more = Arrays.copyOf(lines, powerOfTwo(count));
            Arrays.fill(more, lines.length, more.length, NONE);
        }
        for (int i = 0; i < count; i++) {
            if (more[i].length < length) {
                more[i] = new int[Math.max(LEAST, powerOfTwo(length))];
            }
        }
        return more;
    }

    /** Returns a size that soon suffices for all images. */
    private static int powerOfTwo(int size) {
        int power = Integer.highestOneBit(size);
        return power == size || power == 1 << 30 ? size : 2 * power;
    }

    /** Rounds up to whole blocks. */
    static int blocks(int count) {
        return (count + BLOCK - 1) / BLOCK * BLOCK;
    }

    /** Writes value i of line l to line i, as value {@code first + l}. */
    static void transpose(int[][] in, int lines, int length, int[][] out, int first) {
        int line = 0;
        for (; line + BLOCK <= lines; line += BLOCK) {
            transpose(in[line], in[line + 1], in[line + 2], in[line + 3], in[line + 4], in[line + 5], in[line + 6],
                    in[line + 7], length, out, first + line);
        }
        for (; line < lines; line++) {
            int[] one = in[line];
            for (int i = 0; i < length; i++) {
                out[i][first + line] = one[i];
            }
        }
    }

    /** Reads eight lines by turns, and writes as many neighbors. */
    private static void transpose(int[] a, int[] b, int[] c, int[] d, int[] e, int[] f, int[] g, int[] h, int length,
            int[][] out, int first) {
        for (int i = 0; i < length; i++) {
            int[] to = out[i];
            to[first] = a[i];
            to[first + 1] = b[i];
            to[first + 2] = c[i];
            to[first + 3] = d[i];
            to[first + 4] = e[i];
            to[first + 5] = f[i];
            to[first + 6] = g[i];
            to[first + 7] = h[i];
        }
    }
}
