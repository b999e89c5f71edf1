// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import java.util.Arrays;

/**
 * Weighs lines of pixels: an output line is the rounded weighted sum of consecutive input lines, as a
 * {@link ResizeAxis} has it. Lines come one after the other; those that are still needed wait in a ring.
 *
 * <p>Each channel of a line is an {@code int[]} of its own, so that all loops read and write arrays at the same index.
 * The JIT compiler vectorizes only such loops: it does not know whether arrays are the same, and then compares nothing
 * but the indexes. Nor does it vectorize conversions of {@code u8}.
 */
final class LineBlend {

    private static final int HALF = 1 << ResizeAxis.WEIGHT_BITS - 1;

    @SuppressWarnings("NullAway.Init")
    private ResizeAxis axis;
    private int channels;
    private int length;
    /** The lines of the ring less 1; their number is a power of two. */
    private int mask;
    /** The channels of each line. */
    private int[][] ring = {};
    private int[][] blended = {};
    private int line;
    private int made;

    /** Starts with the first line that is needed. */
    void start(ResizeAxis by, int channelCount, int lineLength) {
        axis = by;
        channels = channelCount;
        length = lineLength;
        line = by.low();
        made = 0;
        int lines = Integer.highestOneBit(by.maxCount) * 2;
        mask = lines - 1;
        ring = Lines.atLeast(ring, lines * channels, length);
        blended = Lines.atLeast(blended, channels, length);
    }

    /** Takes the next line: packed pixels, channel c in the bits from 8 c on. */
    void add(int[] packed) {
        int to = (line++ & mask) * channels;
        for (int c = 0; c < channels; c++) {
            unpack(packed, 8 * c, ring[to + c], length);
        }
    }

    boolean isReady() {
        return made < axis.part && axis.first[made] + axis.count[made] <= line;
    }

    int next() {
        return made;
    }

    /** Returns the channels of the next output; valid until the next call. */
    int[][] blend() {
        int at = axis.first[made];
        int count = axis.count[made];
        int weight = made * axis.maxCount;
        made++;
        for (int c = 0; c < channels; c++) {
            if (axis.isIdentity) {
                System.arraycopy(in(at, c), 0, blended[c], 0, length);
            } else {
                blend(c, at, count, weight, blended[c]);
            }
        }
        return blended;
    }

    private int[] in(int of, int channel) {
        return ring[(of & mask) * channels + channel];
    }

    private void blend(int c, int at, int count, int weight, int[] out) {
        int[] w = axis.weights;
        switch (count) {
            case 1 -> two(in(at, c), in(at, c), w[weight], 0, out, length);
            case 2 -> two(in(at, c), in(at + 1, c), w[weight], w[weight + 1], out, length);
            case 3 -> three(in(at, c), in(at + 1, c), in(at + 2, c), w[weight], w[weight + 1], w[weight + 2], out,
                    length);
            case 4 -> four(in(at, c), in(at + 1, c), in(at + 2, c), in(at + 3, c), w[weight], w[weight + 1],
                    w[weight + 2], w[weight + 3], out, length);
            default -> many(c, at, count, weight, out);
        }
        if (axis.mayOverflow) {
            clamp(out, length);
        }
    }

    private void many(int c, int at, int count, int weight, int[] out) {
        int[] w = axis.weights;
        Arrays.fill(out, 0, length, HALF);
        int k = 0;
        for (; k + 3 <= count; k += 3) {
            addThree(in(at + k, c), in(at + k + 1, c), in(at + k + 2, c), w[weight + k], w[weight + k + 1],
                    w[weight + k + 2], out, length);
        }
        for (; k < count; k++) {
            addOne(in(at + k, c), w[weight + k], out, length);
        }
        shift(out, length);
    }

    private static void unpack(int[] packed, int shift, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = packed[i] >> shift & 0xFF;
        }
    }

    private static void two(int[] a, int[] b, int wa, int wb, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = HALF + wa * a[i] + wb * b[i] >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void three(int[] a, int[] b, int[] c, int wa, int wb, int wc, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = HALF + wa * a[i] + wb * b[i] + wc * c[i] >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void four(int[] a, int[] b, int[] c, int[] d, int wa, int wb, int wc, int wd, int[] out,
            int length) {
        for (int i = 0; i < length; i++) {
            out[i] = HALF + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i] >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void addThree(int[] a, int[] b, int[] c, int wa, int wb, int wc, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] += wa * a[i] + wb * b[i] + wc * c[i];
        }
    }

    private static void addOne(int[] a, int wa, int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] += wa * a[i];
        }
    }

    private static void shift(int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] >>= ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void clamp(int[] out, int length) {
        for (int i = 0; i < length; i++) {
            out[i] = Math.max(0, Math.min(255, out[i]));
        }
    }
}
