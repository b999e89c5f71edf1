// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import io.penstock.internal.Scratch;
import java.lang.foreign.MemorySegment;

/**
 * Decodes the framed parts of image files, for one thread at a time. It reuses its buffers, like {@link ImageReader}.
 *
 * <p>The frame is chosen between {@link #read}, which reads an image's size, and {@link #decode}. With libjpeg-turbo 3
 * only that part of a JPEG is decoded, with the pixels of whole decoding. What is behind the part is then not looked
 * at: damage there goes unnoticed, unless the file ends before its end marker.
 */
public final class FrameDecoder implements AutoCloseable {

    private final ImageDecoding decoding;
    private final PixelFormat format;
    private final ImageReader reader;
    private final ImageFrame frame = new ImageFrame();
    private final ImagePart part = new ImagePart();
    private final Resizer resizer = new Resizer();
    private final Scratch decoded = new Scratch();
    private final Scratch turned = new Scratch();
    @SuppressWarnings("NullAway.Init")
    private ImageHeader header;
    private int orientation;

    public FrameDecoder(ImageDecoding decoding) {
        this(decoding, JpegLibrary.preferred());
    }

    public FrameDecoder(ImageDecoding decoding, JpegLibrary jpegLibrary) {
        this.decoding = decoding;
        format = decoding.format();
        reader = new ImageReader(jpegLibrary, decoding.maxPixels());
    }

    /**
     * Reads an image's header from memory, as {@link ImageReader#read} does. Returns the frame to change, which is the
     * whole image, upright if so decoded; the same object at every call.
     */
    public ImageFrame read(MemorySegment image, long imageBytes) {
        header = reader.read(image, imageBytes);
        orientation = decoding.isUpright() ? Math.max(header.orientation, Orientation.UPRIGHT) : Orientation.UPRIGHT;
        boolean transposed = Orientation.isTransposed(orientation);
        frame.reset(transposed ? header.width : header.height, transposed ? header.height : header.width);
        return frame;
    }

    boolean turns() {
        return orientation != Orientation.UPRIGHT;
    }

    /**
     * Decodes the framed part of the current image to the frame's height by width by channels, {@code u8}. If that
     * fails, the target's content is undefined.
     */
    public void decode(MemorySegment target, long targetOffset) {
        if (frame.isWhole() && !turns() && target.isNative()) {
            reader.decode(format, 1, target, targetOffset);
            return;
        }
        decode(resizer.into(target, targetOffset, frame.width, format.channels()));
    }

    /**
     * Writes the current image as a file with its frame for a device that decodes, as {@link FramedFile} lays it out.
     * Returns false, and writes nothing, if such a device might not decode it, the row has no room for it, or the
     * device has less scratch memory than it needs.
     *
     * @throws CodecException if decoding the image would take too long
     */
    public boolean storeFile(MemorySegment target, long offset, long bytes, long scratchBytes) {
        return format == PixelFormat.RGB && !turns() && reader.isUsualJpeg()
                && FramedFile.scratchBytes(frame) <= scratchBytes && reader.copyTo(frame, target, offset, bytes);
    }

    /** Decodes the framed part of the current image. If that fails, some rows may have been taken. */
    public void decode(PixelRows target) {
        int denominator = decoding.isScaled() && reader.scalesFaster() ? frame.denominator() : 1;
        int width = ImageReader.scaled(header.width, denominator);
        int height = ImageReader.scaled(header.height, denominator);
        boolean transposed = Orientation.isTransposed(orientation);
        // The frame's part in the decoded image, turned upright; between pixels if that is smaller.
        int uprightWidth = transposed ? height : width;
        int uprightHeight = transposed ? width : height;
        double left = place(frame.left, uprightWidth, frame.imageWidth);
        double right = place(frame.left + frame.partWidth, uprightWidth, frame.imageWidth);
        double top = place(frame.top, uprightHeight, frame.imageHeight);
        double bottom = place(frame.top + frame.partHeight, uprightHeight, frame.imageHeight);
        int firstColumn = (int) left;
        int firstRow = (int) top;
        resizer.set(frame, (int) Math.ceil(right) - firstColumn, left - firstColumn, right - firstColumn,
                (int) Math.ceil(bottom) - firstRow, top - firstRow, bottom - firstRow);
        firstColumn += resizer.firstColumn();
        firstRow += resizer.firstRow();
        Orientation.toStored(orientation, firstColumn, firstRow, resizer.columnCount(), resizer.rowCount(), width,
                height, part);
        reader.cover(format, denominator, part);
        MemorySegment pixels = atLeast(decoded, part.byteSize());
        reader.decode(format, denominator, part, pixels);
        if (turns()) {
            MemorySegment turnedPixels = atLeast(turned, part.byteSize());
            Orientation.turn(orientation, pixels, part.width, part.height, part.pixelBytes, turnedPixels, 0);
            pixels = turnedPixels;
        }
        long rowBytes = (long) (transposed ? part.height : part.width) * part.pixelBytes;
        long row = firstRow - Orientation.uprightTop(orientation, part, width, height);
        long column = firstColumn - Orientation.uprightLeft(orientation, part, width, height);
        resizer.run(pixels, row * rowBytes + column * part.pixelBytes, rowBytes, part.pixelBytes, format.channels(),
                frame.mirrored, target);
    }

    /** Returns where a pixel's border is in a smaller image. */
    private static double place(int border, int size, int wholeSize) {
        return (double) ((long) border * size) / wholeSize;
    }

    private static MemorySegment atLeast(Scratch scratch, long bytes) {
        try {
            return scratch.of(bytes);
        } catch (OutOfMemoryError _) {
            throw new CodecException("pixels of " + bytes + " bytes", "a size that fits in memory");
        }
    }

    @Override
    public void close() {
        reader.close();
        decoded.close();
        turned.close();
    }
}
