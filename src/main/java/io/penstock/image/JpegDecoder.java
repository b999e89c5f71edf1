// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Decodes JPEGs whose headers were read, for one thread. Rejects any truncated or damaged image. */
interface JpegDecoder extends AutoCloseable {

    /**
     * Decodes to pixels.
     *
     * @param jpeg the contents of the segments
     * @param header the image's properties
     * @param stored native memory that starts with the image
     * @param storedBytes the image's byte size
     * @param format the pixel format; null for the stored channels, CMYK with 255 for full ink
     * @param denominator 1, 2, 4 or 8: how many times smaller to decode each side, rounded up
     * @param target the native memory to write
     * @param targetOffset the first byte to write
     */
    void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, MemorySegment target, long targetOffset)
            throws ImageException;

    @Override
    void close();
}
