// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * Writes Matroska with one track of sound, also such as no program writes (RFC 9559).
 *
 * @param codec Matroska's name of the codec
 * @param parameters what its decoder needs before the first packet
 * @param rate samples a second
 * @param channels how many channels its header says
 * @param time when the first packet is heard, in milliseconds
 */
record MatroskaSound(String codec, byte[] parameters, double rate, int channels, long time) {

    byte[] file(List<byte[]> packets) {
        byte[] header = element("1A45DFA3", element("4282", text("matroska")), number("4287", 4), number("4285", 2));
        byte[] sound = element("E1", element("B5", ByteBuffer.allocate(8).putDouble(rate).array()),
                number("9F", channels));
        byte[] track = element("AE", number("D7", 1), number("73C5", 1), number("83", 2), element("86", text(codec)),
                element("63A2", parameters), sound);
        var cluster = new ByteArrayOutputStream();
        cluster.writeBytes(number("E7", time));
        for (int i = 0; i < packets.size(); i++) {
            ByteBuffer block = ByteBuffer.allocate(4 + packets.get(i).length);
            cluster.writeBytes(element("A3", block.put((byte) 0x81).putShort((short) (20 * i)).put((byte) 0x80)
                    .put(packets.get(i)).array()));
        }
        byte[] segment = element("18538067", element("1549A966", number("2AD7B1", 1_000_000)),
                element("1654AE6B", track), element("1F43B675", cluster.toByteArray()));
        return joined(header, segment);
    }

    private static byte[] text(String value) {
        return value.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] number(String id, long value) {
        return element(id, ByteBuffer.allocate(8).putLong(value).array());
    }

    private static byte[] element(String id, byte[]... parts) {
        byte[] content = joined(parts);
        return joined(HexFormat.of().parseHex(id), ByteBuffer.allocate(8).putLong(1L << 56 | content.length).array(),
                content);
    }

    private static byte[] joined(byte[]... parts) {
        var out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
