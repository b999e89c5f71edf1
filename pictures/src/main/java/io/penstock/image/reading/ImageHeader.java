// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/**
 * An image's properties, read before its pixels. It belongs to its {@link ImageReader}, which overwrites it for the
 * next image, so reading a header allocates nothing.
 */
public final class ImageHeader {

    ImageFormat format;
    int width;
    int height;
    PixelLayout layout;
    int bits;
    int orientation;
    boolean transparent;

    /** Format and layout are set before the header is returned. */
    @SuppressWarnings("NullAway.Init")
    ImageHeader() {
    }

    @SuppressWarnings("NullAway")
    void clear() {
        format = null;
        width = height = bits = orientation = 0;
        layout = null;
        transparent = false;
    }

    public ImageFormat format() {
        return format;
    }

    /** Returns the pixels in a stored row, before the orientation is applied; 1 or more. */
    public int width() {
        return width;
    }

    /** Returns the stored rows, before the orientation is applied; 1 or more. */
    public int height() {
        return height;
    }

    public PixelLayout layout() {
        return layout;
    }

    /** Returns the bits of a channel or palette index: 1, 2, 4, 8 or 16. */
    public int bits() {
        return bits;
    }

    /** Returns the Exif orientation, 1 to 8, or 0 if there is none. */
    public int orientation() {
        return orientation;
    }

    /**
     * Tells whether a color, or palette colors, are transparent (PNG's {@code tRNS}), which the layout does not show.
     */
    public boolean isTransparent() {
        return transparent;
    }

    /** Returns the bytes of the pixels from {@link ImageReader#decodeStored}, with 2 a channel for 16 bits. */
    public long storedByteSize() {
        return (long) width * height * layout.channels() * (bits == 16 ? 2 : 1);
    }

    @Override
    public String toString() {
        return format + " " + width + "x" + height + " " + layout + " " + bits + " bits";
    }
}
