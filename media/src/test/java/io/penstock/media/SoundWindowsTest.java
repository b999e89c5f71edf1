// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.decode.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.media.ffmpeg.SoundReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs of samples, in random order by one reader, against decoding the whole file. */
final class SoundWindowsTest {

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    static Stream<SoundDecoderTest.Fixture> good() {
        return SoundDecoderTest.good();
    }

    /** The samples of the whole file, interleaved. */
    static float[] whole(MemorySegment file) throws IOException {
        int channels;
        int rate;
        try (SoundReader reader = SoundReader.open(file)) {
            reader.next();
            channels = reader.channels();
            rate = reader.rate();
        }
        try (Decoder.Session session = SoundDecoder.channels(channels, rate).open()) {
            MemorySegment out = Arena.ofAuto().allocate(session.byteSize(file, file.byteSize()));
            session.decode(file, file.byteSize(), out, 0, out.byteSize());
            return out.toArray(JAVA_FLOAT_UNALIGNED);
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void aRunIsThatOfTheWholeFile(SoundDecoderTest.Fixture fixture) throws IOException {
        MemorySegment file = fixture.bytes();
        float[] whole = whole(file);
        byte[] index = SoundIndexer.index(file, DecoderLimits.DEFAULT);
        MemorySegment entry = MemorySegment.ofArray(index);
        var random = new Random(7);
        float tolerance = fixture.codec().equals("opus") ? 2e-5f : 0;
        try (var reader = new SoundClipReader(100_000)) {
            for (int run = 0; run < 40; run++) {
                SoundTable table = reader.load(entry, 0, index.length);
                assertEquals(whole.length / table.channels, table.samples);
                int count = 1 + random.nextInt(Math.min(table.samples, 1 << 1 + random.nextInt(14)));
                int first = run == 0 ? table.samples - count : random.nextInt(table.samples - count + 1);
                float[] found = new float[table.channels * count];
                reader.read(entry, 0, file, 0, first, count, MemorySegment.ofArray(found), 0, 4L * count);
                for (int channel = 0; channel < table.channels; channel++) {
                    for (int i = 0; i < count; i++) {
                        assertEquals(whole[(first + i) * table.channels + channel], found[channel * count + i],
                                tolerance, "sample " + (first + i));
                    }
                }
            }
            SoundTable table = reader.load(entry, 0, index.length);
            assertTrue((table.flags[0] & SoundTable.ENTRY) != 0);
        }
    }
}
