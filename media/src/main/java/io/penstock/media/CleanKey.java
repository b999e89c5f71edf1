// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/**
 * Tells from a packet's bytes whether decoding can begin there. Containers also mark packets as keys from which a
 * decoder gives other frames than it gives when it has decoded all before.
 */
final class CleanKey {

    private static final int H264_IDR = 5;
    /** IDR, CRA and BLA pictures of H.265. */
    private static final int HEVC_FIRST = 16;
    private static final int HEVC_LAST = 21;
    /** The byte before the type of a picture of MPEG-4 part 2. */
    private static final int MPEG4_PICTURE = 0xB6;
    private static final int AV1_SEQUENCE = 1;
    private static final int AV1_FRAME_HEADER = 3;
    private static final int AV1_FRAME = 6;

    private final String codec;
    /** Bytes of the length before a unit of H.264 and H.265; 0 if units begin with a start code. */
    private final int lengthBytes;

    CleanKey(String codec, byte[] extradata) {
        this.codec = codec;
        boolean isUnits = codec.equals("h264") && extradata.length > 6 && extradata[0] == 1
                || codec.equals("hevc") && extradata.length > 22 && extradata[0] == 1;
        lengthBytes = isUnits ? (extradata[codec.equals("h264") ? 4 : 21] & 3) + 1 : 0;
    }

    /** Tells whether the bytes of a key packet begin anew. */
    boolean is(MemorySegment packet) {
        return switch (codec) {
            case "h264", "hevc" -> hasUnit(packet);
            case "vp9" -> isVp9Key(packet);
            case "av1" -> isAv1Key(packet);
            case "mpeg4" -> isMpeg4Key(packet);
            default -> false;
        };
    }

    private boolean isKeyUnit(int header) {
        int type = codec.equals("h264") ? header & 31 : header >> 1 & 63;
        return codec.equals("h264") ? type == H264_IDR : type >= HEVC_FIRST && type <= HEVC_LAST;
    }

    private boolean hasUnit(MemorySegment packet) {
        return lengthBytes > 0 ? hasSizedUnit(packet) : hasStartedUnit(packet);
    }

    private boolean hasSizedUnit(MemorySegment packet) {
        long at = 0;
        while (at + lengthBytes < packet.byteSize()) {
            long length = 0;
            for (int i = 0; i < lengthBytes; i++) {
                length = length << 8 | u8(packet, at + i);
            }
            if (isKeyUnit(u8(packet, at + lengthBytes))) {
                return true;
            }
            at += lengthBytes + length;
        }
        return false;
    }

    private boolean hasStartedUnit(MemorySegment packet) {
        for (long at = 0; at + 3 < packet.byteSize(); at++) {
            if (isStart(packet, at) && isKeyUnit(u8(packet, at + 3))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isStart(MemorySegment packet, long at) {
        return u8(packet, at) == 0 && u8(packet, at + 1) == 0 && u8(packet, at + 2) == 1;
    }

    /** The first picture's type. */
    private static boolean isMpeg4Key(MemorySegment packet) {
        for (long at = 0; at + 4 < packet.byteSize(); at++) {
            if (isStart(packet, at) && u8(packet, at + 3) == MPEG4_PICTURE) {
                return u8(packet, at + 4) >> 6 == 0;
            }
        }
        return false;
    }

    /** Frame marker 2, profile, no frame that is shown again, frame type 0. */
    private static boolean isVp9Key(MemorySegment packet) {
        if (packet.byteSize() < 2) {
            return false;
        }
        int bits = u8(packet, 0) << 8 | u8(packet, 1);
        int profile = bits >> 13 & 1 | bits >> 11 & 2;
        int after = bits << (profile == 3 ? 5 : 4);
        return bits >> 14 == 2 && (after & 0xC000) == 0;
    }

    /** A sequence header, then a frame that is a key and shown. */
    private static boolean isAv1Key(MemorySegment packet) {
        long at = 0;
        boolean hasSequence = false;
        while (at < packet.byteSize()) {
            int header = u8(packet, at++);
            int type = header >> 3 & 15;
            at += header >> 2 & 1;
            long length = packet.byteSize() - at;
            if ((header & 2) != 0) {
                length = 0;
                for (int shift = 0; at < packet.byteSize() && shift < 56; shift += 7) {
                    int b = u8(packet, at++);
                    length |= (long) (b & 0x7F) << shift;
                    if (b < 0x80) {
                        break;
                    }
                }
            }
            if (type == AV1_SEQUENCE) {
                hasSequence = true;
            } else if (type == AV1_FRAME_HEADER || type == AV1_FRAME) {
                // show_existing_frame, frame_type of two bits, show_frame
                return hasSequence && at < packet.byteSize() && u8(packet, at) >> 4 == 1;
            }
            at += length;
        }
        return false;
    }

    private static int u8(MemorySegment packet, long at) {
        return packet.get(JAVA_BYTE, at) & 0xFF;
    }
}
