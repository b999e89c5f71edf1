// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.penstock.error.CodecException;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The packets of one video in decoding order, and its frames in the order of showing. Loading another video reuses the
 * arrays. For one thread. {@code docs/spec/clips.md} has the layout of the bytes.
 *
 * <pre>
 *  0 u64 byte size of the file      52 u32 packets                 then  codec's name
 *  8     SHA-256 of the file        56 u32 frames                        extradata
 * 40 u32 state: 0 good, 1 bad       60 u32 bytes of the codec's name     reason
 * 44 u32 time base, numerator       64 u32 bytes of the extradata        packets
 * 48 u32 time base, denominator     68 u32 bytes of the reason
 *                                   72 u32 rotation in degrees
 * </pre>
 */
final class PacketTable extends IndexEntry {

    private static final int NUMERATOR = 44;
    private static final int DENOMINATOR = 48;
    private static final int PACKETS = 52;
    private static final int FRAMES = 56;
    private static final int ROTATION = 72;

    /** The container marks the packet as a key. */
    static final byte KEY = 1;
    /** Decoding can begin at the packet. */
    static final byte CLEAN = 2;
    /** ... which was found by trying, when the whole file had no damage. */
    static final byte PROVEN = 4;
    /** An edit list leaves the packet's frame out. */
    static final byte DISCARDED = 8;

    int numerator;
    int denominator;
    int rotation;
    int packets;
    int frames;
    /** Of each packet: where it is in the file, its size, when it is decoded and shown, what it is. */
    long[] position = {};
    int[] size = {};
    long[] dts = {};
    long[] pts = {};
    byte[] flags = {};
    /** The packet of each frame. */
    int[] packetOf = {};

    /** Makes room for this many packets. */
    void grow(int count) {
        if (position.length < count) {
            int room = Math.max(count, 2 * position.length);
            position = Arrays.copyOf(position, room);
            size = Arrays.copyOf(size, room);
            dts = Arrays.copyOf(dts, room);
            pts = Arrays.copyOf(pts, room);
            flags = Arrays.copyOf(flags, room);
            packetOf = Arrays.copyOf(packetOf, room);
        }
    }

    /** Reads how many frames an entry has, without its packets; 0 if the file is bad. */
    static int frames(MemorySegment index, long offset) {
        return index.get(JAVA_INT_UNALIGNED, offset + FRAMES);
    }

    /**
     * Loads an entry of an index.
     *
     * @throws CodecException if the file was found to be bad when the index was made, or the entry is malformed
     */
    void load(MemorySegment index, long offset, long entryBytes) {
        open(index, offset, entryBytes);
        numerator = i32(NUMERATOR);
        denominator = i32(DENOMINATOR);
        rotation = i32(ROTATION);
        packets = i32(PACKETS);
        frames = i32(FRAMES);
        if (packets < 0 || frames < 0 || frames > packets || numerator < 1 || denominator < 1
                || packets > entryBytes) {
            throw new CodecException("an index of " + packets + " packets and " + frames + " frames",
                    "one that is not damaged");
        }
        grow(packets);
        readPackets();
    }

    private void readPackets() {
        Arrays.fill(packetOf, 0, frames, -1);
        long next = 0;
        long time = 0;
        long step = 0;
        int shown = 0;
        long end = TimeStamps.end(numerator, denominator);
        for (int i = 0; i < packets; i++) {
            flags[i] = (byte) varint();
            position[i] = next + signed();
            size[i] = (int) Math.min(varint(), Integer.MAX_VALUE);
            step += signed();
            time += step;
            dts[i] = time;
            pts[i] = time + signed();
            TimeStamps.check(pts[i], end);
            if (position[i] < 0 || size[i] < 0 || position[i] > fileBytes - size[i]) {
                throw new CodecException("packet " + i + " at byte " + position[i] + " of " + size[i] + " bytes",
                        "one within " + fileBytes + " bytes");
            }
            next = position[i] + size[i];
            if ((flags[i] & DISCARDED) == 0) {
                long frame = shown + signed();
                if (frame < 0 || frame >= frames || packetOf[(int) frame] >= 0) {
                    throw new CodecException("packet " + i + " of frame " + frame, "each of " + frames + " once");
                }
                packetOf[(int) frame] = i;
                shown++;
            }
        }
        if (shown != frames) {
            throw new CodecException(shown + " packets with frames", String.valueOf(frames));
        }
    }

    /** Encodes the table as an entry of an index. */
    byte[] encode(byte[] digest, String codec, byte[] extradata) {
        byte[] name = codec.getBytes(StandardCharsets.US_ASCII);
        var out = new ByteArrayOutputStream();
        out.writeBytes(header(fileBytes, digest, GOOD, numerator, denominator, packets, frames, name.length,
                extradata.length, 0, rotation));
        out.writeBytes(name);
        out.writeBytes(extradata);
        int[] frameOf = new int[packets];
        for (int frame = 0; frame < frames; frame++) {
            frameOf[packetOf[frame]] = frame;
        }
        long next = 0;
        long time = 0;
        long step = 0;
        int shown = 0;
        for (int i = 0; i < packets; i++) {
            put(out, flags[i]);
            putSigned(out, position[i] - next);
            put(out, size[i]);
            putSigned(out, dts[i] - time - step);
            step = dts[i] - time;
            time = dts[i];
            putSigned(out, pts[i] - time);
            next = position[i] + size[i];
            if ((flags[i] & DISCARDED) == 0) {
                putSigned(out, frameOf[i] - shown++);
            }
        }
        return out.toByteArray();
    }
}
