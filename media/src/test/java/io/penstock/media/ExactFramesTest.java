// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Demuxer;
import io.penstock.media.ffmpeg.Ffmpeg;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Frame k by index and packets against frame k of FFmpeg's program, which decodes all in a row. */
final class ExactFramesTest {

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    static Stream<VideoFixture> good() {
        return VideoFixture.good();
    }

    @ParameterizedTest
    @MethodSource("good")
    void theIndexHasWhatTheContainerHas(VideoFixture video) throws IOException {
        PacketTable table = table(video.bytes());
        assertEquals(video.packets(), table.packets);
        assertEquals(video.md5().size(), table.frames);
        assertEquals(video.timeBase(), table.numerator + "/" + table.denominator);
        assertEquals(video.rotation(), table.rotation);
        List<Long> keys = new ArrayList<>();
        int discarded = 0;
        for (int i = 0; i < table.packets; i++) {
            discarded += (table.flags[i] & PacketTable.DISCARDED) != 0 ? 1 : 0;
            if ((table.flags[i] & PacketTable.KEY) != 0) {
                keys.add(table.pts[i]);
            }
        }
        assertEquals(video.discarded(), discarded);
        assertEquals(video.keyPts(), keys);
    }

    @ParameterizedTest
    @MethodSource("good")
    void everyFrameAloneInRandomOrderEqualsDecodingInARow(VideoFixture video) throws IOException {
        for (boolean isSkipping : new boolean[] {false, true}) {
            byte[] index = VideoIndexer.index(video.bytes(), DecoderLimits.DEFAULT);
            List<Integer> order = new ArrayList<>(IntStream.range(0, video.md5().size()).boxed().toList());
            Collections.shuffle(order, new Random(7));
            try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, isSkipping)) {
                for (int frame : order) {
                    assertEquals(video.md5().get(frame), read(reader, index, video.bytes(), frame).get(0),
                            video + ", frame " + frame + (isSkipping ? ", skipping" : ""));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void clipsOfSeveralFramesEqualDecodingInARow(VideoFixture video) throws IOException {
        MemorySegment file = video.bytes();
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        var random = new Random(8);
        int frames = video.md5().size();
        try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, true)) {
            for (int clip = 0; clip < 30; clip++) {
                int stride = 1 + random.nextInt(4);
                int first = random.nextInt(frames);
                int[] wanted = IntStream.iterate(first, k -> k < frames, k -> k + stride).limit(8).toArray();
                Map<Integer, String> found = read(reader, index, file, wanted);
                for (int i = 0; i < wanted.length; i++) {
                    assertEquals(video.md5().get(wanted[i]), found.get(i), video + Arrays.toString(wanted));
                }
            }
        }
    }

    /** Intra refresh has keys from which frames differ, some without any flag. */
    @ParameterizedTest
    @ValueSource(strings = {"h264-intrarefresh.mkv"})
    void keysThatAreNotAreNotClean(String name) throws IOException {
        PacketTable table = table(VideoFixture.of(name).bytes());
        for (int i = 1; i < table.packets; i++) {
            assertTrue((table.flags[i] & PacketTable.CLEAN) == 0, "packet " + i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h264-opengop.mp4", "hevc-opengop.mp4", "h264-bframes.mp4", "vp9-altref.webm", "av1.mp4",
        "mpeg4-asp.mp4"})
    void keysThatAreAreClean(String name) throws IOException {
        PacketTable table = table(VideoFixture.of(name).bytes());
        for (int i = 0; i < table.packets; i++) {
            assertEquals((table.flags[i] & PacketTable.KEY) != 0, (table.flags[i] & PacketTable.CLEAN) != 0,
                    name + " packet " + i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bad-damaged-moov.mp4", "bad-truncated-faststart.mp4",
        "bad-truncated-nomoov.mp4"})
    void aFileThatIsNotWholeHasAReason(String name) {
        var refusal = assertThrows(CodecException.class, () -> {
            MemorySegment file = VideoFixture.of(name).bytes();
            byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
            try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, true)) {
                read(reader, index, file, 0);
            }
        });
        assertTrue(refusal.getMessage().contains(", expected "), refusal.getMessage());
    }

    /** Also a file whose frames become larger on the way, at 64x48 and 96x64. */
    @ParameterizedTest
    @ValueSource(strings = {"h264-bframes.mp4", "av1.mp4", "vp9-sizechange.webm"})
    void framesAboveTheLimitAreRefused(String name) throws IOException {
        MemorySegment file = VideoFixture.of(name).bytes();
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        try (var reader = new ClipReader(new DecoderLimits(64 * 48, 1000), 1000, true)) {
            assertThrows(CodecException.class, () -> read(reader, index, file, 23));
        }
    }

    @Test
    void aClipThatNeedsTooManyPacketsIsRefused() throws IOException {
        MemorySegment file = VideoFixture.of("h264-bframes.mp4").bytes();
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        try (var reader = new ClipReader(DecoderLimits.DEFAULT, 10, true)) {
            var refusal = assertThrows(CodecException.class, () -> read(reader, index, file, 0, 23));
            assertTrue(refusal.getMessage().contains("packets must be decoded, expected at most 10"),
                    refusal.getMessage());
        }
    }

    /** Each frame is as decoding from the start gives it, or refused. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void damagedPacketsGiveNoOtherFrames(boolean isSkipping) throws IOException {
        MemorySegment file = VideoFixture.of("bad-damaged-mdat.mp4").bytes();
        Map<Long, String> inARow = inARow(file);
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        PacketTable table = table(file);
        int good = 0;
        try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, isSkipping)) {
            for (int frame = 0; frame < table.frames; frame++) {
                try {
                    String found = read(reader, index, file, frame).get(0);
                    assertEquals(inARow.get(table.pts[table.packetOf[frame]]), found, "frame " + frame);
                    good++;
                } catch (CodecException _) {
                    // refused
                }
            }
        }
        assertTrue(good > 0 && good < table.frames, good + " of " + table.frames);
    }

    /** Decodes all packets, damaged or not. */
    private static Map<Long, String> inARow(MemorySegment file) throws IOException {
        Map<Long, String> frames = new HashMap<>();
        try (var demuxer = Demuxer.open(file, Demuxer.Kind.VIDEO);
                var decoder = Decoder.of(demuxer, DecoderLimits.DEFAULT)) {
            boolean more = true;
            while (more) {
                more = demuxer.next();
                try {
                    if (more) {
                        decoder.send(demuxer);
                    } else {
                        decoder.drain();
                    }
                } catch (CodecException _) {
                    // as the program: go on behind it
                }
                while (decoder.receive()) {
                    frames.put(decoder.pts(), VideoFixture.md5(decoder));
                }
            }
        }
        return frames;
    }

    private static PacketTable table(MemorySegment file) throws IOException {
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        var table = new PacketTable();
        table.load(MemorySegment.ofArray(index), 0, index.length);
        return table;
    }

    private static Map<Integer, String> read(ClipReader reader, byte[] index, MemorySegment file, int... frames)
            throws IOException {
        Map<Integer, String> found = new HashMap<>();
        MemorySegment entry = MemorySegment.ofArray(index);
        reader.load(entry, 0, index.length);
        reader.read(entry, 0, file, 0, frames, frames.length,
                (number, decoder) -> found.put(number, VideoFixture.md5(decoder)));
        return found;
    }
}
