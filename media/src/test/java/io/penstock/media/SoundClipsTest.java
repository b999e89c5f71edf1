// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.RecordFields;
import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clips of sound through a loader, against samples of whole files. */
final class SoundClipsTest {

    private static final int RATE = 44_100;

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private static MemoryRecordStore memory(String column, String... files) {
        byte[][][] values = new byte[files.length][][];
        for (int i = 0; i < files.length; i++) {
            values[i] = new byte[][] {VideoFixture.resource(files[i])};
        }
        return new MemoryRecordStore(List.of(Column.bytes(column, column)), values);
    }

    /** The samples of a file, a channel after the other. */
    private static float[][] whole(String file, int channels) throws IOException {
        byte[] bytes = VideoFixture.resource(file);
        float[] all = SoundWindowsTest.whole(Arena.ofAuto().allocate(bytes.length)
                .copyFrom(MemorySegment.ofArray(bytes)));
        float[][] of = new float[channels][all.length / channels];
        for (int i = 0; i < all.length; i++) {
            of[i % channels][i / channels] = all[i];
        }
        return of;
    }

    private static Map<Long, float[]> epoch(ClipDataset clips, String field, int workers, long epoch)
            throws IOException {
        Map<Long, float[]> rows = new HashMap<>();
        try (DataLoader loader = DataLoader.builder(clips).batchSize(3).startEpoch(epoch).endEpoch(epoch + 1)
                .workers(workers).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        rows.put(batch.position(row),
                                batch.tensor(field).row(row).segment().toArray(JAVA_FLOAT_UNALIGNED));
                    }
                }
            }
        }
        return rows;
    }

    @Test
    void windowsAreTheSamplesOfTheWholeFile() throws IOException {
        try (var store = memory("ogg", "flac-s16-44k-stereo.ogg", "vorbis-44k-stereo.ogg");
                ClipDataset clips = Clips.of(store, "ogg").seconds(0.1).windows(3000).open()) {
            assertEquals(List.of(new TensorSpec("ogg", DType.F32, 2, 4410)), clips.fields());
            Map<Long, float[]> rows = epoch(clips, "ogg", 2, 0);
            float[][][] files = {whole("flac-s16-44k-stereo.ogg", 2), whole("vorbis-44k-stereo.ogg", 2)};
            int of = (files[0][0].length - 4410) / 3000 + 1;
            assertEquals(of + (files[1][0].length - 4410) / 3000 + 1, clips.size());
            for (int clip = 0; clip < clips.size(); clip++) {
                float[][] file = files[clip < of ? 0 : 1];
                int from = 3000 * (clip < of ? clip : clip - of);
                float[] expected = new float[2 * 4410];
                System.arraycopy(file[0], from, expected, 0, 4410);
                System.arraycopy(file[1], from, expected, 4410, 4410);
                assertArrayEquals(expected, rows.get((long) clip), "clip " + clip);
            }
        }
    }

    /** Files of other parameters need another decoder of FFmpeg. */
    @Test
    void aDecoderIsKeptForFilesOfOneForm() throws IOException {
        byte[] original = VideoFixture.resource("aac-44k-stereo.m4a");
        byte[] index = SoundIndexer.index(MemorySegment.ofArray(original), DecoderLimits.DEFAULT);
        byte[] other = index.clone();
        other[IndexEntry.HEADER_BYTES + "aac".length() + 1] ^= 1;
        try (var reader = new SoundClipReader(5000)) {
            assertFalse(reader.isKept());
            read(reader, index, original);
            read(reader, index, original);
            reader.load(MemorySegment.ofArray(index), 0, index.length);
            assertTrue(reader.isKept());
            reader.load(MemorySegment.ofArray(other), 0, other.length);
            assertFalse(reader.isKept(), "other parameters");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"flac-s16-16k-mono.flac", "flac-s16-44k-stereo.ogg"})
    void flacNeedsNoDecoderOfFFmpeg(String name) throws IOException {
        byte[] original = VideoFixture.resource(name);
        byte[] index = SoundIndexer.index(MemorySegment.ofArray(original), DecoderLimits.DEFAULT);
        byte[] wide = index.clone();
        wide[IndexEntry.HEADER_BYTES + "flac".length() + 12] |= 1;       // of the bits a sample, the highest
        try (var reader = new SoundClipReader(5000)) {
            read(reader, index, original);
            assertFalse(reader.needsLibrary());
            assertFalse(reader.isKept());
            reader.load(MemorySegment.ofArray(wide), 0, wide.length);
            assertTrue(reader.needsLibrary(), "FLAC of 32 bits");
        }
    }

    /** A bit that changed after the index was made: its frame is refused, by its CRC; others are not touched. */
    @Test
    void aFlacFrameThatChangedIsRefused() throws IOException {
        byte[] original = VideoFixture.resource("flac-s16-16k-mono.flac");
        byte[] index = SoundIndexer.index(MemorySegment.ofArray(original), DecoderLimits.DEFAULT);
        try (var reader = new SoundClipReader(5000)) {
            SoundTable table = reader.load(MemorySegment.ofArray(index), 0, index.length);
            byte[] changed = original.clone();
            changed[(int) table.position[1] + table.size[1] / 2] ^= 4;
            MemorySegment entry = MemorySegment.ofArray(index);
            int frame = table.start[1];
            float[] before = new float[frame];
            reader.read(entry, 0, MemorySegment.ofArray(changed), 0, 0, frame, MemorySegment.ofArray(before), 0,
                    4L * frame);
            assertArrayEquals(Arrays.copyOf(whole("flac-s16-16k-mono.flac", 1)[0], frame), before);
            var refusal = assertThrows(CodecException.class, () -> reader.read(entry, 0,
                    MemorySegment.ofArray(changed), 0, frame - 1, 2, MemorySegment.ofArray(before), 0, 8));
            assertTrue(String.valueOf(refusal.getMessage()).contains("a frame at byte " + table.position[1]),
                    refusal.getMessage());
        }
    }

    private static void read(SoundClipReader reader, byte[] index, byte[] file) throws IOException {
        MemorySegment entry = MemorySegment.ofArray(index);
        reader.load(entry, 0, index.length);
        reader.read(entry, 0, MemorySegment.ofArray(file), 0, 0, 1000, MemorySegment.ofArray(new float[2000]), 0, 4000);
    }

    @Test
    void aRandomClipIsKeyedByItsPosition() throws IOException {
        try (var store = memory("wav", "pcm-s16-16k-5.1-extensible.wav", "pcm-s16-16k-5.1-extensible.wav");
                ClipDataset clips = Clips.of(store, "wav").seconds(0.01).open()) {
            Map<Long, float[]> one = epoch(clips, "wav", 1, 0);
            Map<Long, float[]> two = epoch(clips, "wav", 2, 0);
            assertArrayEquals(one.get(0L), two.get(0L));
            assertArrayEquals(one.get(1L), two.get(1L));
            assertFalse(Arrays.equals(one.get(0L), one.get(1L)), "another position");
            assertFalse(Arrays.equals(one.get(0L), epoch(clips, "wav", 1, 1).get(0L)), "another epoch");
            assertEquals(6 * 160, one.get(0L).length);
        }
    }

    @Test
    void shortSoundIsPaddedWrappedOrRefused() throws IOException {
        float[] whole = whole("flac-s16-16k-mono.flac", 1)[0];
        int count = (int) Math.round(2.5 * whole.length);
        for (TooShort policy : TooShort.values()) {
            try (var store = memory("flac", "flac-s16-16k-mono.flac");
                    ClipDataset clips = Clips.of(store, "flac").seconds(count / 16_000.0).tooShort(policy).open()) {
                if (policy == TooShort.REFUSE) {
                    var refusal = assertThrows(RuntimeException.class, () -> epoch(clips, "flac", 1, 0));
                    assertTrue(String.valueOf(refusal.getMessage()).contains("sound of " + whole.length
                            + " samples, expected " + count + " or more"), refusal.toString());
                    continue;
                }
                float[] expected = new float[count];
                for (int i = 0; i < count; i++) {
                    expected[i] = policy == TooShort.WRAP || i < whole.length ? whole[i % whole.length] : 0;
                }
                assertArrayEquals(expected, epoch(clips, "flac", 1, 0).get(0L));
            }
        }
    }

    @Test
    void spacedClipsBeginWithTheSoundAndEndWithIt() throws IOException {
        float[] whole = whole("flac-s16-16k-mono.flac", 1)[0];
        try (var store = memory("flac", "flac-s16-16k-mono.flac");
                ClipDataset clips = Clips.of(store, "flac").seconds(0.1).spaced(2).open()) {
            Map<Long, float[]> rows = epoch(clips, "flac", 1, 0);
            assertArrayEquals(Arrays.copyOf(whole, 1600), rows.get(0L));
            assertArrayEquals(Arrays.copyOfRange(whole, whole.length - 1600, whole.length), rows.get(1L));
        }
    }

    /** ffprobe: both streams of the file begin at 0, frames are shown 1/30 s apart. */
    @Test
    void soundBeginsWhenTheFirstFrameIsShown() throws IOException {
        try (var store = memory("mp4", "h264-aac.mp4");
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(2).windows(5)
                        .withSound("sound", 0.3).resize(ImageFit.stretch(24, 24)).open();
                ClipDataset random = Clips.of(store, "mp4").frames(4).stride(2).withSound("sound", 0.3)
                        .resize(ImageFit.stretch(24, 24)).open()) {
            MediaDigest digest = MediaDigest.of("file", MemorySegment.ofArray(VideoFixture.resource("h264-aac.mp4")));
            List<Long> pts = digest.video().orElseThrow().framePts();
            String[] base = digest.video().orElseThrow().timeBase().split("/");
            int channels = digest.sound().orElseThrow().channels();
            int rate = digest.sound().orElseThrow().rate();
            float[][] whole = whole("h264-aac.mp4", channels);
            int count = (int) Math.round(0.3 * rate);
            assertEquals(new TensorSpec("sound", DType.F32, channels, count), clips.fields().get(1));
            Map<Long, float[]> rows = epoch(clips, "sound", 1, 0);
            Map<Integer, float[]> all = new HashMap<>();
            for (int frame = 0; frame < pts.size(); frame++) {
                int from = (int) Math.round((double) pts.get(frame) * Integer.parseInt(base[0]) * rate
                        / Integer.parseInt(base[1]));
                float[] expected = new float[channels * count];
                for (int channel = 0; channel < channels; channel++) {
                    for (int i = 0; i < count && from + i < whole[channel].length; i++) {
                        expected[channel * count + i] = whole[channel][from + i];
                    }
                }
                all.put(frame, expected);
            }
            rows.forEach((clip, sound) -> assertArrayEquals(all.get(5 * (int) (long) clip), sound, "clip " + clip));
            // A random clip draws one beginning for both.
            for (int epoch = 0; epoch < 5; epoch++) {
                float[] sound = epoch(random, "sound", 1, epoch).get(0L);
                long found = LongStream.range(0, pts.size()).filter(k -> Arrays.equals(all.get((int) k), sound))
                        .findFirst().orElseThrow();
                byte[] frames = frames(random, epoch);
                byte[] expected = frames(Clips.of(store, "mp4").frames(4).stride(2).windows(1)
                        .resize(ImageFit.stretch(24, 24)), found);
                assertArrayEquals(expected, frames);
            }
        }
    }

    private static byte[] frames(ClipDataset clips, long epoch) throws IOException {
        try (DataLoader loader = DataLoader.builder(clips).batchSize(1).startEpoch(epoch).endEpoch(epoch + 1)
                .workers(1).open(); Batch batch = loader.next()) {
            return batch.tensor("mp4").row(0).segment().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        }
    }

    private static byte[] frames(Clips of, long sample) throws IOException {
        try (ClipDataset clips = of.open();
                DataLoader loader = DataLoader.builder(clips.select(sample)).batchSize(1).endEpoch(1).workers(1).open();
                Batch batch = loader.next()) {
            return batch.tensor("mp4").row(0).segment().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        }
    }

    @Test
    void soundOfAnotherRateAndDamagedSoundAreBadSamples() throws IOException {
        try (var store = memory("flac", "flac-s16-16k-mono.flac", "flac-streamed-nototal.flac", "bad-damaged.flac",
                "flac-s16-44k-stereo.ogg");
                ClipDataset clips = Clips.of(store, "flac").seconds(0.1).open();
                DataLoader loader = DataLoader.builder(clips).batchSize(1).endEpoch(1).workers(1)
                        .onBadSample(BadSamplePolicy.SKIP).open()) {
            int good = 0;
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    good += batch.valid();
                }
            }
            List<String> reasons = loader.badSamples().stream().map(String::valueOf).toList();
            assertEquals(4, good + reasons.size());
            assertTrue(reasons.stream().anyMatch(reason -> reason.contains("expected 1 of 16000, as the first file")),
                    reasons.toString());
        }
    }

    /** The caller may then close the store that other threads read. */
    @Test
    void makingAnIndexThatFailsEndsWhenAllItsThreadsHave() throws IOException {
        String[] files = new String[64];
        Arrays.fill(files, "flac-s16-16k-mono.flac");
        var running = new AtomicInteger();
        var ended = new AtomicInteger();
        var hasFailed = new AtomicBoolean();
        try (var store = memory("flac", files)) {
            var failure = assertThrows(IllegalStateException.class, () -> ClipIndex.of(RecordFields.of(store)
                    .and("flac"), "flac", ClipIndex.Contents.SOUND, ClipIndex.MAX_PIXELS, _ -> {
                        running.incrementAndGet();
                        try {
                            // One fails as soon as another runs too; with one thread, after a while.
                            for (int i = 0; i < 500 && running.get() == 1; i++) {
                                Thread.sleep(1);
                            }
                            if (!hasFailed.getAndSet(true)) {
                                throw new IllegalStateException("progress");
                            }
                            Thread.sleep(300);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        } finally {
                            running.decrementAndGet();
                            ended.incrementAndGet();
                        }
                    }));
            assertEquals("progress", failure.getMessage());
            assertEquals(0, running.get());
            assertTrue(ended.get() < files.length, "what had not begun is left out");
        }
    }

    @Test
    void anIndexGoesOnWhereItStopped() throws IOException {
        Path path = folder.resolve("of.clips");
        Path parts = Files.createDirectory(folder.resolve("of.clips.parts"));
        try (var store = memory("flac", "flac-s16-16k-mono.flac", "bad-damaged.flac")) {
            RecordFields samples = RecordFields.of(store).and("flac");
            ClipIndex.Contents contents = ClipIndex.Contents.SOUND;
            try (ClipIndex made = ClipIndex.of(samples, "flac", contents, ClipIndex.MAX_PIXELS, _ -> { })) {
                made.save(parts.resolve("part-0"));
                var done = new AtomicLong();
                try (ClipIndex resumed = ClipIndex.save(samples, "flac", contents, ClipIndex.MAX_PIXELS,
                        _ -> done.incrementAndGet(), path)) {
                    assertEquals(0, done.get(), "nothing is made twice");
                    assertEquals(2, resumed.size());
                    assertEquals(made.soundSamples(0), resumed.soundSamples(0));
                    assertTrue(resumed.refusal(1).isPresent());
                }
            }
            assertFalse(Files.exists(parts));
            Files.delete(path);
            // A part that was cut, or of other files, is made anew.
            Files.createDirectory(parts);
            Files.write(parts.resolve("part-0"), new byte[100]);
            var done = new AtomicLong();
            ClipIndex.save(samples, "flac", contents, ClipIndex.MAX_PIXELS, _ -> done.incrementAndGet(), path).close();
            assertEquals(2, done.get());
        }
        try (var other = memory("mp4", "h264-aac.mp4")) {
            assertTrue(String.valueOf(assertThrows(IOException.class, () -> Clips.of(other, "mp4").index(path).open())
                    .getMessage()).contains("expected 1"), "an index of other files");
        }
    }
}
