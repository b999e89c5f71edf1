// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * Turns the hues of a block of pixels by a part of the color circle, in HSV, as torchvision does. It computes all
 * results that may be chosen; a factor of 0 or 1, which is exact, or a mask of bits makes the choice. So the loops have
 * no branches, and are short enough for the JIT compiler to vectorize. For one thread.
 */
final class Hues {

    /** Turned hues are multiplied by it, so that every negative one becomes less than -1. */
    private static final float HUGE = 1e30f;

    private final int[] most;
    private final int[] least;
    private final float[] ranges;
    private final float[] fromRed;
    private final float[] fromGreen;
    private final float[] fromBlue;
    private final float[] hues;
    private final float[] saturations;
    private final int[] sectors;
    private final int[] falling;
    private final int[] rising;

    /** Reserves memory for blocks of at most that many pixels. */
    Hues(int pixels) {
        most = new int[pixels];
        least = new int[pixels];
        ranges = new float[pixels];
        fromRed = new float[pixels];
        fromGreen = new float[pixels];
        fromBlue = new float[pixels];
        hues = new float[pixels];
        saturations = new float[pixels];
        sectors = new int[pixels];
        falling = new int[pixels];
        rising = new int[pixels];
    }

    void turn(int[] red, int[] green, int[] blue, int length, float turn) {
        extremes(red, green, blue, length, most, least);
        ranges(most, least, length, ranges);
        saturate(most, least, ranges, length, saturations);
        distance(most, red, least, ranges, length, fromRed);
        distance(most, green, least, ranges, length, fromGreen);
        distance(most, blue, least, ranges, length, fromBlue);
        hueOfGreenOrBlue(most, green, fromRed, fromGreen, fromBlue, length, hues);
        hueOfRed(most, red, fromGreen, fromBlue, length, hues);
        turn(hues, length, turn);
        sectors(hues, length, sectors);
        fall(hues, sectors, saturations, most, length, falling);
        rise(hues, sectors, saturations, most, length, rising);
        select(sectors, most, least, falling, rising, length, red);
        shift(sectors, length);
        select(sectors, most, least, falling, rising, length, green);
        shift(sectors, length);
        select(sectors, most, least, falling, rising, length, blue);
    }

    private static void extremes(int[] red, int[] green, int[] blue, int length, int[] most, int[] least) {
        for (int i = 0; i < length; i++) {
            most[i] = Math.max(Math.max(red[i], green[i]), blue[i]);
        }
        for (int i = 0; i < length; i++) {
            least[i] = Math.min(Math.min(red[i], green[i]), blue[i]);
        }
    }

    /** The value less the least channel, as shares of 255. */
    private static void ranges(int[] most, int[] least, int length, float[] ranges) {
        for (int i = 0; i < length; i++) {
            ranges[i] = most[i] * ColorChanges.ONE_255TH - least[i] * ColorChanges.ONE_255TH;
        }
    }

    private static void saturate(int[] most, int[] least, float[] ranges, int length, float[] saturations) {
        for (int i = 0; i < length; i++) {
            int isGray = 1 - Math.min(most[i] - least[i], 1);
            saturations[i] = ranges[i] / (most[i] * (1 - isGray) * ColorChanges.ONE_255TH + isGray);
        }
    }

    /** Returns how far a channel is below the greatest, as a share of the range. */
    private static void distance(int[] most, int[] channel, int[] least, float[] ranges, int length,
            float[] distances) {
        for (int i = 0; i < length; i++) {
            int isGray = 1 - Math.min(most[i] - least[i], 1);
            distances[i] = (most[i] * ColorChanges.ONE_255TH - channel[i] * ColorChanges.ONE_255TH)
                    / (ranges[i] + isGray);
        }
    }

    /** Sixths of the circle, if red is not the greatest. */
    private static void hueOfGreenOrBlue(int[] most, int[] green, float[] fromRed, float[] fromGreen, float[] fromBlue,
            int length, float[] hues) {
        for (int i = 0; i < length; i++) {
            float isBlue = Math.min(most[i] - green[i], 1);
            hues[i] = (1 - isBlue) * (fromRed[i] + 2 - fromBlue[i]) + isBlue * (fromGreen[i] + 4 - fromRed[i]);
        }
    }

    /** Sixths of the circle, and then the share of it, from 0 to 1. */
    private static void hueOfRed(int[] most, int[] red, float[] fromGreen, float[] fromBlue, int length, float[] hues) {
        for (int i = 0; i < length; i++) {
            float isOther = Math.min(most[i] - red[i], 1);
            hues[i] = (1 - isOther) * (fromBlue[i] - fromGreen[i]) + isOther * hues[i];
        }
        for (int i = 0; i < length; i++) {
            float up = hues[i] * ColorChanges.ONE_SIXTH + 1;
            hues[i] = up - (int) up;
        }
    }

    private static void turn(float[] hues, int length, float turn) {
        for (int i = 0; i < length; i++) {
            float turned = hues[i] + turn;
            int below = (int) (turned * HUGE) >> 31;                    // -1 if it is negative
            hues[i] = turned - below - (int) turned;
        }
    }

    private static void sectors(float[] hues, int length, int[] sectors) {
        for (int i = 0; i < length; i++) {
            sectors[i] = (int) (hues[i] * 6);
        }
    }

    private static void fall(float[] hues, int[] sectors, float[] saturations, int[] most, int length, int[] falling) {
        for (int i = 0; i < length; i++) {
            float share = saturations[i] * (hues[i] * 6 - sectors[i]);
            falling[i] = (int) ((1 - share) * (most[i] * ColorChanges.ONE_255TH) * ColorChanges.TO_U8);
        }
    }

    private static void rise(float[] hues, int[] sectors, float[] saturations, int[] most, int length, int[] rising) {
        for (int i = 0; i < length; i++) {
            float share = saturations[i] * (hues[i] * 6 - sectors[i]);
            float rest = 1 - saturations[i];
            rising[i] = (int) ((share + rest) * (most[i] * ColorChanges.ONE_255TH) * ColorChanges.TO_U8);
        }
    }

    /**
     * Sets a channel from the sector: red takes it as it is, green the one two before, blue the one four before; 6 is
     * 0.
     */
    private static void select(int[] sectors, int[] most, int[] least, int[] falling, int[] rising, int length,
            int[] channel) {
        for (int i = 0; i < length; i++) {
            int is1 = (sectors[i] ^ 1) - 1 >> 31;
            int is4 = (sectors[i] ^ 4) - 1 >> 31;
            int isLow = (sectors[i] & 6 ^ 2) - 1 >> 31;                 // 2 or 3
            channel[i] = falling[i] & is1 | rising[i] & is4 | least[i] & isLow | most[i] & ~(is1 | is4 | isLow);
        }
    }

    /** Replaces each sector by the one two before it: 0 to 5 become 4, 5, 0, 1, 2, 3; 6 becomes 4. */
    private static void shift(int[] sectors, int length) {
        for (int i = 0; i < length; i++) {
            int isFirst = (sectors[i] & 6) - 1 >> 31;                   // 0 or 1
            sectors[i] += (6 & isFirst) - 2;
        }
    }
}
