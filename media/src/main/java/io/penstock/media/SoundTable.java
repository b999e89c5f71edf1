// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.penstock.error.CodecException;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The packets of the sound of one file, and how many samples a decoder makes of each. Loading another file reuses the
 * arrays. For one thread. {@code docs/spec/clips.md} has the layout of the bytes.
 *
 * <pre>
 *  0 u64 byte size of the file      52 u32 pieces of packets      then  codec's name
 *  8     SHA-256 of the file        56 u32 samples of a channel         extradata
 * 40 u32 state: 0 good, 1 bad       60 u32 bytes of the codec's name    reason
 * 44 u32 samples a second           64 u32 bytes of the extradata       cut, time
 * 48 u32 channels                   68 u32 bytes of the reason          pieces
 *                                   72 u32 packets decoded before an entry
 * </pre>
 */
final class SoundTable extends IndexEntry {

    private static final int RATE = 44;
    private static final int CHANNELS = 48;
    private static final int PIECES = 52;
    private static final int SAMPLES = 56;
    private static final int BEFORE = 72;
    private static final int MAX_CHANNELS = 64;

    /** Decoding from some packets before was tried here. */
    static final byte ENTRY = 1;
    /** ... and gave, up to the next entry, the samples of decoding from the start. */
    static final byte PROVEN = 4;
    /** The bytes belong to the packet of the piece before. */
    static final byte CONTINUED = 16;

    int rate;
    int channels;
    int samples;
    /** How many packets are decoded before an entry, for the state of the decoder. */
    int before;
    /** How many samples that the decoder gives first are left out. */
    int cut;
    /** When the first sample is heard, in samples from time 0 of the file. */
    long time;
    int pieces;
    /** Of each piece of a packet: where it is in the file, its size, what it is. */
    long[] position = {};
    int[] size = {};
    byte[] flags = {};
    /** How many samples the decoder has made before it decodes the packet; of one behind the last, of all. */
    int[] start = {0};

    /** Makes room for this many pieces. */
    void grow(int count) {
        if (position.length < count) {
            int room = Math.max(count, 2 * position.length);
            position = Arrays.copyOf(position, room);
            size = Arrays.copyOf(size, room);
            flags = Arrays.copyOf(flags, room);
            start = Arrays.copyOf(start, room + 1);
        }
    }

    /** Reads how many samples an entry has, without its packets; 0 if the file is bad. */
    static int samples(MemorySegment index, long offset) {
        return index.get(JAVA_INT_UNALIGNED, offset + SAMPLES);
    }

    /**
     * Loads an entry of an index.
     *
     * @throws CodecException if the file was found to be bad when the index was made, or the entry is malformed
     */
    void load(MemorySegment index, long offset, long entryBytes) throws CodecException {
        open(index, offset, entryBytes);
        rate = i32(RATE);
        channels = i32(CHANNELS);
        pieces = i32(PIECES);
        samples = i32(SAMPLES);
        before = i32(BEFORE);
        if (rate < 1 || channels < 1 || channels > MAX_CHANNELS || pieces < 1 || pieces > entryBytes || samples < 1
                || before < 0) {
            throw new CodecException("an index of " + pieces + " pieces and " + samples + " samples",
                    "one that is not damaged");
        }
        cut = (int) Math.min(varint(), Integer.MAX_VALUE);
        time = TimeStamps.checkSamples(signed());
        grow(pieces);
        readPieces();
    }

    private void readPieces() throws CodecException {
        long next = 0;
        long yield = 0;
        long sum = 0;
        for (int i = 0; i < pieces; i++) {
            flags[i] = (byte) varint();
            position[i] = next + signed();
            size[i] = (int) Math.min(varint(), Integer.MAX_VALUE);
            next = position[i] + size[i];
            start[i] = (int) sum;
            if ((flags[i] & CONTINUED) == 0) {
                yield += signed();
                sum += yield;
            }
            if (position[i] < 0 || size[i] < 0 || position[i] > fileBytes - size[i] || yield < 0
                    || yield > Integer.MAX_VALUE || sum > Integer.MAX_VALUE || i == 0 && (flags[i] & CONTINUED) != 0) {
                throw new CodecException("piece " + i + " at byte " + position[i] + " of " + size[i] + " bytes",
                        "one within " + fileBytes + " bytes");
            }
        }
        start[pieces] = (int) sum;
        if (cut < 0 || sum - cut < samples) {
            throw new CodecException("packets of " + sum + " samples", cut + " + " + samples + " or more");
        }
    }

    /** Returns the first piece of the packet that has a sample of those that the decoder gives. */
    int packetOf(int sample) {
        int low = 0;
        int high = pieces;
        while (high - low > 1) {
            int middle = low + high >>> 1;
            if (start[middle] <= sample) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns the first piece of the next packet. */
    int next(int packet) {
        int next = packet + 1;
        while (next < pieces && (flags[next] & CONTINUED) != 0) {
            next++;
        }
        return next;
    }

    /** Returns the first piece of the packet that is this many packets before; at the earliest the first. */
    int back(int packet, int count) {
        int at = packet;
        for (int i = 0; i < count && at > 0; i++) {
            do {
                at--;
            } while (at > 0 && (flags[at] & CONTINUED) != 0);
        }
        return at;
    }

    /** Encodes the table as an entry of an index. */
    byte[] encode(byte[] digest, String codec, byte[] extradata) {
        byte[] name = codec.getBytes(StandardCharsets.US_ASCII);
        var out = new ByteArrayOutputStream();
        out.writeBytes(header(fileBytes, digest, GOOD, rate, channels, pieces, samples, name.length, extradata.length,
                0, before));
        out.writeBytes(name);
        out.writeBytes(extradata);
        put(out, cut);
        putSigned(out, time);
        long next = 0;
        long yield = 0;
        for (int i = 0; i < pieces; i++) {
            put(out, flags[i]);
            putSigned(out, position[i] - next);
            put(out, size[i]);
            next = position[i] + size[i];
            if ((flags[i] & CONTINUED) == 0) {
                // The packet's samples are counted before its second piece.
                long now = start[i + 1] - start[i];
                putSigned(out, now - yield);
                yield = now;
            }
        }
        return out.toByteArray();
    }
}
