// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * The color channels of an RGB image, a plane of integers from 0 to 255 each. Changes of planes are short loops with
 * one result, which the JIT compiler vectorizes; it does not vectorize loops over bytes, nor long ones. The changes
 * equal torchvision's on {@code u8} tensors bit for bit, as {@link ColorChanges} says. For one thread.
 */
public final class Planes {

    /** A change of all colors. */
    public enum Change {
        BRIGHTNESS, CONTRAST, SATURATION, HUE
    }

    private static final int MOST_CHANGES = 4;
    /** The most pixels that are in the planes at once. */
    private static final int STRIP = 1 << 18;
    private static final int BLOCK = 512;

    private int[] red = {};
    private int[] green = {};
    private int[] blue = {};
    /** The pixels in the planes. */
    private int count;
    private final Change[] changes = new Change[MOST_CHANGES];
    private final double[] amounts = new double[MOST_CHANGES];
    private int changeCount;
    private final float[] grays = new float[BLOCK];
    private final Hues hues = new Hues(BLOCK);
    private final int[] reds = new int[BLOCK];
    private final int[] greens = new int[BLOCK];
    private final int[] blues = new int[BLOCK];

    /** Adds a change to those of the next {@link #run}. There are at most four, at most one of them of the contrast. */
    public void add(Change change, double amount) {
        changes[changeCount] = change;
        amounts[changeCount++] = amount;
    }

    /**
     * Makes the changes, one after the other, and forgets them. The image goes through the planes in strips, each
     * through all changes; only the contrast, which needs the mean of the whole image, waits for the strips before it.
     * Changes of an image that cannot be decoded are forgotten too, or they would change the next image.
     */
    public void run(Canvas canvas) {
        try {
            change(canvas);
        } finally {
            changeCount = 0;
        }
    }

    private void change(Canvas canvas) {
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
                    join(red, green, blue, count, canvas.pixels(), 3 * from);
                }
            }
            mean = (float) sum / pixels;
            first = end;
            end = isDone ? end : contrastFrom(end + 1);
        }
    }

    private void reserve(int pixels) {
        if (red.length < pixels) {
            red = new int[pixels];
            green = new int[pixels];
            blue = new int[pixels];
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

    /** Makes a change, block by block: what is between its loops stays in the nearest cache. */
    private void change(Change change, double amount, float mean) {
        float factor = (float) amount;
        float rest = (float) (1 - amount);
        for (int from = 0; from < count; from += BLOCK) {
            int length = Math.min(BLOCK, count - from);
            System.arraycopy(red, from, reds, 0, length);
            System.arraycopy(green, from, greens, 0, length);
            System.arraycopy(blue, from, blues, 0, length);
            switch (change) {
                case BRIGHTNESS, CONTRAST -> {
                    float add = change == Change.CONTRAST ? rest * mean : 0;
                    blend(reds, length, factor, add);
                    blend(greens, length, factor, add);
                    blend(blues, length, factor, add);
                }
                case SATURATION -> {
                    luminance(reds, greens, blues, length, grays);
                    blend(reds, length, factor, grays, rest);
                    blend(greens, length, factor, grays, rest);
                    blend(blues, length, factor, grays, rest);
                }
                case HUE -> hues.turn(reds, greens, blues, length, factor);
            }
            System.arraycopy(reds, 0, red, from, length);
            System.arraycopy(greens, 0, green, from, length);
            System.arraycopy(blues, 0, blue, from, length);
        }
    }

    private static void split(byte[] pixels, int first, int count, int[] red, int[] green, int[] blue) {
        for (int i = 0, at = first; i < count; i++, at += 3) {
            red[i] = pixels[at] & 0xFF;
            green[i] = pixels[at + 1] & 0xFF;
            blue[i] = pixels[at + 2] & 0xFF;
        }
    }

    private static void join(int[] red, int[] green, int[] blue, int count, byte[] pixels, int first) {
        for (int i = 0, at = first; i < count; i++, at += 3) {
            pixels[at] = (byte) red[i];
            pixels[at + 1] = (byte) green[i];
            pixels[at + 2] = (byte) blue[i];
        }
    }

    /** Truncates, then clamps the whole numbers: the same result as in the other order, but faster. */
    private static int truncated(float value) {
        return Math.min(Math.max((int) value, 0), 255);
    }

    private static void blend(int[] values, int length, float factor, float add) {
        for (int i = 0; i < length; i++) {
            values[i] = truncated(values[i] * factor + add);
        }
    }

    private static void blend(int[] values, int length, float factor, float[] grays, float rest) {
        for (int i = 0; i < length; i++) {
            values[i] = truncated(Math.fma(rest, grays[i], values[i] * factor));
        }
    }

    private static void luminance(int[] red, int[] green, int[] blue, int length, float[] grays) {
        for (int i = 0; i < length; i++) {
            grays[i] = (int) (ColorChanges.RED * red[i] + ColorChanges.GREEN * green[i] + ColorChanges.BLUE * blue[i]);
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

    private static int luminance(int[] red, int[] green, int[] blue, int from, int to) {
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += (int) (ColorChanges.RED * red[i] + ColorChanges.GREEN * green[i] + ColorChanges.BLUE * blue[i]);
        }
        return sum;
    }
}
