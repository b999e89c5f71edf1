// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.image.PixelFormat;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Decodes JPEGs whose headers were read, for one thread. Rejects any truncated or damaged image. */
interface JpegDecoder extends AutoCloseable {

    /**
     * Enlarges a part to what this decoder would decode for it, with the pixels that it is fastest at: by default the
     * whole image. {@link #decode} has the parameters.
     */
    default void cover(ImageHeader header, MemorySegment stored, long storedBytes, PixelFormat format,
            int denominator, ImagePart part) {
        part.set(0, 0, ImageReader.scaled(header.width, denominator), ImageReader.scaled(header.height, denominator));
        part.pixelBytes = format.channels();
    }

    /**
     * Decodes an image whose header was read to pixels.
     *
     * @param format the pixel format; null for the stored channels, CMYK with 255 for full ink
     * @param denominator 1, 2, 4 or 8: how many times smaller to decode each side, rounded up
     * @param part the whole image, or what {@link #cover} made of a part
     */
    void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, ImagePart part, MemorySegment target, long targetOffset);

    @Override
    void close();
}
