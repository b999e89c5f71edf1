// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.image.ImageFit;
import io.penstock.io.ReadMode;
import io.penstock.loader.DataLoader;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.media.ffmpeg.Ffmpeg;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a file that has sound between its frames, by the kernel's count of the bytes that a thread read. */
final class BytesReadTest {

    private static final Path COUNT = Path.of("/proc/thread-self/io");
    /** What reading the count itself may add. */
    private static final long SLACK_BYTES = 8192;

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() throws IOException {
        Ffmpeg.assume();
        assumeTrue(Files.isReadable(COUNT), "a kernel that counts the bytes of a thread's reads");
    }

    private static long read() throws IOException {
        return Files.readAllLines(COUNT).stream().filter(line -> line.startsWith("rchar:"))
                .mapToLong(line -> Long.parseLong(line.substring("rchar:".length()).strip())).sum();
    }

    /** The bytes that the second epoch of some clips reads: by then all code and the index are in memory. */
    private static long epoch(ClipDataset clips) throws IOException {
        try (DataLoader loader = DataLoader.builder(clips).endEpoch(2).workers(0).readMode(ReadMode.PREAD).open()) {
            for (long i = 0; i < clips.size(); i++) {
                loader.next().close();
            }
            long before = read();
            for (long i = 0; i < clips.size(); i++) {
                loader.next().close();
            }
            return read() - before;
        }
    }

    private RecordStore video() throws IOException {
        try (var writer = WebDatasetWriter.create(folder.resolve("s-%04d.tar"), 100, 1 << 30)) {
            for (String key : new String[] {"a", "b"}) {
                writer.write(key, Map.of("mp4", VideoFixture.of("h264-aac.mp4").bytes()));
            }
            writer.commit();
        }
        return RecordStore.open(folder);
    }

    @Test
    void framesReadTheirPacketsAndNoSound() throws IOException {
        try (RecordStore store = video();
                ClipDataset clips = Clips.of(store, "mp4").frames(4).windows(4).resize(ImageFit.stretch(8, 8)).open();
                var reader = new ClipReader(DecoderLimits.DEFAULT, 1000, true)) {
            ClipIndex index = clips.index();
            PacketTable table = reader.load(index.bytes(), index.offset(0), index.byteSize(0));
            long needed = 0;
            long spans = 0;
            int windows = (int) clips.size() / 2;
            for (int window = 0; window < windows; window++) {
                int[] frames = {4 * window, 4 * window + 1, 4 * window + 2, 4 * window + 3};
                int first = reader.firstPacket(frames, 0, 4);
                int last = reader.lastPacket(frames, 0, 4);
                for (int packet = first; packet <= last; packet++) {
                    needed += table.size[packet];
                }
                spans += table.position[last] + table.size[last] - table.position[first];
            }
            assertTrue(spans > 1.2 * needed, "there is sound between the frames: " + spans + " for " + needed);
            long found = epoch(clips);
            assertTrue(found >= 2 * needed && found <= 1.05 * 2 * needed + SLACK_BYTES, found + " for " + 2 * needed);
        }
    }

    @Test
    void soundReadsItsPacketsAndNoFrames() throws IOException {
        try (RecordStore store = video();
                ClipDataset clips = Clips.of(store, "mp4").seconds(0.25).windows(11_025).open();
                var reader = new SoundClipReader(1000)) {
            ClipIndex index = clips.index();
            SoundTable table = reader.load(index.bytes(), index.soundOffset(0), index.soundByteSize(0));
            long needed = 0;
            long spans = 0;
            int count = (int) clips.fields().getFirst().dim(1);
            for (int window = 0; window < clips.size() / 2; window++) {
                int first = window * 11_025;
                PacketRuns runs = reader.runs(first, Math.min(count, table.samples - first));
                for (int run = 0; run < runs.count(); run++) {
                    needed += runs.end(run) - runs.begin(run);
                }
                spans += runs.end() - runs.first();
            }
            assertTrue(spans > 1.2 * needed, "there are frames between the sound: " + spans + " for " + needed);
            long found = epoch(clips);
            assertTrue(found >= 2 * needed && found <= 1.05 * 2 * needed + SLACK_BYTES, found + " for " + 2 * needed);
        }
    }

    @Test
    void runsOfNeighborsAreOne() {
        var runs = new PacketRuns();
        runs.add(100, 10);
        runs.add(110, 5);
        runs.add(200, 1);
        runs.add(90, 2);
        assertEquals("3 from 90 to 201", runs.count() + " from " + runs.first() + " to " + runs.end());
        assertEquals("100 115 200 201 90 92", runs.begin(0) + " " + runs.end(0) + " " + runs.begin(1) + " "
                + runs.end(1) + " " + runs.begin(2) + " " + runs.end(2));
        runs.clear();
        assertEquals(0, runs.count() + runs.first() + runs.end());
    }
}
