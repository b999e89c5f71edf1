// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.util.Objects;

/**
 * How image files become pixels: which channels, whether turned upright, by which library. Immutable.
 *
 * {@snippet :
 * ImageDecoding decoding = ImageDecoding.rgb().upright();
 * }
 *
 * <p>By default images are decoded in full and the Exif orientation is ignored, as in Pillow and torchvision.
 */
public final class ImageDecoding {

    final PixelFormat format;
    final boolean upright;
    final boolean scaled;
    final JpegLibrary jpegLibrary;
    final long maxPixels;

    private ImageDecoding(PixelFormat format, boolean upright, boolean scaled, JpegLibrary jpegLibrary,
            long maxPixels) {
        this.format = Objects.requireNonNull(format, "format");
        this.upright = upright;
        this.scaled = scaled;
        this.jpegLibrary = Objects.requireNonNull(jpegLibrary, "jpegLibrary");
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
     * Decoding to a pixel format.
     *
     * @param format the pixel format
     * @return the decoding
     */
    public static ImageDecoding to(PixelFormat format) {
        return new ImageDecoding(format, false, false, JpegLibrary.preferred(), ImageReader.DEFAULT_MAX_PIXELS);
    }

    /** {@return this decoding of images that are turned upright by their Exif orientation first} */
    public ImageDecoding upright() {
        return new ImageDecoding(format, true, scaled, jpegLibrary, maxPixels);
    }

    /**
     * This decoding with <b>other pixels</b>: libturbojpeg decodes a JPEG 2, 4 or 8 times smaller if both sides stay at
     * least twice as long as the resized ones. That takes less time, and the result differs a little from that of the
     * whole image.
     *
     * @return the decoding
     */
    public ImageDecoding scaled() {
        return new ImageDecoding(format, upright, true, jpegLibrary, maxPixels);
    }

    /**
     * This decoding by another JPEG library.
     *
     * @param library the library
     * @return the decoding
     */
    public ImageDecoding with(JpegLibrary library) {
        return new ImageDecoding(format, upright, scaled, library, maxPixels);
    }

    /**
     * This decoding with another size limit.
     *
     * @param pixels width times height of the largest image accepted, before it is cropped
     * @return the decoding
     * @throws IllegalArgumentException if the limit is below 1
     */
    public ImageDecoding maxPixels(long pixels) {
        if (pixels < 1) {
            throw new IllegalArgumentException("at most " + pixels + " pixels, expected 1 or more");
        }
        return new ImageDecoding(format, upright, scaled, jpegLibrary, pixels);
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

    /** {@return the channels of the pixels} */
    public int channels() {
        return format.channels();
    }

    /** {@return a decoder of the framed parts of images, for one thread; the caller closes it} */
    public FrameDecoder open() {
        return new FrameDecoder(this, new ImageReader(jpegLibrary, maxPixels));
    }

    /** For example {@code RGB, upright}. */
    @Override
    public String toString() {
        return format + (upright ? ", upright" : "") + (scaled ? ", decoded smaller" : "");
    }
}
