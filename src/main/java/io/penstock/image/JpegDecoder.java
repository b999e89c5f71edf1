package io.penstock.image;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Decodes JPEGs whose header was read; one thread's. Anything but a whole and undamaged image is refused. */
interface JpegDecoder extends AutoCloseable {

    /**
     * Decodes to pixels.
     *
     * @param jpeg what the segments say
     * @param header the same, for everyone
     * @param stored memory that starts with the image; native
     * @param storedBytes the image's length
     * @param format of the pixels; null for the channels that are stored, CMYK with 255 being all of the ink
     * @param denominator 1, 2, 4 or 8: how many times smaller, each way, rounded up
     * @param target where to; native
     * @param targetOffset the first byte to write
     */
    void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, MemorySegment target, long targetOffset)
            throws ImageException;

    @Override
    void close();
}
