// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.image.ImageFit;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import io.penstock.state.LoaderState;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clips through a loader, from shards, against frames of whole videos. */
final class ClipsTest {

    private static final List<String> VIDEOS = List.of("h264-bframes.mp4", "hevc-opengop.mp4", "vp9-altref.webm",
            "h264-vfr.mkv", "h264-opengop.mp4", "mpeg4-asp.mp4", "h264-editlist-in.mp4");
    private static final int SIDE = 24;
    private static final int FRAME = 3 * SIDE * SIDE;
    private static final ImageFit FIT = ImageFit.stretch(SIDE, SIDE);

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
    }

    private RecordStore shards(List<String> videos) throws IOException {
        Path pattern = folder.resolve("clips-%04d.tar");
        try (var writer = WebDatasetWriter.create(pattern, 3, 1 << 30); Arena arena = Arena.ofConfined()) {
            for (String video : videos) {
                writer.write(video.substring(0, video.indexOf('.')) + "-" + video.substring(video.indexOf('.') + 1),
                        Map.of("mp4", VideoFixture.of(video).bytes(), "txt",
                                arena.allocateFrom(video).asSlice(0, video.length())));
            }
            writer.commit();
        }
        return RecordStore.open(folder);
    }

    /** All frames of a video as the clips have them. */
    private static byte[][] frames(String video) throws IOException {
        MemorySegment file = VideoFixture.of(video).bytes();
        byte[] index = VideoIndexer.index(file, DecoderLimits.DEFAULT);
        byte[][] frames = new byte[VideoFixture.of(video).md5().size()][FRAME];
        var pixels = new FramePixels(FIT);
        try (var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, false)) {
            MemorySegment entry = MemorySegment.ofArray(index);
            reader.load(entry, 0, index.length);
            reader.read(entry, 0, file, 0, IntStream.range(0, frames.length).toArray(), frames.length,
                    (number, decoder) -> pixels.write(decoder, 0, MemorySegment.ofArray(frames[number]), 0,
                            new FramePixels.Target(SIDE * SIDE, SIDE, 1)));
        }
        return frames;
    }

    private static byte[] frame(byte[] clip, int number) {
        return Arrays.copyOfRange(clip, number * FRAME, (number + 1) * FRAME);
    }

    /** Reads an epoch: each row by position, with its text in front. */
    private static Map<Long, byte[]> read(ClipDataset clips, int workers, long epoch, long skip) throws IOException {
        Map<Long, byte[]> rows = new HashMap<>();
        try (DataLoader loader = DataLoader.builder(clips).batchSize(3).shuffle(5).startEpoch(epoch)
                .endEpoch(epoch + 1).workers(workers).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        if (batch.position(row) >= skip) {
                            rows.put(batch.position(row), batch.tensor("mp4").row(row).segment().toArray(JAVA_BYTE));
                        }
                    }
                }
            }
        }
        return rows;
    }

    @Test
    void windowsAreTheFramesOfTheWholeVideo() throws IOException {
        try (RecordStore store = shards(VIDEOS);
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(3).windows(7).resize(FIT).open();
                DataLoader loader = DataLoader.builder(clips).batchSize(4).endEpoch(1).workers(2).open()) {
            assertEquals(List.of(new TensorSpec("mp4", DType.U8, 4, 3, SIDE, SIDE)), clips.fields());
            Map<String, byte[][]> expected = new HashMap<>();
            int samples = 0;
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        String[] name = clips.name(batch.sample(row)).split(", clip ");
                        String key = clips.key(batch.sample(row));
                        String video = VIDEOS.stream().filter(v -> key.contains(v.replace('.', '-'))).findAny()
                                .orElseThrow();
                        byte[][] whole = expected.computeIfAbsent(video, ClipsTest::framesOf);
                        byte[] clip = batch.tensor("mp4").row(row).segment().toArray(JAVA_BYTE);
                        for (int t = 0; t < 4; t++) {
                            assertArrayEquals(whole[7 * Integer.parseInt(name[1]) + 3 * t], frame(clip, t), video);
                        }
                        samples++;
                    }
                }
            }
            int windows = VIDEOS.stream().mapToInt(v -> (VideoFixture.of(v).md5().size() - 10) / 7 + 1).sum();
            assertEquals(windows, samples);
            assertTrue(clips.decodedPackets() >= clips.usedFrames(), clips.decodedPackets() + " packets");
        }
    }

    private static byte[][] framesOf(String video) {
        try {
            return frames(video);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aRandomClipIsKeyedByItsPositionWhateverWorkersAndResume() throws IOException {
        try (RecordStore store = shards(VIDEOS);
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(2).resize(FIT).open()) {
            Map<Long, byte[]> one = read(clips, 1, 0, 0);
            Map<Long, byte[]> two = read(clips, 2, 0, 0);
            Map<Long, byte[]> next = read(clips, 2, 1, 0);
            assertEquals(VIDEOS.size(), one.size());
            one.forEach((position, clip) -> assertArrayEquals(clip, two.get(position)));
            assertFalse(one.keySet().stream().allMatch(p -> Arrays.equals(one.get(p), next.get(p))));
            LoaderState middle;
            try (DataLoader loader = DataLoader.builder(clips).batchSize(3).shuffle(5).endEpoch(1).workers(2).open()) {
                loader.next().close();
                middle = loader.state();
            }
            try (DataLoader loader = DataLoader.builder(clips).batchSize(2).shuffle(5).endEpoch(1).resume(middle)
                    .workers(1).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        for (int row = 0; row < batch.count(); row++) {
                            assertArrayEquals(one.get(batch.position(row)),
                                    batch.tensor("mp4").row(row).segment().toArray(JAVA_BYTE));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aRandomClipHasFramesAtItsStride() throws IOException {
        try (var store = memory("h264-bframes.mp4");
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(3).resize(FIT).open()) {
            byte[][] whole = frames("h264-bframes.mp4");
            var starts = new ArrayList<Integer>();
            for (int epoch = 0; epoch < 12; epoch++) {
                byte[] clip = read(clips, 1, epoch, 0).get(0L);
                int start = IntStream.range(0, whole.length).filter(k -> Arrays.equals(whole[k], frame(clip, 0)))
                        .findFirst().orElseThrow();
                for (int t = 1; t < 4; t++) {
                    assertArrayEquals(whole[start + 3 * t], frame(clip, t));
                }
                starts.add(start);
            }
            assertTrue(starts.stream().distinct().count() > 4, starts.toString());
        }
    }

    /** Times of the container, not frame numbers: this file has a variable rate. */
    @Test
    void framesBySecondsAreThoseShownThen() throws IOException {
        try (var store = memory("h264-vfr.mkv");
                ClipDataset clips = Clips.of(store, "mp4").frames(9).fps(8).windows(1000).resize(FIT).open()) {
            byte[][] whole = frames("h264-vfr.mkv");
            byte[] index = VideoIndexer.index(VideoFixture.of("h264-vfr.mkv").bytes(), DecoderLimits.DEFAULT);
            var table = new PacketTable();
            table.load(MemorySegment.ofArray(index), 0, index.length);
            byte[] clip = read(clips, 1, 0, 0).get(0L);
            for (int j = 0; j < 9; j++) {
                int expected = 0;
                for (int k = 0; k < table.frames; k++) {
                    double seconds = (table.pts[table.packetOf[k]] - table.pts[table.packetOf[0]]) / 1000.0;
                    expected = seconds <= j / 8.0 ? k : expected;
                }
                assertArrayEquals(whole[expected], frame(clip, j), "frame " + j);
            }
        }
    }

    @Test
    void shortVideosRepeatWrapOrAreRefused() throws IOException {
        byte[][] whole = frames("h264-odd444.mp4");
        for (TooShort policy : TooShort.values()) {
            try (var store = memory("h264-odd444.mp4");
                    ClipDataset clips = Clips.of(store, "mp4").frames(6).stride(6).tooShort(policy).spaced(1)
                            .resize(FIT).open()) {
                if (policy == TooShort.REFUSE) {
                    assertEquals("a video of 20 frames, expected 6 frames at stride 6 or more",
                            reason(clips));
                    continue;
                }
                byte[] clip = read(clips, 1, 0, 0).get(0L);
                int[] expected = policy == TooShort.WRAP ? new int[] {0, 6, 12, 18, 0, 6}
                        : new int[] {0, 6, 12, 18, 19, 19};
                for (int t = 0; t < 6; t++) {
                    assertArrayEquals(whole[expected[t]], frame(clip, t), policy + " " + t);
                }
            }
        }
    }

    @Test
    void spacedClipsBeginWithTheVideoAndEndWithIt() throws IOException {
        byte[][] whole = frames("av1.mp4");
        try (var store = memory("av1.mp4");
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(2).spaced(3).channelsFirst().resize(FIT)
                        .open();
                DataLoader loader = DataLoader.builder(clips).batchSize(3).endEpoch(1).workers(1).open();
                Batch batch = loader.next()) {
            assertEquals(new TensorSpec("mp4", DType.U8, 3, 4, SIDE, SIDE), clips.fields().getFirst());
            int[] starts = {0, 20, 41};
            for (int i = 0; i < 3; i++) {
                byte[] clip = batch.tensor("mp4").row(i).segment().toArray(JAVA_BYTE);
                for (int c = 0; c < 3; c++) {
                    for (int t = 0; t < 4; t++) {
                        int plane = SIDE * SIDE;
                        assertArrayEquals(Arrays.copyOfRange(whole[starts[i] + 2 * t], c * plane, (c + 1) * plane),
                                Arrays.copyOfRange(clip, (c * 4 + t) * plane, (c * 4 + t + 1) * plane));
                    }
                }
            }
        }
    }

    @Test
    void damagedFilesAreBadSamplesWithTheirReason() throws IOException {
        List<String> videos = List.of("h264-bframes.mp4", "bad-truncated-nomoov.mp4",
                "bad-truncated-faststart.mp4", "bad-damaged-moov.mp4", "hevc-10bit.mp4");
        try (RecordStore store = shards(videos);
                ClipDataset clips = Clips.of(store, "mp4").frames(2).spaced(1).resize(FIT).open();
                DataLoader loader = DataLoader.builder(clips).batchSize(2).endEpoch(1).workers(1)
                        .onBadSample(BadSamplePolicy.SKIP).open()) {
            int good = 0;
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    good += batch.valid();
                }
            }
            List<String> reasons = loader.badSamples().stream().map(bad -> String.valueOf(bad)).toList();
            assertEquals(2, good, reasons.toString());
            assertEquals(3, reasons.size(), reasons.toString());
            assertTrue(reasons.stream().anyMatch(reason -> reason.contains("packet 29 is not complete")),
                    reasons.toString());
        }
    }

    @Test
    void otherFieldsOfTheVideoComeWithEachClip() throws IOException {
        try (RecordStore store = shards(VIDEOS);
                ClipDataset clips = Clips.of(RecordFields.of(store).and("mp4").and("txt"), "mp4").frames(2).spaced(2)
                        .resize(FIT).open()) {
            assertEquals(2 * VIDEOS.size(), clips.size());
            var span = new io.penstock.io.Span();
            for (int sample = 0; sample < clips.size(); sample++) {
                ((FieldSource.Stored) clips.source(1)).place().locate(sample, span);
                String text = new String(span.slice().toArray(JAVA_BYTE), StandardCharsets.UTF_8);
                assertTrue(clips.key(sample).contains(text.replace('.', '-')), clips.key(sample) + " " + text);
            }
        }
    }

    @Test
    void anIndexIsMadeOnceAndBelongsToItsVideos() throws IOException {
        Path index = folder.resolve("of.clips");
        try (var store = memory("h264-bframes.mp4", "av1.mp4")) {
            byte[] first;
            try (ClipDataset clips = Clips.of(store, "mp4").frames(2).spaced(1).resize(FIT).index(index).open()) {
                first = read(clips, 1, 0, 0).get(0L);
            }
            byte[] bytes = Files.readAllBytes(index);
            try (ClipDataset clips = Clips.of(store, "mp4").frames(2).spaced(1).resize(FIT).index(index).open()) {
                assertArrayEquals(first, read(clips, 1, 0, 0).get(0L));
            }
            assertArrayEquals(bytes, Files.readAllBytes(index));
            bytes[bytes.length - 3] ^= 1;
            Files.write(index, bytes);
            assertTrue(assertThrows(MalformedStoreException.class, () -> ClipIndex.open(index)).getMessage()
                    .contains("content of another digest"));
        }
        Files.delete(index);
        try (var one = memory("h264-bframes.mp4");
                var made = ClipIndex.of(RecordFields.of(one).and("mp4"), "mp4");
                var other = memory("av1.mp4")) {
            made.save(index);
            assertEquals(60, made.frames(0));
            try (ClipDataset clips = Clips.of(other, "mp4").frames(2).resize(FIT).index(index).open()) {
                assertTrue(reason(clips).contains("a file of 22112 bytes, expected 16995"), reason(clips));
            }
        }
    }

    /** All other bytes of the file are 0 here. */
    @Test
    void aClipReadsOnlyTheBytesThatItChose() throws IOException {
        for (String name : List.of("h264-bframes.mp4", "hevc-opengop.mp4", "h264-opengop.mp4")) {
            MemorySegment file = VideoFixture.of(name).bytes();
            try (var store = memory(name);
                    ClipDataset clips = Clips.of(store, "mp4").frames(2).windows(9).resize(FIT).open();
                    Arena arena = Arena.ofConfined()) {
                var mapped = (FieldSource.Mapped) clips.source(0);
                MemorySegment number = arena.allocate(JAVA_LONG);
                MemorySegment out = arena.allocate(2 * FRAME);
                byte[][] whole = frames(name);
                long fewest = file.byteSize();
                try (SampleMap.Mapper session = mapped.map().open().orElseThrow()) {
                    for (int clip = 0; clip < clips.size(); clip++) {
                        number.set(JAVA_LONG, 0, clip);
                        session.beside(number, 0, Long.BYTES);
                        var random = new KeyedRandom(1, 2);
                        long begin = session.begin(file.byteSize(), random);
                        long bytes = session.end(file.byteSize()) - begin;
                        MemorySegment part = arena.allocate(file.byteSize());
                        MemorySegment.copy(file, begin, part, begin, bytes);
                        session.map(part, 0, file.byteSize(), random, out, 0, out.byteSize(), PartClock.NONE);
                        assertArrayEquals(whole[9 * clip], frame(out.toArray(JAVA_BYTE), 0), name + " " + clip);
                        fewest = Math.min(fewest, bytes);
                    }
                }
                assertTrue(fewest < file.byteSize() / 2, fewest + " of " + file.byteSize());
            }
        }
    }

    @Test
    void aWarmSessionAllocatesNothing() throws IOException {
        try (var store = memory("h264-bframes.mp4");
                ClipDataset clips = Clips.of(store, "mp4").frames(4).stride(4).resize(FIT).open();
                Arena arena = Arena.ofConfined()) {
            var mapped = (FieldSource.Mapped) clips.source(0);
            MemorySegment file = VideoFixture.of("h264-bframes.mp4").bytes();
            MemorySegment number = arena.allocate(JAVA_LONG);
            MemorySegment out = arena.allocate(4 * FRAME);
            var random = new KeyedRandom(1, 2);
            try (SampleMap.Mapper session = mapped.map().open().orElseThrow()) {
                long fewest = HeapUse.fewest(0, () -> {
                    try {
                        for (int i = 0; i < 8; i++) {
                            random.select(i, mapped.step());
                            session.beside(number, 0, Long.BYTES);
                            session.map(file, 0, file.byteSize(), random, out, 0, out.byteSize(), PartClock.NONE);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                assertEquals(0, fewest);
            }
        }
    }

    /** Fifteen clips of four frames have the sixty frames of the video. */
    @Test
    void clipsOfABatchThatShareAGroupOfPicturesDecodeItOnce() throws IOException {
        try (var store = memory("h264-bframes.mp4", "hevc-opengop.mp4");
                ClipDataset clips = Clips.of(store, "mp4").frames(4).windows(4).resize(FIT).open();
                ClipDataset same = Clips.of(store, "mp4").frames(4).windows(4).resize(FIT).open()) {
            byte[][] apart = rows(clips, 1);
            long packetsApart = clips.decodedPackets();
            byte[][] together = rows(same, (int) same.size());
            assertArrayEquals(apart, together);
            int frames = VideoFixture.of("h264-bframes.mp4").md5().size()
                    + VideoFixture.of("hevc-opengop.mp4").md5().size();
            assertEquals(clips.usedFrames(), same.usedFrames());
            assertEquals(frames, same.usedFrames());
            assertEquals(frames, same.decodedPackets());
            assertTrue(packetsApart > 2 * frames, packetsApart + " packets for clips apart");
        }
    }

    /** Those that touch the damage are bad, those beside it in the batch are not. */
    @Test
    void aDamagedClipSpoilsNoOtherOfItsBatch() throws IOException {
        int apart = 0;
        for (int batchSize : new int[] {1, 8}) {
            try (var store = memory("bad-damaged-mdat.mp4");
                    ClipDataset clips = Clips.of(store, "mp4").frames(1).windows(1).resize(FIT).open();
                    DataLoader loader = DataLoader.builder(clips).batchSize(batchSize).endEpoch(1).workers(1)
                            .onBadSample(BadSamplePolicy.SKIP).open()) {
                int good = 0;
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        good += batch.valid();
                    }
                }
                assertEquals(clips.size(), good + loader.badSamples().size());
                apart = batchSize == 1 ? good : apart;
                assertTrue(good > 0 && good < clips.size(), good + " of " + clips.size());
                assertEquals(apart, good, "good ones of batches of " + batchSize);
            }
        }
    }

    private static byte[][] rows(ClipDataset clips, int batchSize) throws IOException {
        byte[][] rows = new byte[(int) clips.size()][];
        try (DataLoader loader = DataLoader.builder(clips).batchSize(batchSize).endEpoch(1).workers(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        rows[(int) batch.sample(row)] = batch.tensor("mp4").row(row).segment().toArray(JAVA_BYTE);
                    }
                }
            }
        }
        return rows;
    }

    private static String reason(ClipDataset clips) throws IOException {
        try (DataLoader loader = DataLoader.builder(clips).batchSize(1).endEpoch(1).workers(1).open()) {
            return String.valueOf(assertThrows(RuntimeException.class, () -> loader.next().close()).getMessage())
                    .replaceAll("^.*'mp4'[^:]*: ", "");
        }
    }

    private static MemoryRecordStore memory(String... videos) {
        byte[][][] values = new byte[videos.length][][];
        for (int i = 0; i < videos.length; i++) {
            values[i] = new byte[][] {VideoFixture.resource(videos[i])};
        }
        return new MemoryRecordStore(List.of(Column.bytes("mp4", "mp4")), values);
    }
}
