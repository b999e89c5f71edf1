// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.image.PixelFormat;
import java.lang.foreign.MemorySegment;

/** Computes luma, and writes pixels into memory. */
final class Colors {

    private static final int RED_WEIGHT = 19_595;
    private static final int GREEN_WEIGHT = 38_470;
    private static final int BLUE_WEIGHT = 7_471;
    private static final int WEIGHT_BITS = 16;

    static int luma(int red, int green, int blue) {
        return RED_WEIGHT * red + GREEN_WEIGHT * green + BLUE_WEIGHT * blue + (1 << WEIGHT_BITS - 1) >> WEIGHT_BITS;
    }

    static void put(PixelFormat format, int red, int green, int blue, int alpha, MemorySegment target, long to) {
        if (format == PixelFormat.GRAY) {
            target.set(JAVA_BYTE, to, (byte) luma(red, green, blue));
            return;
        }
        target.set(JAVA_BYTE, to, (byte) red);
        target.set(JAVA_BYTE, to + 1, (byte) green);
        target.set(JAVA_BYTE, to + 2, (byte) blue);
        if (format == PixelFormat.RGBA) {
            target.set(JAVA_BYTE, to + 3, (byte) alpha);
        }
    }
}
