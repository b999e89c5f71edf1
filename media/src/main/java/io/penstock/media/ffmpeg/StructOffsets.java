// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

/**
 * Where the fields of FFmpeg's public structures are, in bytes: those that differ between its major versions.
 * Minor versions add fields only at the end of a structure. From the headers of 5.1, 6.1, 7.1 and 8.0 on x86-64, whose
 * rules of alignment AArch64 shares.
 *
 * @param streamCodec {@code AVStream.codecpar}
 * @param streamTimeBase {@code AVStream.time_base}
 * @param streamFrames {@code AVStream.nb_frames}
 * @param streamDisposition {@code AVStream.disposition}
 * @param sideData {@code AVCodecParameters.coded_side_data}, before its count; -1 if the
 *     stream has it
 * @param channels {@code AVCodecParameters.ch_layout.nb_channels}
 * @param frameFlags {@code AVFrame.flags}
 * @param frameErrors {@code AVFrame.decode_error_flags}
 * @param frameRange {@code AVFrame.color_range}
 * @param frameMatrix {@code AVFrame.colorspace}
 * @param frameRate {@code AVFrame.sample_rate}
 * @param frameChannels {@code AVFrame.ch_layout.nb_channels}
 */
record StructOffsets(int streamCodec, int streamTimeBase, int streamFrames, int streamDisposition, int sideData,
        int channels, int frameFlags, int frameErrors, int frameRange, int frameMatrix, int frameRate,
        int frameChannels) {

    /** {@code AVFormatContext}. */
    static final int FORMAT_PB = 32;
    static final int FORMAT_STREAM_COUNT = 44;
    static final int FORMAT_STREAMS = 48;
    /** {@code AVCodecParameters}. */
    static final int CODEC_TYPE = 0;
    static final int CODEC_ID = 4;
    static final int CODEC_EXTRADATA = 16;
    static final int CODEC_EXTRADATA_BYTES = 24;
    /** {@code AVPacket}. */
    static final int PACKET_PTS = 8;
    static final int PACKET_DTS = 16;
    static final int PACKET_DATA = 24;
    static final int PACKET_BYTES = 32;
    static final int PACKET_STREAM = 36;
    static final int PACKET_FLAGS = 40;
    static final int PACKET_POS = 72;
    /** {@code AVFrame}: eight addresses of planes and eight line sizes first. */
    static final int FRAME_DATA = 0;
    static final int FRAME_LINE_BYTES = 64;
    static final int FRAME_EXTENDED_DATA = 96;
    static final int FRAME_WIDTH = 104;
    static final int FRAME_HEIGHT = 108;
    static final int FRAME_SAMPLES = 112;
    static final int FRAME_FORMAT = 116;
    static final int FRAME_PTS = 136;
    /** {@code AVIOContext.buffer}. */
    static final int IO_BUFFER = 8;

    private static final StructOffsets V5 = new StructOffsets(208, 16, 40, 48, -1, 148, 316, 376, 320, 332, 208, 452);
    private static final StructOffsets V6 = new StructOffsets(16, 32, 56, 64, 176, 148, 316, 376, 320, 332, 208, 452);
    private static final StructOffsets V7 = new StructOffsets(16, 32, 56, 64, 32, 132, 292, 344, 296, 308, 192, 412);
    private static final StructOffsets V8 = new StructOffsets(16, 32, 56, 64, 32, 132, 276, 320, 280, 292, 180, 388);

    /** Returns the offsets of FFmpeg's major version, 5 to 8. */
    static StructOffsets of(int major) {
        return switch (major) {
            case 5 -> V5;
            case 6 -> V6;
            case 7 -> V7;
            case 8 -> V8;
            default -> throw new IllegalArgumentException("FFmpeg " + major + ", expected 5 to 8");
        };
    }
}
