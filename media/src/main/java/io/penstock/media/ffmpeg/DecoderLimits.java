// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

/**
 * What a file may ask for.
 *
 * @param maxPixels width times height of a frame
 * @param maxPackets the packets of a stream
 */
public record DecoderLimits(long maxPixels, int maxPackets) {

    /** Frames up to 8192 by 4096, and ten days of 25 frames a second. */
    public static final DecoderLimits DEFAULT = new DecoderLimits(8192L * 4096, 1 << 24);

    /** Streams of one file. */
    static final int MAX_STREAMS = 8;
}
