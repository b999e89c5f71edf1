// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.image.PixelFormat;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Converts CMYK as Adobe's writers store it in a JPEG: inverted, with 0 for full ink. Every reader assumes this, with
 * or without an Adobe segment. No color profile is used: each color is the product of what its ink and black let
 * through, as in Pillow.
 */
final class Inks {

    /** Converts pixels of four bytes each, as stored; a null format means CMYK with 255 for full ink. */
    static void convert(MemorySegment raw, long pixels, @Nullable PixelFormat format, MemorySegment target,
            long targetOffset) {
        long to = targetOffset;
        for (long from = 0; from < 4 * pixels; from += 4) {
            int cyanFree = raw.get(JAVA_BYTE, from) & 0xFF;
            int magentaFree = raw.get(JAVA_BYTE, from + 1) & 0xFF;
            int yellowFree = raw.get(JAVA_BYTE, from + 2) & 0xFF;
            int blackFree = raw.get(JAVA_BYTE, from + 3) & 0xFF;
            if (format == null) {
                target.set(JAVA_BYTE, to, (byte) ~cyanFree);
                target.set(JAVA_BYTE, to + 1, (byte) ~magentaFree);
                target.set(JAVA_BYTE, to + 2, (byte) ~yellowFree);
                target.set(JAVA_BYTE, to + 3, (byte) ~blackFree);
                to += 4;
            } else {
                Colors.put(format, light(cyanFree, blackFree), light(magentaFree, blackFree),
                        light(yellowFree, blackFree), 255, target, to);
                to += format.channels();
            }
        }
    }

    private static int light(int inkFree, int blackFree) {
        return blackFree - timesOver255(255 - inkFree, blackFree);
    }

    /** Returns the product over 255, rounded. */
    private static int timesOver255(int a, int b) {
        int product = a * b + 128;
        return product + (product >> 8) >> 8;
    }
}
