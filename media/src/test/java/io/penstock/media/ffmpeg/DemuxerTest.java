// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DemuxerTest {

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = DemuxerTest.class.getResourceAsStream("/media/" + name)) {
            assertNotNull(in, name);
            return in.readAllBytes();
        }
    }

    /** An exception that left the callback would end the JVM. */
    @Test
    void anExceptionOfTheBytesComesOutOfTheCallThatReads() throws IOException {
        byte[] bytes = resource("h264-bframes.mp4");
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        }
        assertThrows(IllegalStateException.class, () -> Demuxer.open(closed, Demuxer.Kind.VIDEO));
        byte[] other = resource("mpeg4-asp.mp4");
        Arena inner = Arena.ofConfined();
        MemorySegment later = inner.allocate(other.length).copyFrom(MemorySegment.ofArray(other));
        try (Demuxer demuxer = Demuxer.open(later, Demuxer.Kind.VIDEO)) {
            inner.close();
            assertThrows(IllegalStateException.class, () -> {
                while (demuxer.next()) {
                    assertTrue(demuxer.size() > 0);
                }
            });
        }
    }

    @Test
    void aFileWithoutTheStreamIsRefusedAndClosesTwice() throws IOException {
        MemorySegment file = MemorySegment.ofArray(resource("h264-bframes.mp4"));
        assertEquals("no stream of sound among 1, expected one",
                assertThrows(CodecException.class, () -> Demuxer.open(file, Demuxer.Kind.SOUND)).getMessage());
        Demuxer demuxer = Demuxer.open(file, Demuxer.Kind.VIDEO);
        demuxer.close();
        demuxer.close();
    }

    /** By the fields of a frame, which are elsewhere in each version. */
    @ParameterizedTest
    @CsvSource({"flac-s16-16k-mono.flac, 16000, 1", "flac-s16-44k-stereo.ogg, 44100, 2",
        "pcm-s16-16k-5.1-extensible.wav, 16000, 6"})
    void aFrameOfSoundHasItsRateAndChannels(String name, int rate, int channels) throws IOException {
        try (Demuxer demuxer = Demuxer.open(MemorySegment.ofArray(resource(name)), Demuxer.Kind.SOUND);
                Decoder decoder = Decoder.of(demuxer, DecoderLimits.DEFAULT)) {
            assertTrue(demuxer.next());
            decoder.send(demuxer);
            assertTrue(decoder.receive());
            assertEquals(rate, decoder.frameRate());
            assertEquals(channels, decoder.frameChannels());
        }
    }

    /** Stereo, then one channel of another rate. */
    @Test
    void soundThatChangesIsAnError() throws IOException {
        byte[] first = resource("mp3-cbr-44k-stereo.mp3");
        byte[] second = resource("mp3-16k-mono-mpeg2.mp3");
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        try (SoundReader reader = SoundReader.open(MemorySegment.ofArray(both))) {
            int more;
            do {
                more = reader.next();
            } while (more > 0 && reader.errors() == 0);
            assertTrue(reader.errors() > 0);
        }
    }

    /** The first chunk is said to begin behind 2 GiB: the demuxer goes there and reads. */
    @Test
    void aPositionFarBehindTheEndIsTheEnd() throws IOException {
        byte[] bytes = resource("h264-bframes.mp4");
        int table = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("stco");
        ByteBuffer.wrap(bytes).putInt(table + 12, 0x9000_0000);
        try (Demuxer demuxer = Demuxer.open(MemorySegment.ofArray(bytes), Demuxer.Kind.VIDEO)) {
            int packets = 0;
            while (demuxer.next()) {
                packets++;
            }
            assertTrue(packets < demuxer.declaredPackets(), packets + " packets");
        }
    }

    /** Containers that are not on the list are not even tried. */
    @Test
    void aContainerThatIsNotOnTheListIsRefused() {
        byte[] avi = "RIFF\0\0\0\0AVI LIST".getBytes(StandardCharsets.ISO_8859_1);
        assertThrows(CodecException.class, () -> Demuxer.open(MemorySegment.ofArray(avi), Demuxer.Kind.VIDEO));
        byte[] playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n"
                .getBytes(StandardCharsets.ISO_8859_1);
        assertThrows(CodecException.class, () -> Demuxer.open(MemorySegment.ofArray(playlist), Demuxer.Kind.VIDEO));
    }
}
