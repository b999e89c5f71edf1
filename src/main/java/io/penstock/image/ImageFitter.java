// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import io.penstock.codec.MissingLibraryException;
import io.penstock.internal.Scratch;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Reads images of any size into pixels of one size, for one thread at a time. It reuses its buffers, like
 * {@link ImageReader}.
 */
public final class ImageFitter implements AutoCloseable {

    private final ImageFit fit;
    private final PixelFormat format;
    private final ImageReader reader;
    private final Resizer resizer = new Resizer(Resizer.Filter.BILINEAR);
    private final Scratch decoded = new Scratch();
    private final Scratch turned = new Scratch();

    /**
     * Creates a fitter.
     *
     * @param fit how images are brought to one size
     * @param format the pixel format
     * @param reader reads the images; closed with this
     */
    public ImageFitter(ImageFit fit, PixelFormat format, ImageReader reader) {
        this.fit = Objects.requireNonNull(fit, "fit");
        this.format = Objects.requireNonNull(format, "format");
        this.reader = Objects.requireNonNull(reader, "reader");
    }

    /**
     * Reads an image.
     *
     * @param image native memory that starts with the image; not a file mapping, which might shrink
     * @param imageBytes the image's byte size
     * @param target the native memory to write, with any content: height by width by channels, {@code u8}
     * @param targetOffset the first byte to write
     * @throws ImageException if the image is malformed, too large, or of another size than an exact fit requires
     * @throws MissingLibraryException if it is a JPEG, and the library to read it is missing
     */
    public void read(MemorySegment image, long imageBytes, MemorySegment target, long targetOffset)
            throws ImageException, MissingLibraryException {
        ImageHeader header = reader.read(image, imageBytes);
        int orientation = fit.upright ? Math.max(header.orientation, Orientation.UPRIGHT) : Orientation.UPRIGHT;
        boolean transposed = Orientation.isTransposed(orientation);
        int width = transposed ? header.height : header.width;
        int height = transposed ? header.width : header.height;
        int resizedWidth = fit.width;
        int resizedHeight = fit.height;
        if (fit.mode == ImageFit.Mode.EXACT && (width != fit.width || height != fit.height)) {
            throw new ImageException("an image of " + width + "x" + height + " pixels" + (orientation > 1
                    ? " upright" : ""), fit.width + "x" + fit.height);
        }
        if (fit.mode == ImageFit.Mode.SHORTER_SIDE) {
            resizedWidth = resized(width, height);
            resizedHeight = resized(height, width);
        }
        if (width == fit.width && height == fit.height && resizedWidth == width && resizedHeight == height
                && orientation == Orientation.UPRIGHT) {
            reader.decode(format, 1, target, targetOffset);
            return;
        }
        int denominator = reader.scalesFaster()
                ? fit.denominator(width, height, resizedWidth, resizedHeight) : 1;
        int decodedWidth = ImageReader.scaled(header.width, denominator);
        int decodedHeight = ImageReader.scaled(header.height, denominator);
        long bytes = (long) decodedWidth * decodedHeight * format.channels();
        MemorySegment pixels = atLeast(decoded, bytes);
        reader.decode(format, denominator, pixels, 0);
        if (orientation != Orientation.UPRIGHT) {
            MemorySegment upright = atLeast(turned, bytes);
            Orientation.turn(orientation, pixels, decodedWidth, decodedHeight, format.channels(), upright, 0);
            pixels = upright;
        }
        resizer.resize(pixels, transposed ? decodedHeight : decodedWidth, transposed ? decodedWidth : decodedHeight,
                format.channels(), resizedWidth, resizedHeight, margin(resizedWidth, fit.width),
                margin(resizedHeight, fit.height), fit.width, fit.height, target, targetOffset);
    }

    /** Returns the length of a side after the shorter one is resized. */
    private int resized(int side, int other) throws ImageException {
        long pixels = side <= other ? fit.shorterSide : (long) fit.shorterSide * side / other;
        if (pixels > Integer.MAX_VALUE) {
            throw new ImageException("an image of " + side + " by " + other + " pixels", "a less extreme aspect ratio");
        }
        return (int) pixels;
    }

    /** Returns half of the cropped pixels, rounded to the even number. */
    private static int margin(int resized, int part) {
        return (int) Math.rint((resized - part) / 2.0);
    }

    private static MemorySegment atLeast(Scratch scratch, long bytes) throws ImageException {
        try {
            return scratch.of(bytes);
        } catch (OutOfMemoryError _) {
            throw new ImageException("pixels of " + bytes + " bytes", "a size that fits in memory");
        }
    }

    /** Frees the buffers and closes the reader. Further calls do nothing. */
    @Override
    public void close() {
        reader.close();
        decoded.close();
        turned.close();
    }
}
