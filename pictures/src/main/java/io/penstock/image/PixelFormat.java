// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/** The requested pixels: packed {@code u8} channels, the last dimension of height by width by channels. */
public enum PixelFormat {
    /**
     * Luma: the stored Y of a YCbCr JPEG, otherwise {@code (19595 R + 38470 G + 7471 B + 32768) >> 16}, with the
     * weights of ITU-R BT.601.
     */
    GRAY(1),
    /** Red, green, blue. Gray is repeated, alpha dropped, CMYK multiplied out without a profile, as in Pillow. */
    RGB(3),
    /** Red, green, blue, alpha; not premultiplied. Alpha is 255 if the image has none. */
    RGBA(4);

    private final int channels;

    PixelFormat(int channels) {
        this.channels = channels;
    }

    /** {@return the bytes in a pixel: 1, 3 or 4} */
    public int channels() {
        return channels;
    }
}
