// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.internal.Sha256;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files that FFmpeg and libsndfile wrote, against what FFmpeg reads of them ({@code bench/peers/sound_files.py}). */
final class FlacReaderTest {

    private static final int MUTATIONS = Integer.getInteger("penstock.mutations", 100);
    private static final int SEED = Integer.getInteger("penstock.mutations.seed", 0);
    private static final int HEADER_BYTES = 42;
    private static final FlacReader REUSED = new FlacReader();

    record Fixture(String name, int rate, int channels, long samples, String sha256) {

        static Fixture of(String line) {
            String[] of = line.split("\t");
            return new Fixture(of[0], Integer.parseInt(of[1]), Integer.parseInt(of[2]), Long.parseLong(of[3]), of[4]);
        }

        byte[] bytes() {
            return resource(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static byte[] resource(String name) {
        try (InputStream in = FlacReaderTest.class.getResourceAsStream("/sound/flac/" + name)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Stream<Fixture> files() {
        return new String(resource("flac.tsv"), StandardCharsets.UTF_8).lines().map(Fixture::of);
    }

    /** Native memory that ends with the file, at an address that is no multiple of a word's size. */
    private static MemorySegment memory(byte[] file) {
        return Arena.ofAuto().allocate(file.length + 1L).asSlice(1).copyFrom(MemorySegment.ofArray(file));
    }

    /** All samples, interleaved; empty if the file is not for this reader. */
    private static float[] read(FlacReader reader, byte[] file) {
        if (!reader.open(memory(file), file.length)) {
            return new float[0];
        }
        int channels = reader.channels();
        float[] all = {};
        reader.start();
        for (int count = reader.next(); count > 0; count = reader.next()) {
            int at = all.length;
            all = Arrays.copyOf(all, at + count * channels);
            for (int channel = 0; channel < channels; channel++) {
                reader.copy(channel, all, at + channel, channels);
            }
        }
        assertEquals(reader.samples() * channels, all.length);
        return all;
    }

    @ParameterizedTest
    @MethodSource("files")
    void samplesAreThoseOfFfmpeg(Fixture fixture) throws IOException {
        float[] samples = read(REUSED, fixture.bytes());
        assertEquals(fixture.rate, REUSED.rate());
        assertEquals(fixture.samples * fixture.channels, samples.length);
        assertArrayEquals(samples, read(new FlacReader(), fixture.bytes()), "a reader that read other files");
        MemorySegment out = Arena.ofAuto().allocate(4L * samples.length, 4);
        MemorySegment.copy(samples, 0, out, JAVA_FLOAT_UNALIGNED, 0, samples.length);
        var sha256 = Sha256.digest();
        sha256.update(out.toArray(JAVA_BYTE));
        assertEquals(fixture.sha256, Sha256.hex(sha256));

        assertArrayEquals(samples, decode(SoundDecoder.channels(fixture.channels, fixture.rate), fixture));
        float[] means = new float[(int) fixture.samples];
        for (int i = 0; i < samples.length; i++) {
            means[i / fixture.channels] += samples[i];
        }
        for (int i = 0; i < means.length; i++) {
            means[i] /= fixture.channels;
        }
        assertArrayEquals(means, decode(SoundDecoder.mono(fixture.rate), fixture));
    }

    private static float[] decode(SoundDecoder decoder, Fixture fixture) throws IOException {
        MemorySegment file = memory(fixture.bytes());
        try (Decoder.Session session = decoder.open()) {
            MemorySegment decoded = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()), 4);
            session.decode(file, file.byteSize(), decoded, 0, decoded.byteSize());
            return decoded.toArray(JAVA_FLOAT_UNALIGNED);
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void fewerBytesAndChangedOnesAreRefused(Fixture fixture) {
        byte[] file = fixture.bytes();
        var reader = new FlacReader();
        for (int length = 0; length < file.length; length += 1 + length / 100) {
            byte[] cut = Arrays.copyOf(file, length);
            if (reader.open(memory(cut), length)) {
                assertThrows(CodecException.class, () -> read(reader, cut), "cut at " + length);
            }
        }
        int first = frames(file);
        for (int at = first; at < file.length; at += 1 + (at - first) / 100) {
            byte[] changed = file.clone();
            changed[at] ^= (byte) (1 << at % 8);
            assertThrows(CodecException.class, () -> read(reader, changed), "changed at " + at);
        }
    }

    /** The first byte behind the header. */
    private static int frames(byte[] file) {
        int at = 4;
        boolean isLast;
        do {
            isLast = file[at] < 0;
            at += 4 + ((file[at + 1] & 0xFF) << 16 | (file[at + 2] & 0xFF) << 8 | file[at + 3] & 0xFF);
        } while (!isLast);
        return at;
    }

    /** Frames whose CRC is right though their bytes are not: samples or a reason. {@code -Dpenstock.mutations=N}. */
    @ParameterizedTest
    @MethodSource("files")
    void mutatedFramesGiveSamplesOrAReason(Fixture fixture) {
        byte[] file = fixture.bytes();
        int first = frames(file);
        var random = new Random(fixture.name.hashCode() + SEED);
        var reader = new FlacReader();
        for (int mutation = 0; mutation < MUTATIONS; mutation++) {
            byte[] changed = file.clone();
            for (int i = random.nextInt(8); i >= 0; i--) {
                int at = random.nextInt(4) == 0 ? random.nextInt(Math.min(file.length, first + 16))
                        : first + random.nextInt(file.length - first);
                changed[at] = (byte) random.nextInt();
            }
            int crc = crc(changed, first, file.length - 2);
            changed[file.length - 2] = (byte) (crc >> 8);
            changed[file.length - 1] = (byte) crc;
            try {
                read(reader, changed);
            } catch (CodecException e) {
                assertFalse(String.valueOf(e.getMessage()).isEmpty());
            }
        }
    }

    private static int crc(byte[] bytes, int from, int to) {
        int crc = 0;
        for (int i = from; i < to; i++) {
            crc ^= (bytes[i] & 0xFF) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc << 1 ^ (crc >> 15) * 0x8005) & 0xFFFF;
            }
        }
        return crc;
    }

    /** Writes a file of one channel, 16 bits. */
    private static final class Writer {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int partial = 1;

        Writer put(long value, int width) {
            for (int bit = width - 1; bit >= 0; bit--) {
                partial = partial << 1 | (int) (value >> bit & 1);
                if (partial >= 256) {
                    bytes.write(partial);
                    partial = 1;
                }
            }
            return this;
        }

        /** Writes the header. */
        Writer begin(int most, long total) {
            return put(0x664C6143, 32).put(0x80000022, 32).put(most, 16).put(most, 16).put(0, 48).put(16_000, 20)
                    .put(0, 3).put(15, 5).put(total, 36).put(0, 64).put(0, 64);
        }

        /** Begins a frame of 256 samples. */
        int frame(int number) {
            int at = bytes.size();
            put(0xFFF8, 16).put(0x8508, 16).put(0xC0 | number >> 6, 8).put(0x80 | number & 63, 8).put(0, 8);
            return at;
        }

        void end(int frame) {
            while (partial != 1) {
                put(0, 1);
            }
            put(crc(bytes.toByteArray(), frame, bytes.size()), 16);
        }
    }

    /** Files of no encoder at hand: residuals as they are, and quotients of any length. */
    @Test
    void escapedPartitionsAndLongQuotientsAreRead() {
        var writer = new Writer().begin(256, 256);
        int frame = writer.frame(0);
        // A subframe of fixed order 1 from 5, with four partitions: of 6 bits, of none, Rice codes of 0 and of 3 bits.
        writer.put(9 << 1, 8).put(5, 16).put(0, 2).put(2, 4);
        float[] expected = new float[256];
        int value = 5;
        expected[0] = value * 0x1p-15f;
        writer.put(15, 4).put(6, 5);
        for (int i = 1; i < 64; i++) {
            int residual = i % 64 - 32;
            writer.put(residual, 6);
            value += residual;
            expected[i] = value * 0x1p-15f;
        }
        writer.put(15, 4).put(0, 5);
        Arrays.fill(expected, 64, 128, value * 0x1p-15f);
        for (int partition = 2; partition < 4; partition++) {
            int width = partition == 2 ? 0 : 3;
            writer.put(width, 4);
            for (int i = 0; i < 64; i++) {
                int residual = i % 2 == 0 ? 2 * i : -2 * i;
                int code = residual << 1 ^ residual >> 31;
                for (int zeros = code >> width; zeros > 0; zeros--) {
                    writer.put(0, 1);
                }
                writer.put(1, 1).put(code, width);
                value += residual;
                expected[64 * partition + i] = value * 0x1p-15f;
            }
        }
        writer.end(frame);
        assertArrayEquals(expected, read(new FlacReader(), writer.bytes.toByteArray()));
    }

    /** More bytes than are held at once. */
    @Test
    void aLongFileIsReadInParts() {
        int frames = 1500;
        var writer = new Writer().begin(256, 256L * frames);
        var random = new Random(1);
        float[] expected = new float[256 * frames];
        for (int f = 0; f < frames; f++) {
            int frame = writer.frame(f);
            writer.put(1 << 1, 8);
            for (int i = 0; i < 256; i++) {
                short value = (short) random.nextInt();
                writer.put(value, 16);
                expected[256 * f + i] = value * 0x1p-15f;
            }
            writer.end(frame);
        }
        assertArrayEquals(expected, read(new FlacReader(), writer.bytes.toByteArray()));
    }

    /** Others are for FFmpeg: no number of samples, 32 bits, another format; and a number that cannot be. */
    @Test
    void filesThatAreNotForThisReaderAreNotOpened() {
        var reader = new FlacReader();
        byte[] file = new Writer().begin(256, 256).put(0, 64).put(0, 64).bytes.toByteArray();
        assertTrue(reader.open(memory(file), file.length));
        for (byte[] other : new byte[][] {new Writer().begin(256, 0).put(0, 64).put(0, 64).bytes.toByteArray(),
            new Writer().begin(256, 1L << 35).put(0, 64).put(0, 64).bytes.toByteArray(),
            Arrays.copyOf(file, HEADER_BYTES - 1), "RIFF".getBytes(StandardCharsets.US_ASCII)}) {
            assertFalse(reader.open(memory(other), other.length));
        }
        file[21] |= (byte) 0xF0;
        file[20] |= 1;
        assertFalse(reader.open(memory(file), file.length), "32 bits");
    }
}
