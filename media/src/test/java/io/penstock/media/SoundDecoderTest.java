// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.internal.Sha256;
import io.penstock.media.ffmpeg.FFmpeg;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Samples against {@code ffmpeg -i FILE -f f32le -} of version 5.1; those of lossy codecs differ by version. */
final class SoundDecoderTest {

    private static final Set<String> DIFFERENT = Set.of("aac", "vorbis");

    record Fixture(String name, boolean isGood, String codec, int rate, int channels, long frames,
            String sha256) {

        static Fixture of(String line) {
            String[] of = line.split("\t", -1);
            return new Fixture(of[0], of[1].equals("good"), of[2], number(of[3]), number(of[4]), number(of[5]), of[6]);
        }

        private static int number(String text) {
            return text.isEmpty() ? 0 : Integer.parseInt(text);
        }

        MemorySegment bytes() {
            byte[] bytes = VideoFixture.resource(name);
            return Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private static Stream<Fixture> all() {
        return new String(VideoFixture.resource("sound.tsv"), StandardCharsets.UTF_8).lines().map(Fixture::of);
    }

    static Stream<Fixture> good() {
        return all().filter(Fixture::isGood);
    }

    static Stream<Fixture> bad() {
        return all().filter(fixture -> !fixture.isGood());
    }

    private static MemorySegment decode(SoundDecoder decoder, MemorySegment file) throws IOException {
        try (Decoder.Session session = decoder.open()) {
            MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()));
            session.decode(file, file.byteSize(), out, 0, out.byteSize());
            return out;
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void samplesAreThoseOfTheProgram(Fixture fixture) throws IOException {
        MemorySegment found = decode(SoundDecoder.channels(fixture.channels, fixture.rate), fixture.bytes());
        if (fixture.name.endsWith(".m4a")) {
            assertEquals(44_100, found.byteSize() / 4 / fixture.channels, "as its edit list says, without padding");
            return;
        }
        assertEquals(fixture.frames, found.byteSize() / 4 / fixture.channels);
        Assumptions.assumeTrue(FFmpeg.version().startsWith("5 ") || !DIFFERENT.contains(fixture.codec));
        var sha256 = Sha256.digest();
        sha256.update(found.toArray(JAVA_BYTE));
        assertEquals(fixture.sha256, Sha256.hex(sha256));
    }

    @ParameterizedTest
    @MethodSource("bad")
    void damagedFilesAreRefused(Fixture fixture) {
        var refusal = assertThrows(CodecException.class, () -> decode(SoundDecoder.channels(
                Math.max(1, fixture.channels), Math.max(1, fixture.rate)), fixture.bytes()));
        assertFalse(String.valueOf(refusal.getMessage()).isEmpty());
    }

    @Test
    void oneChannelIsTheMean() throws IOException {
        Fixture fixture = good().filter(of -> of.channels == 2).findFirst().orElseThrow();
        MemorySegment both = decode(SoundDecoder.channels(2, fixture.rate), fixture.bytes());
        MemorySegment one = decode(SoundDecoder.mono(fixture.rate), fixture.bytes());
        assertEquals(both.byteSize(), 2 * one.byteSize());
        for (long i = 0; i < one.byteSize(); i += 4) {
            float mean = (both.get(JAVA_FLOAT_UNALIGNED, 2 * i) + both.get(JAVA_FLOAT_UNALIGNED, 2 * i + 4)) / 2;
            assertEquals(mean, one.get(JAVA_FLOAT_UNALIGNED, i));
        }
    }

    @Test
    void anotherRateAndOtherChannelsAreRefused() {
        Fixture fixture = good().filter(of -> of.channels == 2).findFirst().orElseThrow();
        assertEquals("sound of 44100 samples a second, expected 16000", assertThrows(CodecException.class,
                () -> decode(SoundDecoder.mono(16_000), fixture.bytes())).getMessage());
        assertEquals("sound of 2 channels, expected 1", assertThrows(CodecException.class,
                () -> decode(SoundDecoder.channels(1, 44_100), fixture.bytes())).getMessage());
    }
}
