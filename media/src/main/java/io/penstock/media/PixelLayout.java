// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.media.ffmpeg.Decoder;

/**
 * How a pixel format keeps its samples: three planes of luma and chroma.
 *
 * @param name FFmpeg's name of it
 * @param number its number in the FFmpeg that is loaded
 * @param bits of a sample; over 8 in two bytes each
 * @param halvesWidth whether chroma has half as many samples in a row
 * @param halvesHeight whether chroma has half as many rows
 * @param isFull whether the format says that values use the whole range
 */
record PixelLayout(String name, int number, int bits, boolean halvesWidth, boolean halvesHeight, boolean isFull) {

    private static final PixelLayout[] KNOWN = {
        of("yuv420p", 8, true, true), of("yuvj420p", 8, true, true), of("yuv422p", 8, true, false),
        of("yuvj422p", 8, true, false), of("yuv444p", 8, false, false), of("yuvj444p", 8, false, false),
        of("yuv420p10le", 10, true, true), of("yuv422p10le", 10, true, false), of("yuv444p10le", 10, false, false),
        of("yuv420p12le", 12, true, true), of("yuv422p12le", 12, true, false), of("yuv444p12le", 12, false, false),
    };

    private static PixelLayout of(String name, int bits, boolean halvesWidth, boolean halvesHeight) {
        return new PixelLayout(name, Decoder.pixelFormat(name), bits, halvesWidth, halvesHeight,
                name.startsWith("yuvj"));
    }

    /** Returns the layout of a decoder's frame. */
    static PixelLayout of(Decoder frame) {
        int format = frame.format();
        for (PixelLayout layout : KNOWN) {
            if (layout.number == format) {
                return layout;
            }
        }
        throw new CodecException("frames in the pixel format " + frame.pixelFormat(),
                "4:2:0, 4:2:2 or 4:4:4 of 8, 10 or 12 bits");
    }
}
