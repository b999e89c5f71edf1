// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * Weighs lines of pixels: an output line is the rounded weighted sum of consecutive input lines, as a
 * {@link ResizeAxis} has it. Lines come one after the other; those that are still needed wait in a ring.
 *
 * <p>Everything is {@code int[]}, and each loop reads one array and writes another at offsets that are parameters: such
 * loops the JIT compiler vectorizes. It does not vectorize conversions of {@code u8}.
 */
final class LineBlend {

    private static final int HALF = 1 << ResizeAxis.WEIGHT_BITS - 1;

    @SuppressWarnings("NullAway.Init")
    private ResizeAxis axis;
    private int channels;
    private int length;
    /** The lines of the ring less 1; their number is a power of two. */
    private int mask;
    /** For each line and channel, the values. */
    private int[] ring = {};
    private int[] planes = {};
    /** The input line that comes next. */
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
        int needed = Math.multiplyExact(lines * channels, length);
        if (ring.length < needed) {
            ring = new int[needed];
        }
        if (planes.length < channels * length) {
            planes = new int[channels * length];
        }
    }

    /** Takes the next line: packed pixels, channel c in the bits from 8 c on. */
    void add(int[] packed, int from) {
        int to = (line++ & mask) * channels * length;
        for (int c = 0; c < channels; c++) {
            unpack(packed, from, 8 * c, ring, to + c * length, length);
        }
    }

    /** Tells whether all lines of the next output are there. */
    boolean isReady() {
        return made < axis.part && axis.first[made] + axis.count[made] <= line;
    }

    /** The number of the next output. */
    int next() {
        return made;
    }

    /** Returns the values of the next output, channel by channel; valid until the next call. */
    int[] blend() {
        int at = axis.first[made];
        int count = axis.count[made];
        int weight = made * axis.maxCount;
        made++;
        for (int c = 0; c < channels; c++) {
            if (axis.isIdentity) {
                System.arraycopy(ring, offset(at, c), planes, c * length, length);
            } else {
                blend(c, at, count, weight);
            }
        }
        return planes;
    }

    private int offset(int of, int channel) {
        return ((of & mask) * channels + channel) * length;
    }

    private void blend(int c, int at, int count, int weight) {
        int[] w = axis.weights;
        int to = c * length;
        switch (count) {
            case 1 -> two(ring, offset(at, c), offset(at, c), w[weight], 0, planes, to, length);
            case 2 -> two(ring, offset(at, c), offset(at + 1, c), w[weight], w[weight + 1], planes, to, length);
            case 3 -> three(ring, offset(at, c), offset(at + 1, c), offset(at + 2, c), w[weight], w[weight + 1],
                    w[weight + 2], planes, to, length);
            case 4 -> four(ring, offset(at, c), offset(at + 1, c), offset(at + 2, c), offset(at + 3, c), w[weight],
                    w[weight + 1], w[weight + 2], w[weight + 3], planes, to, length);
            default -> many(c, at, count, weight);
        }
        if (axis.mayOverflow) {
            clamp(planes, to, length);
        }
    }

    private void many(int c, int at, int count, int weight) {
        int[] w = axis.weights;
        int to = c * length;
        java.util.Arrays.fill(planes, to, to + length, HALF);
        int k = 0;
        for (; k + 3 <= count; k += 3) {
            addThree(ring, offset(at + k, c), offset(at + k + 1, c), offset(at + k + 2, c), w[weight + k],
                    w[weight + k + 1], w[weight + k + 2], planes, to, length);
        }
        for (; k < count; k++) {
            addOne(ring, offset(at + k, c), w[weight + k], planes, to, length);
        }
        shift(planes, to, length);
    }

    private static void unpack(int[] packed, int from, int shift, int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] = packed[from + i] >> shift & 0xFF;
        }
    }

    private static void two(int[] in, int a, int b, int wa, int wb, int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] = HALF + wa * in[a + i] + wb * in[b + i] >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void three(int[] in, int a, int b, int c, int wa, int wb, int wc, int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] = HALF + wa * in[a + i] + wb * in[b + i] + wc * in[c + i] >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void four(int[] in, int a, int b, int c, int d, int wa, int wb, int wc, int wd, int[] out, int to,
            int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] = HALF + wa * in[a + i] + wb * in[b + i] + wc * in[c + i] + wd * in[d + i]
                    >> ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void addThree(int[] in, int a, int b, int c, int wa, int wb, int wc, int[] out, int to,
            int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] += wa * in[a + i] + wb * in[b + i] + wc * in[c + i];
        }
    }

    private static void addOne(int[] in, int a, int wa, int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] += wa * in[a + i];
        }
    }

    private static void shift(int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] >>= ResizeAxis.WEIGHT_BITS;
        }
    }

    private static void clamp(int[] out, int to, int length) {
        for (int i = 0; i < length; i++) {
            out[to + i] = Math.max(0, Math.min(255, out[to + i]));
        }
    }
}
