// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.media.ffmpeg.Decoder;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Turns decoded frames into RGB of one size, by integers alone, so that pixels do not depend on a version of FFmpeg:
 * each plane is resized to the size of the result, rows first, and then three samples become a pixel. For one thread;
 * allocates nothing once it is warm. {@code docs/spec/clips.md} has the definition.
 */
final class FramePixels {

    private static final int PLANES = 3;
    /** Resized samples have 14 bits, whatever the frame's have. */
    private static final int SAMPLE_BITS = 14;
    private static final int COEFFICIENT_BITS = 14;
    /** From the product of a sample and a coefficient to a byte. */
    private static final int SHIFT = COEFFICIENT_BITS + SAMPLE_BITS - 8;
    private static final int HALF = 1 << SHIFT - 1;
    /** Half of the last bit, of two sums in a long. */
    private static final long ROUNDING = (1L << Integer.SIZE | 1) << PlaneAxis.ONE_BITS - 1;
    private static final int FULL_RANGE = 2;
    private static final int BT_709 = 1;
    private static final int BT_2020 = 9;
    private static final int BT_2020_CONSTANT = 10;

    private final ImageFit fit;
    private final MemorySegment memory = Decoder.memory();
    private final PlaneAxis[] columns = {new PlaneAxis(), new PlaneAxis()};
    private final PlaneAxis[] rows = {new PlaneAxis(), new PlaneAxis()};
    private byte[] narrow = {};
    private short[] wide = {};
    private int[] sums = {};
    private int[] lowerSums = {};
    private long[] pairs = {};
    /** Rows of the frame's planes that were read: as many of each as a row of the result needs, and their numbers. */
    private int kept;
    private int[][] lines = {};
    private int[] lineRows = {};
    private final int[][] samples = new int[2 * PLANES][];
    private final int[][] colors = new int[PLANES][];
    private byte[] pixels = {};
    private int height;
    private int width;
    private int luma;
    private int black;
    private int redV;
    private int greenU;
    private int greenV;
    private int blueU;

    /**
     * Creates a converter.
     *
     * @param fit how frames are brought to one size
     */
    FramePixels(ImageFit fit) {
        this.fit = fit;
    }

    /** Where a frame goes: the byte offsets of a plane, a row and a pixel from the first one of the frame. */
    record Target(long plane, long row, long pixel) { }

    /**
     * Converts a frame.
     *
     * @param frame the decoder that has it
     * @param rotation by how many degrees counter-clockwise it is turned: 0, 90, 180 or 270
     * @param out memory for the pixels
     * @param offset the first byte
     * @param target how they lie there
     */
    void write(Decoder frame, int rotation, MemorySegment out, long offset, Target target) {
        PixelLayout layout = PixelLayout.of(frame);
        boolean isTurned = rotation == 90 || rotation == 270;
        height = isTurned ? fit.width() : fit.height();
        width = isTurned ? fit.height() : fit.width();
        place(frame.width(), frame.height(), layout);
        color(layout.isFull() || frame.colorRange() == FULL_RANGE, frame.colorMatrix(), layout.bits());
        // Columns read as many samples as the most need, of those behind the last with the weight 0.
        grow(Math.max(columns[0].end() + columns[0].room, columns[1].end() + columns[1].room));
        for (int y = 0; y < height; y += 2) {
            for (int plane = 0; plane < PLANES; plane++) {
                resize(frame, plane, y, layout.bits());
            }
            write(y, 0, rotation, out, offset, target);
            if (y + 1 < height) {
                write(y + 1, PLANES, rotation, out, offset, target);
            }
        }
    }

    private void write(int y, int from, int rotation, MemorySegment out, long offset, Target target) {
        mix(samples[from], samples[from + 1], samples[from + 2], colors[0], colors[1], colors[2]);
        for (int plane = 0; plane < PLANES; plane++) {
            narrow(colors[plane], pixels, width);
            put(pixels, y, rotation, out, offset + plane * target.plane, target);
        }
    }

    private void place(int frameWidth, int frameHeight, PixelLayout layout) {
        int resizedWidth = width;
        int resizedHeight = height;
        switch (fit.sizing()) {
            case EXACT -> {
                if (frameWidth != width || frameHeight != height) {
                    throw new CodecException("a frame of " + frameWidth + "x" + frameHeight + " pixels",
                            width + "x" + height);
                }
            }
            case STRETCH -> { }
            case SHORTER_SIDE -> {
                boolean isHigh = frameHeight > frameWidth;
                long longer = (long) fit.shorterSide() * Math.max(frameWidth, frameHeight)
                        / Math.min(frameWidth, frameHeight);
                resizedWidth = isHigh ? fit.shorterSide() : Math.toIntExact(longer);
                resizedHeight = isHigh ? Math.toIntExact(longer) : fit.shorterSide();
            }
        }
        int left = margin(resizedWidth - width);
        int top = margin(resizedHeight - height);
        double across = (double) frameWidth / resizedWidth;
        double down = (double) frameHeight / resizedHeight;
        columns[0].set(frameWidth, across, 0, left, width);
        rows[0].set(frameHeight, down, 0, top, height);
        // Halved chroma stands at the left of its two pixels, and between its two rows.
        columns[1].set(halved(frameWidth, layout.halvesWidth()), layout.halvesWidth() ? across / 2 : across,
                layout.halvesWidth() ? 0.25 : 0, left, width);
        rows[1].set(halved(frameHeight, layout.halvesHeight()), layout.halvesHeight() ? down / 2 : down, 0, top,
                height);
    }

    private static int halved(int samples, boolean isHalved) {
        return isHalved ? samples + 1 >> 1 : samples;
    }

    /** Half of what is cut off; half of an odd number is rounded to the even one. */
    private static int margin(int difference) {
        return (int) Math.rint(difference / 2.0);
    }

    /** The coefficients of the matrix; BT.601 where the file does not say. */
    private void color(boolean isFull, int matrix, int bits) {
        double red = 0.299;
        double blue = 0.114;
        switch (matrix) {
            case BT_709 -> {
                red = 0.2126;
                blue = 0.0722;
            }
            case BT_2020, BT_2020_CONSTANT -> {
                red = 0.2627;
                blue = 0.0593;
            }
            default -> { }
        }
        double green = 1 - red - blue;
        double all = (double) (1 << bits) / ((1 << bits) - 1) * 255 / 256;
        double ofLuma = (1 << COEFFICIENT_BITS) * (isFull ? all : 255.0 / 219);
        double ofChroma = (1 << COEFFICIENT_BITS) * (isFull ? all : 255.0 / 224);
        luma = round(ofLuma);
        black = isFull ? 0 : 16 << SAMPLE_BITS - 8;
        redV = round(ofChroma * 2 * (1 - red));
        blueU = round(ofChroma * 2 * (1 - blue));
        greenU = round(ofChroma * 2 * (1 - blue) * blue / green);
        greenV = round(ofChroma * 2 * (1 - red) * red / green);
    }

    private static int round(double value) {
        return (int) Math.floor(value + 0.5);
    }

    private void grow(int length) {
        int most = Math.max(rows[0].most, rows[1].most);
        if (sums.length < length || lines.length < PLANES * most) {
            kept = Math.max(most, kept);
            int room = Math.max(length, sums.length);
            narrow = new byte[room];
            wide = new short[room];
            sums = new int[room];
            lowerSums = new int[room];
            pairs = new long[room];
            lines = new int[PLANES * kept][room];
            lineRows = new int[PLANES * kept];
        }
        Arrays.fill(lineRows, -1);
        if (pixels.length < width) {
            pixels = new byte[width];
            for (int plane = 0; plane < PLANES; plane++) {
                samples[plane] = new int[width];
                samples[PLANES + plane] = new int[width];
                colors[plane] = new int[width];
            }
        }
    }

    /**
     * Makes two rows of a plane, of samples of 14 bits. Both are resized by one multiplication: a sample times a weight
     * has 28 bits, so that two fit into a long.
     */
    private void resize(Decoder frame, int plane, int y, int bits) {
        PlaneAxis across = columns[plane == 0 ? 0 : 1];
        int from = across.first[0];
        int length = across.end() - from;
        int shift = bits + PlaneAxis.ONE_BITS - SAMPLE_BITS;
        rows(frame, plane, y, bits, from, length, shift, sums);
        if (y + 1 < height) {
            rows(frame, plane, y + 1, bits, from, length, shift, lowerSums);
        }
        pair(sums, lowerSums, shift, pairs, length);
        across(across, from, pairs, samples[plane], samples[PLANES + plane], width);
    }

    private static void pair(int[] upper, int[] lower, int shift, long[] pairs, int length) {
        for (int x = 0; x < length; x++) {
            pairs[x] = (long) (lower[x] >> shift) << Integer.SIZE | upper[x] >> shift;
        }
    }

    /** Sums one row of a plane, of all its columns. */
    private void rows(Decoder frame, int plane, int y, int bits, int from, int length, int shift, int[] into) {
        PlaneAxis down = rows[plane == 0 ? 0 : 1];
        int at = down.start[y];
        int count = down.count[y];
        int half = 1 << shift - 1;
        int t = count % 3;
        if (t > 0) {
            int second = t - 1;
            set(line(frame, plane, down.first[y], bits, from, length), down.weights[at],
                    line(frame, plane, down.first[y] + second, bits, from, length),
                    second == 0 ? 0 : down.weights[at + 1], half, into, length);
        } else {
            Arrays.fill(into, 0, length, half);
        }
        for (; t < count; t += 3) {
            add(line(frame, plane, down.first[y] + t, bits, from, length), down.weights[at + t],
                    line(frame, plane, down.first[y] + t + 1, bits, from, length), down.weights[at + t + 1],
                    line(frame, plane, down.first[y] + t + 2, bits, from, length), down.weights[at + t + 2], into,
                    length);
        }
    }

    private static void set(int[] a, int ofA, int[] b, int ofB, int half, int[] sums, int length) {
        for (int x = 0; x < length; x++) {
            sums[x] = half + a[x] * ofA + b[x] * ofB;
        }
    }

    private static void add(int[] a, int ofA, int[] b, int ofB, int[] c, int ofC, int[] sums, int length) {
        for (int x = 0; x < length; x++) {
            sums[x] += a[x] * ofA + b[x] * ofB + c[x] * ofC;
        }
    }

    /** A row of a plane as integers, which the next rows of the result need too. */
    private int[] line(Decoder frame, int plane, int row, int bits, int from, int length) {
        int place = plane * kept + row % kept;
        int[] line = lines[place];
        if (lineRows[place] != row) {
            lineRows[place] = row;
            long address = frame.plane(plane) + (long) row * frame.lineBytes(plane);
            if (bits > 8) {
                MemorySegment.copy(memory, JAVA_SHORT_UNALIGNED, address + 2L * from, wide, 0, length);
                widen(wide, line, length);
                mask(line, 0xFFFF, length);
            } else {
                MemorySegment.copy(memory, JAVA_BYTE, address + from, narrow, 0, length);
                widen(narrow, line, length);
                mask(line, 0xFF, length);
            }
        }
        return line;
    }

    // The JIT compiler vectorizes a conversion with its sign, and a mask, but not both in one loop.

    private static void widen(byte[] from, int[] to, int length) {
        for (int x = 0; x < length; x++) {
            to[x] = from[x];
        }
    }

    private static void widen(short[] from, int[] to, int length) {
        for (int x = 0; x < length; x++) {
            to[x] = from[x];
        }
    }

    private static void mask(int[] line, int bits, int length) {
        for (int x = 0; x < length; x++) {
            line[x] &= bits;
        }
    }

    private static void narrow(int[] from, byte[] to, int length) {
        for (int x = 0; x < length; x++) {
            to[x] = (byte) from[x];
        }
    }

    /** Straight code for a few weights, a method each: a loop of so few rounds costs more than its work. */
    private static void across(PlaneAxis axis, int from, long[] line, int[] upper, int[] lower, int width) {
        switch (axis.room) {
            case 2 -> across2(axis.first, axis.padded, from, line, upper, lower, width);
            case 4 -> across4(axis.first, axis.padded, from, line, upper, lower, width);
            case 6 -> across6(axis.first, axis.padded, from, line, upper, lower, width);
            default -> acrossAny(axis.first, axis.padded, axis.room, from, line, upper, lower, width);
        }
    }

    private static void across2(int[] first, long[] weights, int from, long[] line, int[] upper, int[] lower,
            int width) {
        for (int x = 0; x < width; x++) {
            long sum = ROUNDING + two(line, first[x] - from, weights, 2 * x);
            upper[x] = (int) sum >> PlaneAxis.ONE_BITS;
            lower[x] = (int) (sum >>> Integer.SIZE + PlaneAxis.ONE_BITS);
        }
    }

    private static void across4(int[] first, long[] weights, int from, long[] line, int[] upper, int[] lower,
            int width) {
        for (int x = 0; x < width; x++) {
            int low = first[x] - from;
            long sum = ROUNDING + two(line, low, weights, 4 * x) + two(line, low + 2, weights, 4 * x + 2);
            upper[x] = (int) sum >> PlaneAxis.ONE_BITS;
            lower[x] = (int) (sum >>> Integer.SIZE + PlaneAxis.ONE_BITS);
        }
    }

    private static void across6(int[] first, long[] weights, int from, long[] line, int[] upper, int[] lower,
            int width) {
        for (int x = 0; x < width; x++) {
            int low = first[x] - from;
            long sum = ROUNDING + two(line, low, weights, 6 * x) + two(line, low + 2, weights, 6 * x + 2)
                    + two(line, low + 4, weights, 6 * x + 4);
            upper[x] = (int) sum >> PlaneAxis.ONE_BITS;
            lower[x] = (int) (sum >>> Integer.SIZE + PlaneAxis.ONE_BITS);
        }
    }

    private static void acrossAny(int[] first, long[] weights, int room, int from, long[] line, int[] upper,
            int[] lower, int width) {
        for (int x = 0; x < width; x++) {
            int low = first[x] - from;
            long sum = ROUNDING;
            for (int t = 0; t < room; t += 2) {
                sum += two(line, low + t, weights, x * room + t);
            }
            upper[x] = (int) sum >> PlaneAxis.ONE_BITS;
            lower[x] = (int) (sum >>> Integer.SIZE + PlaneAxis.ONE_BITS);
        }
    }

    private static long two(long[] line, int low, long[] weights, int at) {
        return line[low] * weights[at] + line[low + 1] * weights[at + 1];
    }

    private void mix(int[] ys, int[] us, int[] vs, int[] reds, int[] greens, int[] blues) {
        int dark = black;
        int ofY = luma;
        int ofRed = redV;
        int ofGreenU = greenU;
        int ofGreenV = greenV;
        int ofBlue = blueU;
        int neutral = 1 << SAMPLE_BITS - 1;
        for (int x = 0; x < width; x++) {
            int y = (ys[x] - dark) * ofY + HALF;
            int u = us[x] - neutral;
            int v = vs[x] - neutral;
            reds[x] = Math.max(0, Math.min(255, y + ofRed * v >> SHIFT));
            greens[x] = Math.max(0, Math.min(255, y - ofGreenU * u - ofGreenV * v >> SHIFT));
            blues[x] = Math.max(0, Math.min(255, y + ofBlue * u >> SHIFT));
        }
    }

    private void put(byte[] line, int y, int rotation, MemorySegment out, long offset, Target target) {
        if (rotation == 0 && target.pixel == 1) {
            MemorySegment.copy(line, 0, out, JAVA_BYTE, offset + y * target.row, width);
            return;
        }
        long first = switch (rotation) {
            case 90 -> (width - 1) * target.row + y * target.pixel;
            case 180 -> (height - 1 - y) * target.row + (width - 1) * target.pixel;
            case 270 -> (height - 1 - y) * target.pixel;
            default -> y * target.row;
        };
        long step = switch (rotation) {
            case 90 -> -target.row;
            case 180 -> -target.pixel;
            case 270 -> target.row;
            default -> target.pixel;
        };
        for (int x = 0; x < width; x++) {
            out.set(JAVA_BYTE, offset + first + x * step, line[x]);
        }
    }
}
