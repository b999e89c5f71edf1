package io.penstock.image;

/**
 * What an image says of itself before its pixels. It belongs to the {@link ImageReader} that read it, and is
 * overwritten when that reads the next one: reading a header allocates nothing.
 */
public final class ImageHeader {

    ImageFormat format;
    int width;
    int height;
    PixelLayout layout;
    int bits;
    int orientation;
    boolean transparent;

    /** Format and layout are set before anybody sees it. */
    @SuppressWarnings("NullAway.Init")
    ImageHeader() {
    }

    /** Forgets the image before. */
    @SuppressWarnings("NullAway")
    void clear() {
        format = null;
        width = height = bits = orientation = 0;
        layout = null;
        transparent = false;
    }

    /**
     * The file format.
     *
     * @return the format
     */
    public ImageFormat format() {
        return format;
    }

    /**
     * Pixels of a row, as stored: before the orientation is applied.
     *
     * @return 1 or more
     */
    public int width() {
        return width;
    }

    /**
     * Rows, as stored: before the orientation is applied.
     *
     * @return 1 or more
     */
    public int height() {
        return height;
    }

    /**
     * The channels that are stored.
     *
     * @return the layout
     */
    public PixelLayout layout() {
        return layout;
    }

    /**
     * Bits of a channel, or of a palette's index.
     *
     * @return 1, 2, 4, 8 or 16
     */
    public int bits() {
        return bits;
    }

    /**
     * Exif's orientation.
     *
     * @return 1 to 8, or 0 if the image says none
     */
    public int orientation() {
        return orientation;
    }

    /**
     * Whether a colour, or colours of the palette, are transparent (PNG's {@code tRNS}).
     *
     * @return true if {@link PixelFormat#RGBA} has an alpha that {@link #layout} does not tell
     */
    public boolean isTransparent() {
        return transparent;
    }

    /**
     * Bytes of the pixels as {@link ImageReader#decodeStored} gives them.
     *
     * @return height by width by channels by 1, or by 2 for 16 bits
     */
    public long storedByteSize() {
        return (long) width * height * layout.channels() * (bits == 16 ? 2 : 1);
    }

    @Override
    public String toString() {
        return format + " " + width + "x" + height + " " + layout + " " + bits + " bits";
    }
}
