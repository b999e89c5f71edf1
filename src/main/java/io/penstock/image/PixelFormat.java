package io.penstock.image;

/** What pixels are asked for: packed {@code u8} channels, the last dimension of height by width by channels. */
public enum PixelFormat {
    /**
     * Luma. Of a JPEG in YCbCr it is Y as stored; otherwise it is
     * {@code (19595 R + 38470 G + 7471 B + 32768) >> 16}, ITU-R BT.601's weights.
     */
    GRAY(1),
    /** Red, green, blue. Gray is repeated, alpha dropped, CMYK multiplied out as by Pillow, without a profile. */
    RGB(3),
    /** Red, green, blue, alpha; not premultiplied. 255 where the image has no alpha. */
    RGBA(4);

    private final int channels;

    PixelFormat(int channels) {
        this.channels = channels;
    }

    /**
     * Bytes of a pixel.
     *
     * @return 1, 3 or 4
     */
    public int channels() {
        return channels;
    }
}
