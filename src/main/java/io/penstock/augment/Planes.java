// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

/**
 * The color channels of an RGB image, a plane of floats each, whose values stay whole numbers from 0 to 255. Changes of
 * planes are loops that the JIT compiler vectorizes, which those over bytes are not. They equal torchvision's on
 * {@code u8} tensors bit for bit, as {@link ColorChanges} says. For one thread.
 */
final class Planes {

    /** A change of all colors. */
    enum Change {
        BRIGHTNESS, CONTRAST, SATURATION, HUE
    }

    private static final int MOST_CHANGES = 4;
    /** The most pixels that are in the planes at once. */
    private static final int STRIP = 1 << 18;
    /** Pixels that the passes of a hue change go over, so that what is between them stays in the nearest cache. */
    private static final int BLOCK = 512;
    /** Makes any turn below 0 that changes a hue less than -1. */
    private static final float HUGE = 1e30f;

    private float[] red = {};
    private float[] green = {};
    private float[] blue = {};
    /** The pixels in the planes. */
    private int count;
    private final Change[] changes = new Change[MOST_CHANGES];
    private final double[] amounts = new double[MOST_CHANGES];
    private int changeCount;
    private final float[] hues = new float[BLOCK];
    private final float[] saturations = new float[BLOCK];
    private final float[] values = new float[BLOCK];
    private final int[] sectors = new int[BLOCK];
    private final int[] highest = new int[BLOCK];
    private final int[] lowest = new int[BLOCK];
    private final int[] falling = new int[BLOCK];
    private final int[] rising = new int[BLOCK];

    /** Adds a change to those of the next {@link #run}: at most four, of which one is of the contrast. */
    void add(Change change, double amount) {
        changes[changeCount] = change;
        amounts[changeCount++] = amount;
    }

    /**
     * Makes the changes, one after the other, and forgets them. The image goes through the planes in strips, each
     * through all changes; only the contrast, which needs the mean of the whole image, waits for the strips before it.
     */
    void run(Canvas canvas) {
        int pixels = canvas.height() * canvas.width();
        int strip = Math.min(pixels, STRIP);
        reserve(strip);
        boolean isWhole = strip == pixels;
        float mean = 0;
        int first = 0;
        int end = contrastFrom(0);
        boolean isSplit = false;
        boolean isDone = changeCount == 0;
        while (!isDone) {
            isDone = end == changeCount;
            long sum = 0;
            for (int from = 0; from < pixels; from += strip) {
                count = Math.min(strip, pixels - from);
                if (!isWhole || !isSplit) {
                    split(canvas.pixels(), 3 * from, count, red, green, blue);
                }
                isSplit = true;
                for (int i = first; i < end; i++) {
                    change(changes[i], amounts[i], mean);
                }
                sum += isDone ? 0 : luminance();
                if (isDone || !isWhole && first < end) {
                    join(canvas.pixels(), 3 * from);
                }
            }
            mean = (float) sum / pixels;
            first = end;
            end = isDone ? end : contrastFrom(end + 1);
        }
        changeCount = 0;
    }

    private void reserve(int pixels) {
        if (red.length < pixels) {
            red = new float[pixels];
            green = new float[pixels];
            blue = new float[pixels];
        }
    }

    /** Returns the first change of the contrast from an index on; the number of changes if there is none. */
    private int contrastFrom(int first) {
        int i = first;
        while (i < changeCount && changes[i] != Change.CONTRAST) {
            i++;
        }
        return i;
    }

    private void change(Change change, double amount, float mean) {
        float factor = (float) amount;
        float rest = (float) (1 - amount);
        switch (change) {
            case BRIGHTNESS -> blend(factor, 0);
            case CONTRAST -> blend(factor, rest * mean);
            case SATURATION -> saturation(red, green, blue, count, factor, rest);
            case HUE -> hue(factor);
        }
    }

    private static void split(byte[] pixels, int first, int count, float[] red, float[] green, float[] blue) {
        for (int i = 0, at = first; i < count; i++, at += 3) {
            red[i] = pixels[at] & 0xFF;
            green[i] = pixels[at + 1] & 0xFF;
            blue[i] = pixels[at + 2] & 0xFF;
        }
    }

    private void join(byte[] pixels, int first) {
        for (int from = 0; from < count; from += BLOCK) {
            int length = Math.min(BLOCK, count - from);
            toIntegers(red, from, length, highest);
            toIntegers(green, from, length, lowest);
            toIntegers(blue, from, length, falling);
            join(highest, lowest, falling, length, pixels, first + 3 * from);
        }
    }

    private static void toIntegers(float[] plane, int from, int length, int[] integers) {
        for (int i = 0; i < length; i++) {
            integers[i] = (int) plane[from + i];
        }
    }

    private static void join(int[] red, int[] green, int[] blue, int length, byte[] pixels, int first) {
        for (int i = 0, at = first; i < length; i++, at += 3) {
            pixels[at] = (byte) red[i];
            pixels[at + 1] = (byte) green[i];
            pixels[at + 2] = (byte) blue[i];
        }
    }

    private static float truncated(float value) {
        return (int) Math.min(Math.max(value, 0f), 255f);
    }

    private void blend(float factor, float add) {
        blend(red, count, factor, add);
        blend(green, count, factor, add);
        blend(blue, count, factor, add);
    }

    private static void blend(float[] plane, int count, float factor, float add) {
        for (int i = 0; i < count; i++) {
            plane[i] = truncated(plane[i] * factor + add);
        }
    }

    /** Returns the sum of all luminances, which is exact. */
    private long luminance() {
        long sum = 0;
        for (int from = 0; from < count; from += BLOCK) {
            sum += luminance(red, green, blue, from, Math.min(from + BLOCK, count));
        }
        return sum;
    }

    private static int luminance(float[] red, float[] green, float[] blue, int from, int to) {
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += (int) (ColorChanges.RED * red[i] + ColorChanges.GREEN * green[i] + ColorChanges.BLUE * blue[i]);
        }
        return sum;
    }

    private static void saturation(float[] red, float[] green, float[] blue, int count, float factor, float rest) {
        for (int i = 0; i < count; i++) {
            float r = red[i];
            float g = green[i];
            float b = blue[i];
            float gray = (int) (ColorChanges.RED * r + ColorChanges.GREEN * g + ColorChanges.BLUE * b);
            red[i] = truncated(Math.fma(rest, gray, r * factor));
            green[i] = truncated(Math.fma(rest, gray, g * factor));
            blue[i] = truncated(Math.fma(rest, gray, b * factor));
        }
    }

    /** Turns the hue by a part of the circle, in HSV. Computes all that may be chosen: there are no branches. */
    private void hue(float turn) {
        for (int from = 0; from < count; from += BLOCK) {
            int length = Math.min(BLOCK, count - from);
            analyze(red, green, blue, from, length, hues, saturations, values);
            turn(hues, saturations, values, length, turn, sectors, highest, lowest, falling, rising);
            select(sectors, highest, lowest, falling, rising, length, red, green, blue, from);
        }
    }

    /** Computes HSV; a factor of 0 or 1, which is exact, stands for a choice. */
    private static void analyze(float[] red, float[] green, float[] blue, int from, int length, float[] hues,
            float[] saturations, float[] values) {
        for (int i = 0; i < length; i++) {
            float red8 = red[from + i];
            float green8 = green[from + i];
            float blue8 = blue[from + i];
            float most = Math.max(Math.max(red8, green8), blue8);
            float isColored = Math.min(most - Math.min(Math.min(red8, green8), blue8), 1f);
            float notRed = Math.min(most - red8, 1f);
            float notGreen = Math.min(most - green8, 1f);
            float r = red8 * ColorChanges.ONE_255TH;
            float g = green8 * ColorChanges.ONE_255TH;
            float b = blue8 * ColorChanges.ONE_255TH;
            float v = Math.max(Math.max(r, g), b);
            float range = v - Math.min(Math.min(r, g), b);
            float divisor = range + (1 - isColored);
            float rc = (v - r) / divisor;
            float gc = (v - g) / divisor;
            float bc = (v - b) / divisor;
            float h = (1 - notRed) * (bc - gc) + notRed * (1 - notGreen) * (rc + 2 - bc)
                    + notRed * notGreen * (gc + 4 - rc);
            float up = h * ColorChanges.ONE_SIXTH + 1;
            hues[i] = up - (float) (int) up;
            saturations[i] = range / (v * isColored + (1 - isColored));
            values[i] = v;
        }
    }

    private static void turn(float[] hues, float[] saturations, float[] values, int length, float turn, int[] sectors,
            int[] highest, int[] lowest, int[] falling, int[] rising) {
        for (int i = 0; i < length; i++) {
            float h = hues[i] + turn;
            float isNegative = Math.min(Math.max(h * -HUGE, 0f), 1f);
            h = h + isNegative - (float) (int) Math.max(h, 0f);
            float s = saturations[i];
            float v = values[i];
            float h6 = h * 6;
            int sector = (int) h6;
            float f = h6 - sector;
            float sf = s * f;
            float white = 1 - s;
            sectors[i] = sector;
            highest[i] = (int) (v * ColorChanges.TO_U8);
            lowest[i] = (int) (unit(white * v) * ColorChanges.TO_U8);
            falling[i] = (int) (unit((1 - sf) * v) * ColorChanges.TO_U8);
            rising[i] = (int) (unit((sf + white) * v) * ColorChanges.TO_U8);
        }
    }

    private static float unit(float value) {
        return Math.min(Math.max(value, 0f), 1f);
    }

    /** Puts the values of each sector in their places; sector 6 is 0. */
    private static void select(int[] sectors, int[] highest, int[] lowest, int[] falling, int[] rising, int length,
            float[] red, float[] green, float[] blue, int from) {
        for (int i = 0; i < length; i++) {
            int sector = sectors[i];
            int is1 = (sector ^ 1) - 1 >> 31;
            int is2 = (sector ^ 2) - 1 >> 31;
            int is3 = (sector ^ 3) - 1 >> 31;
            int is4 = (sector ^ 4) - 1 >> 31;
            int is5 = (sector ^ 5) - 1 >> 31;
            int is0 = ~(is1 | is2 | is3 | is4 | is5);
            int v = highest[i];
            int p = lowest[i];
            int q = falling[i];
            int t = rising[i];
            red[from + i] = v & (is0 | is5) | q & is1 | p & (is2 | is3) | t & is4;
            green[from + i] = t & is0 | v & (is1 | is2) | q & is3 | p & (is4 | is5);
            blue[from + i] = p & (is0 | is1) | t & is2 | v & (is3 | is4) | q & is5;
        }
    }
}
