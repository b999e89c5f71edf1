// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.internal.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files that FFmpeg and libsndfile wrote, against what FFmpeg 5.1 reads of them ({@code bench/peers/sound_files.py}).
 */
final class PcmReaderTest {

    private record Fixture(String name, int rate, int channels, long samples, String sha256) {

        static Fixture of(String line) {
            String[] of = line.split("\t");
            return new Fixture(of[0], Integer.parseInt(of[1]), Integer.parseInt(of[2]), Long.parseLong(of[3]), of[4]);
        }

        byte[] bytes() {
            return resource("/sound/pcm/" + name);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static byte[] resource(String name) {
        try (InputStream in = PcmReaderTest.class.getResourceAsStream(name)) {
            assertNotNull(in, name);
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Stream<Fixture> files() {
        return new String(resource("/sound/pcm/pcm.tsv"), StandardCharsets.UTF_8).lines().map(Fixture::of);
    }

    /** Native memory that ends with the file, at an address that is no multiple of a sample's size. */
    static MemorySegment memory(byte[] file) {
        MemorySegment memory = Arena.ofAuto().allocate(file.length + 1L).asSlice(1);
        return memory.copyFrom(MemorySegment.ofArray(file));
    }

    private static MemorySegment read(PcmReader reader, long first, long count) {
        MemorySegment out = Arena.ofAuto().allocate(count * reader.channels() * Float.BYTES);
        reader.read(first, count, out, 0);
        return out;
    }

    @ParameterizedTest
    @MethodSource("files")
    void samplesAreThoseOfFfmpeg(Fixture fixture) throws IOException {
        var reader = new PcmReader();
        byte[] file = fixture.bytes();
        assertTrue(reader.open(memory(file), file.length));
        assertEquals(fixture.rate, reader.rate());
        assertEquals(fixture.channels, reader.channels());
        assertEquals(fixture.samples, reader.samples());
        MemorySegment all = read(reader, 0, reader.samples());
        var sha256 = Sha256.digest();
        sha256.update(all.toArray(JAVA_BYTE));
        assertEquals(fixture.sha256, Sha256.hex(sha256));
        for (long first = 0; first < reader.samples(); first += 37) {
            long count = Math.min(50, reader.samples() - first);
            assertEquals(-1, read(reader, first, count).mismatch(all.asSlice(first * 8, count * 8)), "window");
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyFileThatIsCutShortIsRefusedOrUnknown(Fixture fixture) throws IOException {
        byte[] file = fixture.bytes();
        var whole = new PcmReader();
        whole.open(memory(file), file.length);
        MemorySegment samples = read(whole, 0, whole.samples());
        var reader = new PcmReader();
        for (int length = 0; length < file.length; length += length < 130 ? 1 : 41) {
            MemorySegment cut = memory(Arrays.copyOf(file, length));
            try {
                if (reader.open(cut, length)) {
                    // What is behind the samples may be missing.
                    assertEquals(whole.samples(), reader.samples());
                    assertEquals(-1, samples.mismatch(read(reader, 0, reader.samples())));
                } else {
                    assertTrue(length < 12, "unknown at " + length);
                }
            } catch (CodecException e) {
                assertTrue(String.valueOf(e.getMessage()).startsWith("at byte "), e.getMessage());
            }
        }
    }

    @Test
    void manySamplesAreReadInBlocks() throws IOException {
        byte[] small = files().filter(f -> f.name.equals("s24.wav")).findAny().orElseThrow().bytes();
        byte[] file = Arrays.copyOf(small, small.length + 3 * 2 * 10_000);
        int header = small.length - 301 * 6;
        for (int i = header; i < file.length; i++) {
            file[i] = small[header + (i - header) % (301 * 6)];
        }
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(header - 4, file.length - header);
        var reader = new PcmReader();
        assertTrue(reader.open(memory(file), file.length));
        float[] found = read(reader, 0, reader.samples()).toArray(JAVA_FLOAT_UNALIGNED);
        assertTrue(reader.open(memory(small), small.length));
        float[] once = read(reader, 0, 301).toArray(JAVA_FLOAT_UNALIGNED);
        assertEquals(2 * 10_301, found.length);
        for (int i = 0; i < found.length; i++) {
            assertEquals(once[i % 602], found[i]);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "bad-truncated.wav | at byte 44: samples of 32000 bytes, expected at most 8957, the rest of the file",
        "bad-rate.wav      | at byte 24: 4294967295 samples a second, expected 1 to 10000000",
        "bad-channels.wav  | at byte 22: 65535 channels, expected 1 to 64"})
    void damagedFilesAreRefusedWithThePosition(String name, String message) {
        byte[] file = resource("/media/" + name);
        assertEquals(message, assertThrows(CodecException.class,
                () -> new PcmReader().open(memory(file), file.length)).getMessage());
    }

    private static byte[] changed(String name, int at, int... values) {
        byte[] file = files().filter(f -> f.name.equals(name)).findAny().orElseThrow().bytes();
        for (int i = 0; i < values.length; i++) {
            file[at + i] = (byte) values[i];
        }
        return file;
    }

    @Test
    void hostileNumbersAreRefused() throws IOException {
        record Change(String name, int at, int[] values, String message) {
        }

        Change[] changes = {
            new Change("s16.wav", 32, new int[] {3, 0}, "at byte 32: blocks of 3 bytes, expected 4, as 2 channels of "
                    + "16 bits have"),
            new Change("s16.wav", 16, new int[] {12}, "at byte 16: a chunk of 12 bytes, expected 16 or more"),
            new Change("s16.wav", 12, new int[] {'x'}, "at byte 36: a chunk 'data', expected a chunk 'fmt ' before it"),
            new Change("s16.wav", 36, new int[] {'x'}, "at byte 1248: the end of the file, expected a chunk 'data'"),
            new Change("s16.wav", 18, new int[] {255, 255, 255, 255}, "at byte 20: a chunk of 4294901776 bytes, "
                    + "expected at most 1228, the rest of the file"),
            new Change("s16.rf64.wav", 35, new int[] {128}, "at byte 76: samples of unknown size, expected one in a "
                    + "chunk 'ds64'"),
            new Change("s16.rf64.wav", 12, new int[] {'x'}, "at byte 76: samples of unknown size, expected one in a "
                    + "chunk 'ds64'"),
            new Change("s16.aiff", 22, new int[] {255, 255, 255, 255}, "at byte 54: 4294967295 samples in 1204 bytes, "
                    + "expected 17179869180 bytes"),
            new Change("s16.aiff", 46, new int[] {127}, "at byte 46: samples behind 2130706432 bytes, expected at most "
                    + "1204"),
            new Change("s16.aiff", 28, new int[] {255, 255}, "at byte 28: 0 samples a second, expected 1 to 10000000"),
            new Change("s16.aiff", 38, new int[] {'x'}, "at byte 1258: the end of the file, expected a chunk 'SSND'"),
            new Change("s16.aiff", 12, new int[] {'x'}, "at byte 1258: the end of the file, expected a chunk 'COMM'"),
        };
        for (Change change : changes) {
            byte[] file = changed(change.name, change.at, change.values);
            assertEquals(change.message, assertThrows(CodecException.class,
                    () -> new PcmReader().open(memory(file), file.length), change.message).getMessage());
        }
    }

    @Test
    void otherFilesAndEncodingsAreNotRead() throws IOException {
        var reader = new PcmReader();
        byte[] flac = resource("/media/flac-s16-16k-mono.flac");
        assertFalse(reader.open(memory(flac), flac.length));
        byte[] adpcm = changed("s16.wav", 20, 17);
        assertFalse(reader.open(memory(adpcm), adpcm.length));
        byte[] bits20 = changed("s24.wav", 34, 20);
        assertFalse(reader.open(memory(bits20), bits20.length));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.open(memory(flac), flac.length + 1L));
    }

    @Test
    void samplesThatAreNotThereAreNotRead() throws IOException {
        byte[] file = changed("s16.wav", 0);
        var reader = new PcmReader();
        assertTrue(reader.open(memory(file), file.length));
        MemorySegment out = Arena.ofAuto().allocate(8L * 301);
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(1, 301, out, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(-1, 1, out, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(0, 301, out, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(0, Long.MAX_VALUE, out, 0));
    }

    @Test
    void aFileInMemoryThatIsClosedIsNotRead() throws IOException {
        byte[] file = changed("s16.wav", 0);
        var reader = new PcmReader();
        MemorySegment out = Arena.ofAuto().allocate(8L * 301);
        try (Arena arena = Arena.ofConfined()) {
            assertTrue(reader.open(arena.allocate(file.length).copyFrom(MemorySegment.ofArray(file)), file.length));
            reader.read(0, 301, out, 0);
        }
        byte[] before = out.toArray(JAVA_BYTE);
        assertThrows(IllegalStateException.class, () -> reader.read(0, 301, out, 0));
        assertArrayEquals(before, out.toArray(JAVA_BYTE));
    }
}
