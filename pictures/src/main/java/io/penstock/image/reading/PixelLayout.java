// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/** The stored channels of an image. */
public enum PixelLayout {
    /** Gray; 0 is black. */
    GRAY(1),
    /** Gray and alpha. */
    GRAY_ALPHA(2),
    /** Red, green, blue; also for a JPEG stored as luma and chroma. */
    RGB(3),
    /** Red, green, blue, alpha. */
    RGBA(4),
    /** Cyan, magenta, yellow, black; 255 is full ink. */
    CMYK(4),
    /** Indices into a palette. */
    PALETTE(1);

    private final int channels;

    PixelLayout(int channels) {
        this.channels = channels;
    }

    /** Returns the values in a pixel, 1 to 4. */
    public int channels() {
        return channels;
    }
}
