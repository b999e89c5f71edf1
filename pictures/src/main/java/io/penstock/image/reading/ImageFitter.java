// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import java.lang.foreign.MemorySegment;

/**
 * Reads images of any size into pixels of one size, for one thread at a time. It reuses its buffers, like
 * {@link ImageReader}.
 */
public final class ImageFitter implements AutoCloseable {

    private final ImageFit fit;
    private final FrameDecoder decoder;

    public ImageFitter(ImageFit fit, FrameDecoder decoder) {
        this.fit = fit;
        this.decoder = decoder;
    }

    /**
     * Reads an image from native memory, not a file mapping, to height by width by channels, {@code u8}.
     *
     * @throws CodecException if the image is malformed, too large, or of another size than an exact fit requires
     */
    public void read(MemorySegment image, long imageBytes, MemorySegment target, long targetOffset) {
        ImageFrame frame = decoder.read(image, imageBytes);
        int width = frame.width;
        int height = frame.height;
        switch (fit.sizing()) {
            case EXACT -> {
                if (width != fit.width() || height != fit.height()) {
                    throw new CodecException("an image of " + width + "x" + height + " pixels"
                            + (decoder.turns() ? " upright" : ""), fit.width() + "x" + fit.height());
                }
            }
            case STRETCH -> frame.resize(fit.height(), fit.width(), Resizer.Filter.BILINEAR);
            case SHORTER_SIDE -> {
                frame.resize(resized(height, width), resized(width, height), Resizer.Filter.BILINEAR);
                frame.crop(margin(frame.height, fit.height()), margin(frame.width, fit.width()), fit.height(),
                        fit.width());
            }
        }
        decoder.decode(target, targetOffset);
    }

    /** Returns the length of a side after the shorter one is resized. */
    private int resized(int side, int other) {
        long pixels = side <= other ? fit.shorterSide() : (long) fit.shorterSide() * side / other;
        if (pixels > Integer.MAX_VALUE) {
            throw new CodecException("an image of " + side + " by " + other + " pixels", "a less extreme aspect ratio");
        }
        return (int) pixels;
    }

    /** Returns half of the cropped pixels, rounded to the even number. */
    private static int margin(int resized, int part) {
        return (int) Math.rint((resized - part) / 2.0);
    }

    @Override
    public void close() {
        decoder.close();
    }
}
