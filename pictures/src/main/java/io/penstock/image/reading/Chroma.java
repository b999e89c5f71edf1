// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/**
 * Converts luma and chroma to colors in place: the equations of JFIF (ITU-T T.871) in 16-bit fixed point, rounded like
 * libjpeg.
 */
final class Chroma {

    private static final int BITS = 16;
    private static final int HALF = 1 << BITS - 1;
    private static final int[] RED_OF_CR = new int[256];
    private static final int[] BLUE_OF_CB = new int[256];
    private static final int[] GREEN_OF_CR = new int[256];
    private static final int[] GREEN_OF_CB = new int[256];

    static {
        for (int i = 0; i < 256; i++) {
            int x = i - 128;
            RED_OF_CR[i] = fixed(1.402) * x + HALF >> BITS;
            BLUE_OF_CB[i] = fixed(1.772) * x + HALF >> BITS;
            GREEN_OF_CR[i] = -fixed(0.71414) * x;
            GREEN_OF_CB[i] = -fixed(0.34414) * x + HALF;
        }
    }

    private static int fixed(double factor) {
        return (int) (factor * (1 << BITS) + 0.5);
    }

    static void toRgb(byte[] pixels) {
        for (int i = 0; i < pixels.length; i += 3) {
            int y = pixels[i] & 0xFF;
            int cb = pixels[i + 1] & 0xFF;
            int cr = pixels[i + 2] & 0xFF;
            pixels[i] = clamped(y + RED_OF_CR[cr]);
            pixels[i + 1] = clamped(y + (GREEN_OF_CB[cb] + GREEN_OF_CR[cr] >> BITS));
            pixels[i + 2] = clamped(y + BLUE_OF_CB[cb]);
        }
    }

    /** Converts YCCK to CMYK: the first three components encode the complements of the inks. */
    static void toInks(byte[] pixels) {
        for (int i = 0; i < pixels.length; i += 4) {
            int y = pixels[i] & 0xFF;
            int cb = pixels[i + 1] & 0xFF;
            int cr = pixels[i + 2] & 0xFF;
            pixels[i] = clamped(255 - (y + RED_OF_CR[cr]));
            pixels[i + 1] = clamped(255 - (y + (GREEN_OF_CB[cb] + GREEN_OF_CR[cr] >> BITS)));
            pixels[i + 2] = clamped(255 - (y + BLUE_OF_CB[cb]));
        }
    }

    private static byte clamped(int value) {
        return (byte) Math.max(0, Math.min(255, value));
    }
}
