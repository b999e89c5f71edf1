// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads images one after another into given memory, for one thread at a time. It reuses its buffers: once they have
 * grown to the images' size it allocates nothing on the heap, except with the JDK's JPEG decoder.
 *
 * <p>{@link #read} reads and checks the header; then the pixels may be decoded any number of times. A truncated or
 * damaged image is rejected, never completed.
 */
public final class ImageReader implements AutoCloseable {

    private final JpegLibrary jpegLibrary;
    private final long maxPixels;
    private final ImageHeader header = new ImageHeader();
    private final JpegHeader jpegHeader = new JpegHeader();
    private final PngHeader pngHeader = new PngHeader();
    private final ImagePart whole = new ImagePart();
    private @Nullable JpegDecoder jpeg;
    private @Nullable PngDecoder png;
    private @Nullable MemorySegment stored;
    private long storedBytes;
    private boolean closed;

    public ImageReader() {
        this(JpegLibrary.preferred(), ImageDecoding.DEFAULT_MAX_PIXELS);
    }

    /** Creates a reader of images of at most {@code maxPixels} pixels, width times height. */
    public ImageReader(JpegLibrary jpegLibrary, long maxPixels) {
        this.jpegLibrary = Objects.requireNonNull(jpegLibrary, "jpegLibrary");
        if (maxPixels < 1) {
            throw new IllegalArgumentException("at most " + maxPixels + " pixels, expected 1 or more");
        }
        this.maxPixels = maxPixels;
    }

    /** Returns the length of a side decoded 1, 2, 4 or 8 times smaller: the quotient, rounded up. */
    public static int scaled(int pixels, int denominator) {
        return Math.ceilDiv(pixels, denominator);
    }

    /**
     * Reads the header of an image at the start of native memory, not of a file mapping, which might shrink. The memory
     * must stay unchanged until the pixels are decoded; the header is valid until the next one is read.
     */
    public ImageHeader read(MemorySegment image, long imageBytes) {
        Objects.checkFromIndexSize(0, imageBytes, image.byteSize());
        if (closed) {
            throw new IllegalStateException("closed");
        }
        stored = null;
        header.clear();
        ImageFormat format = ImageFormat.of(image, imageBytes);
        if (format == null) {
            throw unknown(image, imageBytes);
        }
        switch (format) {
            case JPEG -> jpegHeader.read(image, imageBytes, header);
            case PNG -> pngHeader.read(image, imageBytes, header);
        }
        if ((long) header.width * header.height > maxPixels) {
            throw new CodecException("an image of " + header.width + "x" + header.height + " pixels",
                    "at most " + maxPixels + " of them (the limit is a setting)");
        }
        stored = image;
        storedBytes = imageBytes;
        return header;
    }

    private static CodecException unknown(MemorySegment image, long imageBytes) {
        if (imageBytes == 0) {
            return new CodecException(0, "no bytes", "a JPEG or a PNG");
        }
        byte[] head = image.asSlice(0, Math.min(8, imageBytes)).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        return new CodecException(0, "bytes " + HexFormat.of().formatHex(head), "the start of a JPEG or a PNG");
    }

    /**
     * Decodes the current image as stored, without turning it upright: height by width by channels, {@code u8}. If that
     * fails, the target's content is undefined.
     *
     * @param denominator 1; for a JPEG also 2, 4 or 8, to decode each side that many times smaller in less time
     */
    public void decode(PixelFormat format, int denominator, MemorySegment target, long targetOffset) {
        Objects.requireNonNull(format, "format");
        long bytes = (long) scaled(header.width, denominator) * scaled(header.height, denominator) * format.channels();
        decode(format, denominator, bytes, target, targetOffset);
    }

    /**
     * Decodes the current image to its stored channels, {@link ImageHeader#storedByteSize} bytes: {@code u8}, or
     * little-endian {@code u16} for 16 bits. Gray of fewer than 8 bits is scaled to 0 to 255; palette indices are
     * unchanged.
     */
    public void decodeStored(MemorySegment target, long targetOffset) {
        decode(null, 1, header.storedByteSize(), target, targetOffset);
    }

    private void decode(@Nullable PixelFormat format, int denominator, long bytes, MemorySegment target,
            long targetOffset) {
        MemorySegment image = stored();
        Objects.checkFromIndexSize(targetOffset, bytes, target.byteSize());
        if (isJpeg(denominator)) {
            whole.set(0, 0, scaled(header.width, denominator), scaled(header.height, denominator));
            whole.pixelBytes = format == null ? header.layout.channels() : format.channels();
            jpeg(image, format, denominator, whole, target, targetOffset);
        } else {
            png(image, format, target, targetOffset);
        }
    }

    /** Enlarges a part of the current image to what is decoded for it. May change the bytes in a pixel. */
    void cover(PixelFormat format, int denominator, ImagePart part) {
        MemorySegment image = stored();
        if (isJpeg(denominator)) {
            jpeg().cover(header, image, storedBytes, format, denominator, part);
        } else {
            part.set(0, 0, header.width, header.height);
            part.pixelBytes = format.channels();
        }
    }

    /** Decodes what {@link #cover} made of a part. */
    void decode(PixelFormat format, int denominator, ImagePart part, MemorySegment target) {
        MemorySegment image = stored();
        Objects.checkFromIndexSize(0, part.byteSize(), target.byteSize());
        if (isJpeg(denominator)) {
            jpeg(image, format, denominator, part, target, 0);
        } else {
            png(image, format, target, 0);
        }
    }

    /**
     * Tells whether the current image is a JPEG that devices decode: gray or YCbCr, Huffman-coded, of usual sampling,
     * and not cut off.
     *
     * @throws CodecException if it is progressive with too many scans
     */
    boolean isUsualJpeg() {
        if (header.format == ImageFormat.JPEG) {
            jpegHeader.checkScans();
        }
        return header.format == ImageFormat.JPEG && jpegHeader.isUsual()
                && JpegHeader.hasEnd(stored(), storedBytes);
    }

    /** Copies the current image's file and a frame of it into a row, if there is room. */
    boolean copyTo(ImageFrame frame, MemorySegment target, long offset, long bytes) {
        return FramedFile.write(frame, stored(), storedBytes, target, offset, bytes);
    }

    private MemorySegment stored() {
        if (stored == null) {
            throw new IllegalStateException("no image was read");
        }
        return stored;
    }

    private boolean isJpeg(int denominator) {
        boolean isJpeg = header.format == ImageFormat.JPEG;
        if (denominator != 1 && !(isJpeg && (denominator == 2 || denominator == 4 || denominator == 8))) {
            throw new IllegalArgumentException(header.format + " decoded " + denominator + " times smaller");
        }
        return isJpeg;
    }

    private JpegDecoder jpeg() {
        if (jpeg == null) {
            jpeg = jpegLibrary.open();
        }
        return jpeg;
    }

    private void jpeg(MemorySegment image, @Nullable PixelFormat format, int denominator, ImagePart part,
            MemorySegment target, long targetOffset) {
        jpegHeader.checkScans();
        jpeg().decode(jpegHeader, header, image, storedBytes, format, denominator, part, target, targetOffset);
    }

    private void png(MemorySegment image, @Nullable PixelFormat format, MemorySegment target, long targetOffset) {
        if (png == null) {
            png = new PngDecoder();
        }
        png.decode(pngHeader, header, image, format, target, targetOffset);
    }

    /** Tells whether decoding the current image at a smaller scale takes less time. */
    boolean scalesFaster() {
        return header.format == ImageFormat.JPEG && jpegLibrary == JpegLibrary.TURBOJPEG;
    }

    @Override
    public void close() {
        closed = true;
        stored = null;
        if (jpeg != null) {
            jpeg.close();
            jpeg = null;
        }
        if (png != null) {
            png.close();
            png = null;
        }
    }
}
