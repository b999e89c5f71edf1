package io.penstock.image;

/** The channels that an image is stored with. */
public enum PixelLayout {
    /** Gray, 0 being black. */
    GRAY(1),
    /** Gray and alpha. */
    GRAY_ALPHA(2),
    /** Red, green, blue; also what JPEG stores as luma and chroma. */
    RGB(3),
    /** Red, green, blue, alpha. */
    RGBA(4),
    /** Cyan, magenta, yellow, black, 255 being all of the ink. */
    CMYK(4),
    /** Indices into a palette. */
    PALETTE(1);

    private final int channels;

    PixelLayout(int channels) {
        this.channels = channels;
    }

    /**
     * Values of a pixel.
     *
     * @return 1 to 4
     */
    public int channels() {
        return channels;
    }
}
