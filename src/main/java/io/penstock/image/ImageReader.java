package io.penstock.image;

import io.penstock.codec.MissingLibraryException;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads images, one after the other, into memory that it is given; for one thread at a time. It keeps its buffers:
 * once they have grown to the images' size nothing is allocated on the heap, but by the JDK's JPEG decoder.
 *
 * <p>{@link #read} looks at the header and checks what it claims; then the pixels may be decoded, as often as one
 * likes. An image that is cut or damaged is refused: nothing is made up.
 *
 * <pre>{@code
 * try (var reader = new ImageReader()) {
 *     ImageHeader header = reader.read(stored, storedBytes);
 *     MemorySegment pixels = arena.allocate(3L * header.width() * header.height());
 *     reader.decode(PixelFormat.RGB, 1, pixels, 0);
 * }
 * }</pre>
 */
public final class ImageReader implements AutoCloseable {

    /** The pixels that an image has at most unless told otherwise: what Pillow takes for an attack is more. */
    public static final long DEFAULT_MAX_PIXELS = 178_956_970;

    private final JpegLibrary jpegLibrary;
    private final long maxPixels;
    private final ImageHeader header = new ImageHeader();
    private final JpegHeader jpegHeader = new JpegHeader();
    private final PngHeader pngHeader = new PngHeader();
    private @Nullable JpegDecoder jpeg;
    private @Nullable PngDecoder png;
    private @Nullable MemorySegment stored;
    private long storedBytes;
    private boolean closed;

    /** A reader with the library and the limit that are usual. */
    public ImageReader() {
        this(JpegLibrary.preferred(), DEFAULT_MAX_PIXELS);
    }

    /**
     * A reader.
     *
     * @param jpegLibrary what decodes JPEG
     * @param maxPixels width by height of the largest image that is read
     */
    public ImageReader(JpegLibrary jpegLibrary, long maxPixels) {
        this.jpegLibrary = Objects.requireNonNull(jpegLibrary, "jpegLibrary");
        if (maxPixels < 1) {
            throw new IllegalArgumentException("at most " + maxPixels + " pixels, expected 1 or more");
        }
        this.maxPixels = maxPixels;
    }

    /**
     * Pixels of a side that is decoded smaller.
     *
     * @param pixels of the side
     * @param denominator 1, 2, 4 or 8
     * @return their quotient, rounded up
     */
    public static int scaled(int pixels, int denominator) {
        return (int) (((long) pixels + denominator - 1) / denominator);
    }

    /**
     * Reads an image's header.
     *
     * @param image memory that starts with the image; native, no mapping of a file, which might shrink; must stay as it
     *     is until the pixels are decoded
     * @param imageBytes the image's length; what is behind its end, within this length, is ignored
     * @return the header, until the next one is read
     * @throws ImageException if it is neither a JPEG nor a PNG, if it is malformed before its pixels, or has more
     *     pixels than the limit
     */
    public ImageHeader read(MemorySegment image, long imageBytes) throws ImageException {
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
            throw new ImageException("an image of " + header.width + "x" + header.height + " pixels",
                    "at most " + maxPixels + " of them (the limit is a setting)");
        }
        stored = image;
        storedBytes = imageBytes;
        return header;
    }

    private static ImageException unknown(MemorySegment image, long imageBytes) {
        if (imageBytes == 0) {
            return new ImageException(0, "no bytes", "a JPEG or a PNG");
        }
        byte[] head = image.asSlice(0, Math.min(8, imageBytes)).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        return new ImageException(0, "bytes " + HexFormat.of().formatHex(head), "the start of a JPEG or a PNG");
    }

    /**
     * Decodes the image that was read, as it is stored, not turned upright.
     *
     * @param format of the pixels: height by width by {@link PixelFormat#channels}, {@code u8}
     * @param denominator 1; for a JPEG also 2, 4 or 8, which makes it so much smaller each way, {@linkplain #scaled
     *     rounded up}, in less time
     * @param target where to; native memory, with anything in it
     * @param targetOffset the first byte to write
     * @throws ImageException if it is malformed; the target then holds anything
     * @throws MissingLibraryException if it is a JPEG, and the library to read it with is not there
     * @throws IndexOutOfBoundsException if the target is too small
     */
    public void decode(PixelFormat format, int denominator, MemorySegment target, long targetOffset)
            throws ImageException, MissingLibraryException {
        Objects.requireNonNull(format, "format");
        long bytes = (long) scaled(header.width, denominator) * scaled(header.height, denominator) * format.channels();
        decode(format, denominator, bytes, target, targetOffset);
    }

    /**
     * Decodes the image that was read to the channels that it is stored with.
     *
     * @param target where to, {@link ImageHeader#storedByteSize} bytes: height by width by the channels of
     *     {@link ImageHeader#layout}; {@code u16}, little-endian, for 16 bits, otherwise {@code u8}. Gray of fewer than
     *     8 bits is spread over 0 to 255, indices into a palette are as they are; native memory
     * @param targetOffset the first byte to write
     * @throws ImageException if it is malformed; the target then holds anything
     * @throws MissingLibraryException if it is a JPEG, and the library to read it with is not there
     * @throws IndexOutOfBoundsException if the target is too small
     */
    public void decodeStored(MemorySegment target, long targetOffset) throws ImageException, MissingLibraryException {
        decode(null, 1, header.storedByteSize(), target, targetOffset);
    }

    private void decode(@Nullable PixelFormat format, int denominator, long bytes, MemorySegment target,
            long targetOffset) throws ImageException, MissingLibraryException {
        if (stored == null) {
            throw new IllegalStateException("no image was read");
        }
        boolean isJpeg = header.format == ImageFormat.JPEG;
        if (denominator != 1 && !(isJpeg && (denominator == 2 || denominator == 4 || denominator == 8))) {
            throw new IllegalArgumentException(header.format + " decoded " + denominator + " times smaller");
        }
        Objects.checkFromIndexSize(targetOffset, bytes, target.byteSize());
        if (isJpeg) {
            if (jpeg == null) {
                jpeg = jpegLibrary.open();
            }
            jpegHeader.checkScans();
            jpeg.decode(jpegHeader, header, stored, storedBytes, format, denominator, target, targetOffset);
        } else {
            if (png == null) {
                png = new PngDecoder();
            }
            png.decode(pngHeader, header, stored, format, target, targetOffset);
        }
    }

    /** Whether the image that was read takes less time to decode smaller. */
    boolean scalesFaster() {
        return header.format == ImageFormat.JPEG && jpegLibrary == JpegLibrary.TURBOJPEG;
    }

    /** Frees what it holds. Calling it again does nothing. */
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
