// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.image.ImageFit;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decoding in processes of their own: the same samples, and a process that ends costs one sample. */
final class IsolatedTest {

    private static final ImageFit FIT = ImageFit.stretch(24, 24);
    private static final DecoderLimits LIMITS = DecoderLimits.DEFAULT;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private RecordStore shards(String field, String... files) throws IOException {
        try (var writer = WebDatasetWriter.create(folder.resolve("s-%04d.tar"), 100, 1 << 30)) {
            for (String file : files) {
                byte[] bytes = VideoFixture.resource(file);
                writer.write(file.replace('.', '-'), Map.of(field, Arena.ofAuto().allocate(bytes.length)
                        .copyFrom(MemorySegment.ofArray(bytes))));
            }
            writer.commit();
        }
        return RecordStore.open(folder);
    }

    private static List<byte[]> read(ClipDataset clips) {
        List<byte[]> rows = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(clips).batchSize(3).shuffle(5).endEpoch(1).workers(1)
                .onBadSample(BadSamplePolicy.SKIP).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        for (var field : batch.fields()) {
                            rows.add(batch.tensor(field.name()).row(row).segment().toArray(JAVA_BYTE));
                        }
                    }
                }
            }
        }
        return rows;
    }

    private static void same(RecordStore store, String field, UnaryOperator<Clips> settings) throws IOException {
        Clips here = settings.apply(Clips.of(store, field));
        try (ClipDataset clips = here.open(); ClipDataset isolated = here.isolated().open()) {
            assertEquals(clips.fingerprint(), isolated.fingerprint(), "of clips and their index");
            List<byte[]> expected = read(clips);
            List<byte[]> found = read(isolated);
            assertTrue(expected.size() > 3);
            assertEquals(expected.size(), found.size());
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), found.get(i), "field " + i);
            }
            assertEquals(clips.decodedPackets(), isolated.decodedPackets());
        }
    }

    @Test
    void clipsAreTheSame() throws IOException {
        try (RecordStore store = shards("mp4", "h264-bframes.mp4", "hevc-opengop.mp4", "vp9-altref.webm",
                "h264-rotate90.mp4", "bad-damaged-mdat.mp4", "bad-truncated-nomoov.mp4", "h264-aac.mp4")) {
            same(store, "mp4", clips -> clips.frames(3).stride(2).windows(7).resize(FIT).upright());
            same(store, "mp4", clips -> clips.frames(3).resize(FIT).channelsFirst().withSound("sound", 0.3));
        }
    }

    @Test
    void windowsOfSoundAreTheSame() throws IOException {
        try (RecordStore store = shards("flac", "aac-44k-stereo.m4a", "flac-s16-44k-stereo.ogg", "opus-16k-mono.opus",
                "mp3-cbr-44k-stereo.mp3", "bad-damaged.flac")) {
            same(store, "flac", clips -> clips.seconds(0.2).windows(5000).tooShort(TooShort.WRAP));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"flac-s16-16k-mono.flac", "opus-16k-mono.opus", "aac-44k-stereo.aac", "bad-damaged.flac",
        "mp3-cbr-44k-stereo.mp3", "pcm-s16be.aiff"})
    void wholeSoundIsTheSame(String name) throws IOException {
        SoundDecoder decoder = SoundDecoder.mono(16_000).resampled();
        byte[] bytes = VideoFixture.resource(name);
        MemorySegment file = Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        try (Decoder.Session here = decoder.open(); Decoder.Session isolated = decoder.isolated().open()) {
            assertEquals(decode(here, file), decode(isolated, file));
        }
    }

    private static String decode(Decoder.Session session, MemorySegment file) throws IOException {
        try {
            long bytes = session.byteSize(file, file.byteSize());
            MemorySegment target = Arena.ofAuto().allocate(bytes);
            session.decode(file, file.byteSize(), target, 0, bytes);
            return bytes + " bytes, hash " + Arrays.hashCode(target.toArray(JAVA_BYTE));
        } catch (CodecException e) {
            return e.getMessage();
        }
    }

    @Test
    void aProcessThatEndsBetweenSamplesIsReplaced() throws IOException {
        MemorySegment file = VideoFixture.of("h264-odd444.mp4").bytes();
        byte[] expected = VideoIndexer.index(file, LIMITS);
        try (var decoder = new IsolatedDecoder(MINUTE)) {
            assertArrayEquals(expected, decoder.index(file, LIMITS, false));
            Process first = decoder.process();
            first.destroyForcibly().onExit().join();
            assertArrayEquals(expected, decoder.index(file, LIMITS, false));
            assertNotEquals(first.pid(), decoder.process().pid());
        }
    }

    /** Kills itself at a sample of one byte; else the result is the number of bytes. */
    static final class Killed {

        public static void main(String[] arguments) throws IOException {
            IsolatedChild.serve(arguments, memory -> {
                if (memory.number(IsolatedChild.END) == 1) {
                    new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid())).start();
                    while (true) {
                        Thread.onSpinWait();
                    }
                }
                return memory.number(IsolatedChild.END);
            });
        }
    }

    /** Writes where there is no memory. */
    static final class Crashed {

        @SuppressWarnings("restricted")
        public static void main(String[] arguments) throws IOException {
            IsolatedChild.serve(arguments, memory -> {
                if (memory.number(IsolatedChild.END) == 1) {
                    MemorySegment.NULL.reinterpret(64).set(ValueLayout.JAVA_INT, 8, 1);
                }
                return memory.number(IsolatedChild.END);
            });
        }
    }

    /** Never ends. */
    static final class Hanging {

        public static void main(String[] arguments) throws IOException {
            IsolatedChild.serve(arguments, memory -> {
                while (memory.number(IsolatedChild.END) == 1) {
                    Thread.onSpinWait();
                }
                return memory.number(IsolatedChild.END);
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"KILLED, 'the process that decoded it ended with status 137, signal 9'",
        "CRASHED, 'the process that decoded it ended with status 1, a crash'",
        "HANGING, 'decoding that takes over 0 seconds of CPU time, expected less'"})
    void aProcessThatEndsAtASampleIsAReasonAndTheNextSampleIsGood(Program program, String reason) throws IOException {
        Duration cpu = program == Program.HANGING ? Duration.ofMillis(900) : MINUTE;
        try (var decoder = new IsolatedDecoder(cpu, program.main)) {
            for (int round = 0; round < 2; round++) {
                assertEquals(7, decoder.index(MemorySegment.ofArray(new byte[7]), LIMITS, false).length);
                assertEquals(reason, assertThrows(CodecException.class, () -> decoder.index(
                        MemorySegment.ofArray(new byte[1]), LIMITS, false)).getMessage());
            }
        }
    }

    enum Program {
        KILLED(Killed.class), CRASHED(Crashed.class), HANGING(Hanging.class);

        private final Class<?> main;

        Program(Class<?> main) {
            this.main = main;
        }
    }

    /** Does not even begin to serve. */
    static final class Absent {

        public static void main(String[] arguments) {
            System.exit(5);
        }
    }

    @Test
    void aProcessThatDoesNotStartEndsTheLoader() {
        try (var decoder = new IsolatedDecoder(MINUTE, Absent.class)) {
            String message = assertThrows(IllegalStateException.class, () -> decoder.index(
                    MemorySegment.ofArray(new byte[1]), LIMITS, false)).getMessage();
            assertTrue(message.startsWith("the process that is to decode did not start: status 5 of "), message);
        }
    }

    @Test
    void nothingIsLeftBehind() throws IOException {
        Process process;
        try (var decoder = new IsolatedDecoder(MINUTE)) {
            decoder.index(VideoFixture.of("h264-odd444.mp4").bytes(), LIMITS, false);
            process = decoder.process();
        }
        assertTrue(!process.isAlive());
    }
}
