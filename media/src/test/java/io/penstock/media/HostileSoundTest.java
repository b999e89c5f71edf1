// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of sound, and indexes, that were made to do harm: they are refused with a reason. */
final class HostileSoundTest {

    private static final String FLAC = "flac-s16-16k-mono.flac";
    private static final int CHANNELS = 48;

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private static MemorySegment memory(byte[] file) {
        return Arena.ofAuto().allocate(file.length).copyFrom(MemorySegment.ofArray(file));
    }

    private static SoundTable load(byte[] index) {
        var table = new SoundTable();
        table.load(MemorySegment.ofArray(index), 0, index.length);
        return table;
    }

    private static String refusal(byte[] index) {
        return String.valueOf(assertThrows(CodecException.class, () -> load(index)).getMessage());
    }

    /** 24 channels as the header says, 8 in its frames. A plane that a frame does not have was read at any address. */
    private static MemorySegment aac24() {
        List<byte[]> packets = new ArrayList<>();
        packets.add(new byte[] {-1, -1, -1, -1, 0, 0, 0, 1});
        byte[] adts = VideoFixture.resource("aac-48k-7.1.aac");
        for (int at = 0; at < adts.length;) {
            int size = (adts[at + 3] & 3) << 11 | (adts[at + 4] & 0xFF) << 3 | (adts[at + 5] & 0xFF) >> 5;
            packets.add(Arrays.copyOfRange(adts, at, at + size));
            at += size;
        }
        return memory(new MatroskaSound("A_AAC", new byte[] {0x11, (byte) 0xE8}, 48_000, 24, 0).file(packets));
    }

    @Test
    void framesOfFewerChannelsThanTheHeaderSaysAreRefused() throws IOException {
        MemorySegment file = aac24();
        try (Decoder.Session session = SoundDecoder.mono(48_000).open()) {
            assertEquals("a frame of 8 channels, expected 24", assertThrows(CodecException.class,
                    () -> session.byteSize(file, file.byteSize())).getMessage());
        }
        assertTrue(String.valueOf(assertThrows(MalformedStoreException.class, () -> MediaDigest.of("file", file))
                .getMessage()).contains("a frame of 8 channels"));
        assertFalse(refusal(SoundIndexer.index(file, DecoderLimits.DEFAULT)).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void framesOfOtherChannelsThanTheIndexSaysAreRefused(int channels) throws IOException {
        byte[] file = VideoFixture.resource("vorbis-44k-stereo.ogg");
        byte[] index = SoundIndexer.index(MemorySegment.ofArray(file), DecoderLimits.DEFAULT);
        index[CHANNELS] = (byte) channels;
        MemorySegment entry = MemorySegment.ofArray(index);
        try (var reader = new SoundClipReader(5000)) {
            reader.load(entry, 0, index.length);
            assertEquals("a frame of 2 channels, expected " + channels, assertThrows(CodecException.class,
                    () -> reader.read(entry, 0, MemorySegment.ofArray(file), 0, 0, 100,
                            MemorySegment.ofArray(new float[400]), 0, 400)).getMessage());
        }
    }

    private static byte[] streamInfo(byte[] flac) {
        return Arrays.copyOfRange(flac, 8, 8 + 34);
    }

    /** Packets of a file of FLAC, in Matroska, whose CodecPrivate begins as the file. */
    private static byte[] matroska(byte[] flac, long time, List<byte[]> packets) {
        byte[] parameters = Arrays.copyOf(flac, 8 + 34);
        parameters[4] |= (byte) 0x80;
        return new MatroskaSound("A_FLAC", parameters, 16_000, 1, time).file(packets);
    }

    private static List<byte[]> packets(byte[] flac) throws IOException {
        SoundTable table = load(SoundIndexer.index(MemorySegment.ofArray(flac), DecoderLimits.DEFAULT));
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < table.pieces; i++) {
            packets.add(Arrays.copyOfRange(flac, (int) table.position[i], (int) table.position[i] + table.size[i]));
        }
        return packets;
    }

    @Test
    void aTimeOf68YearsIsRefusedWhenTheIndexIsMade() throws IOException {
        byte[] flac = VideoFixture.resource(FLAC);
        List<byte[]> packets = packets(flac);
        byte[] near = matroska(flac, 1_700_000_000_000L, packets);
        assertEquals(1_700_000_000L * 16_000, load(SoundIndexer.index(memory(near), DecoderLimits.DEFAULT)).time,
                "a time that counts from 1970");
        for (long time : new long[] {1L << 42, 1L << 53}) {
            byte[] far = matroska(flac, time, packets);
            String reason = refusal(SoundIndexer.index(memory(far), DecoderLimits.DEFAULT));
            assertTrue(reason.contains("a packet at the time stamp " + time), reason);
        }
    }

    @Test
    void anIndexWithAFarTimeIsRefused() throws IOException {
        SoundTable table = load(SoundIndexer.index(memory(VideoFixture.resource(FLAC)), DecoderLimits.DEFAULT));
        byte[] parameters = streamInfo(VideoFixture.resource(FLAC));
        for (long time : new long[] {1L << 61, Long.MAX_VALUE, Long.MIN_VALUE}) {
            table.time = time;
            assertTrue(refusal(table.encode(new byte[32], "flac", parameters)).contains("the time of sample " + time));
        }
    }

    /** The CRC-16 ends a frame; FFmpeg's decoder gives the samples of one whose CRC is wrong. */
    @Test
    void flacWithAWrongCrcIsRefusedWhenTheIndexIsMade() throws IOException {
        byte[] flac = VideoFixture.resource(FLAC);
        List<byte[]> packets = packets(flac);
        SoundTable good = load(SoundIndexer.index(memory(matroska(flac, 0, packets)), DecoderLimits.DEFAULT));
        assertEquals(packets.size(), good.pieces);
        byte[] changed = packets.get(1).clone();
        changed[changed.length - 1] ^= 1;
        packets.set(1, changed);
        String reason = refusal(SoundIndexer.index(memory(matroska(flac, 0, packets)), DecoderLimits.DEFAULT));
        assertTrue(reason.contains("whose CRC-16 is"), reason);
    }

    @Test
    void aPacketWithTwoFramesOfFlacIsRefusedWhenTheIndexIsMade() throws IOException {
        byte[] flac = VideoFixture.resource(FLAC);
        List<byte[]> packets = packets(flac);
        var two = new ByteArrayOutputStream();
        two.writeBytes(packets.get(0));
        two.writeBytes(packets.get(1));
        packets.remove(0);
        packets.set(0, two.toByteArray());
        String reason = refusal(SoundIndexer.index(memory(matroska(flac, 0, packets)), DecoderLimits.DEFAULT));
        assertTrue(reason.contains("packet 0 with a frame of "), reason);
    }

    /** The pieces of the last packet count too. */
    @Test
    void aPacketOfMoreThanTheMostPiecesIsRefused() throws IOException {
        byte[] flac = VideoFixture.resource(FLAC);
        SoundTable whole = load(SoundIndexer.index(memory(flac), DecoderLimits.DEFAULT));
        int parts = 20;
        var cut = new SoundTable();
        cut.fileBytes = flac.length;
        cut.rate = whole.rate;
        cut.channels = 1;
        cut.samples = whole.start[1];
        cut.grow(parts);
        cut.pieces = parts;
        for (int i = 0; i < parts; i++) {
            int size = i < parts - 1 ? 10 : whole.size[0] - 10 * i;
            cut.position[i] = whole.position[0] + 10L * i;
            cut.size[i] = size;
            cut.flags[i] = i == 0 ? (byte) (SoundTable.ENTRY | SoundTable.PROVEN) : SoundTable.CONTINUED;
            cut.start[i + 1] = whole.start[1];
        }
        byte[] index = cut.encode(new byte[32], "flac", streamInfo(flac));
        MemorySegment entry = MemorySegment.ofArray(index);
        float[] samples = new float[cut.samples];
        try (var enough = new SoundClipReader(parts); var fewer = new SoundClipReader(parts - 1)) {
            enough.load(entry, 0, index.length);
            enough.read(entry, 0, MemorySegment.ofArray(flac), 0, 0, samples.length, MemorySegment.ofArray(samples),
                    0, 4L * samples.length);
            fewer.load(entry, 0, index.length);
            assertEquals("a clip for which 20 packets must be decoded, expected at most 19",
                    assertThrows(CodecException.class, () -> fewer.read(entry, 0, MemorySegment.ofArray(flac), 0, 0,
                            samples.length, MemorySegment.ofArray(samples), 0, 4L * samples.length)).getMessage());
        }
    }

    /** 3, then 2^63 - 1 more than no packet has: their sum is below 0, and so was taken. */
    @Test
    void anIndexWhosePacketsHaveTooManySamplesIsRefused() {
        byte[] name = "flac".getBytes(StandardCharsets.US_ASCII);
        var index = new ByteArrayOutputStream();
        index.writeBytes(IndexEntry.header(100, new byte[32], IndexEntry.GOOD, 16_000, 1, 4, 2, name.length, 0, 0, 0));
        index.writeBytes(name);
        IndexEntry.put(index, 0);
        IndexEntry.putSigned(index, 0);
        for (long more : new long[] {3, Long.MAX_VALUE - 3, 0, 4 - Long.MAX_VALUE}) {
            IndexEntry.put(index, SoundTable.ENTRY);
            IndexEntry.putSigned(index, 0);
            IndexEntry.put(index, 1);
            IndexEntry.putSigned(index, more);
        }
        assertTrue(refusal(index.toByteArray()).startsWith("piece 1 "));
    }

    /** MP3, a plain file that is refused, the MP3 again, whose samples were kept. */
    @Test
    void aRefusedFileDoesNotChangeTheNext() throws IOException {
        MemorySegment mp3 = memory(VideoFixture.resource("mp3-cbr-44k-stereo.mp3"));
        MemorySegment empty = memory(wav(8000));
        try (Decoder.Session session = SoundDecoder.mono(16_000).resampled().open()) {
            float[] first = decode(session, mp3);
            assertThrows(CodecException.class, () -> session.byteSize(empty, empty.byteSize()));
            assertArrayEquals(first, decode(session, mp3));
        }
    }

    private static float[] decode(Decoder.Session session, MemorySegment file) throws IOException {
        MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()), 4);
        session.decode(file, file.byteSize(), out, 0, out.byteSize());
        return out.toArray(ValueLayout.JAVA_FLOAT);
    }

    /** A file of one channel of 16 bits, without samples. */
    private static byte[] wav(int rate) {
        var out = ByteBuffer.allocate(44).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(0x46464952).putInt(36).putInt(0x45564157).putInt(0x20746D66).putInt(16).putShort((short) 1)
                .putShort((short) 1).putInt(rate).putInt(2 * rate).putShort((short) 2).putShort((short) 16)
                .putInt(0x61746164).putInt(0);
        return out.array();
    }
}
