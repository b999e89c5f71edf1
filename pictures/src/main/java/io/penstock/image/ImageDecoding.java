// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.util.Objects;

/**
 * How image files become pixels: which channels, whether turned upright, up to which size. Immutable.
 *
 * {@snippet :
 * ImageDecoding decoding = ImageDecoding.rgb().upright();
 * }
 *
 * <p>By default images are decoded in full and the Exif orientation is ignored, as in Pillow and torchvision.
 */
public final class ImageDecoding {

    /** The default limit of pixels: Pillow takes more for an attack. */
    public static final long DEFAULT_MAX_PIXELS = 178_956_970;

    private final PixelFormat format;
    private final boolean upright;
    private final boolean scaled;
    private final long maxPixels;

    private ImageDecoding(PixelFormat format, boolean upright, boolean scaled, long maxPixels) {
        this.format = Objects.requireNonNull(format, "format");
        this.upright = upright;
        this.scaled = scaled;
        this.maxPixels = maxPixels;
    }

    /** {@return decoding to red, green and blue} */
    public static ImageDecoding rgb() {
        return to(PixelFormat.RGB);
    }

    /** {@return decoding to gray} */
    public static ImageDecoding gray() {
        return to(PixelFormat.GRAY);
    }

    /**
     * {@return a decoding to a pixel format}
     *
     * @param format the pixel format
     */
    public static ImageDecoding to(PixelFormat format) {
        return new ImageDecoding(format, false, false, DEFAULT_MAX_PIXELS);
    }

    /** {@return this decoding of images that are turned upright by their Exif orientation first} */
    public ImageDecoding upright() {
        return new ImageDecoding(format, true, scaled, maxPixels);
    }

    /**
     * {@return this decoding with <b>other pixels</b>, faster: libturbojpeg decodes a JPEG 2, 4 or 8 times smaller if
     * both sides stay at least twice as long as the resized ones} The result differs a little from that of the whole
     * image. The JDK's decoder always decodes the whole image, because scaling gains it nothing.
     */
    public ImageDecoding scaled() {
        return new ImageDecoding(format, upright, true, maxPixels);
    }

    /**
     * {@return this decoding with another size limit}
     *
     * @param pixels width times height of the largest image accepted, before it is cropped or resized
     * @throws IllegalArgumentException if the limit is below 1
     */
    public ImageDecoding maxPixels(long pixels) {
        if (pixels < 1) {
            throw new IllegalArgumentException("at most " + pixels + " pixels, expected 1 or more");
        }
        return new ImageDecoding(format, upright, scaled, pixels);
    }

    /** {@return the pixel format} */
    public PixelFormat format() {
        return format;
    }

    /** {@return whether images are turned upright} */
    public boolean isUpright() {
        return upright;
    }

    /** {@return whether JPEGs may be decoded smaller, which gives other pixels} */
    public boolean isScaled() {
        return scaled;
    }

    /** {@return width times height of the largest image accepted} */
    public long maxPixels() {
        return maxPixels;
    }

    /** For example {@code RGB, upright}. */
    @Override
    public String toString() {
        return format + (upright ? ", upright" : "") + (scaled ? ", decoded smaller" : "");
    }
}
