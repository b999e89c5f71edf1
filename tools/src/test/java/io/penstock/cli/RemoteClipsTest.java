// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.image.ImageFit;
import io.penstock.io.Location;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.media.ClipDataset;
import io.penstock.media.Clips;
import io.penstock.remote.ObjectHost;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clips of a tar of a server. */
final class RemoteClipsTest {

    private static final Path MEDIA = Path.of("media/src/test/resources/media");
    private static final int FREE_BYTES = 4 << 20;

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsFfmpeg() {
        String err = CommandRun.of("clips", "digest", MEDIA.resolve("h264-bframes.mp4")).err();
        Assumptions.assumeFalse(err.contains("which was not found"), err);
    }

    /** A video with four mebibytes of a free box behind it, which no clip needs. */
    private static byte[] video(String name) throws IOException {
        byte[] video = Files.readAllBytes(MEDIA.resolve(name));
        return ByteBuffer.allocate(video.length + FREE_BYTES).put(video).putInt(FREE_BYTES)
                .put("free".getBytes(StandardCharsets.US_ASCII)).array();
    }

    private static List<byte[]> epoch(ClipDataset clips) throws IOException {
        List<byte[]> rows = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(clips).batchSize(2).endEpoch(1).workers(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        rows.add(batch.tensor("mp4").row(row).segment().toArray(JAVA_BYTE));
                    }
                }
            }
        }
        return rows;
    }

    @Test
    void clipsOfAServerAreThoseOfADisk() throws IOException {
        List<String> names = List.of("h264-aac.mp4", "h264-bframes.mp4");
        Path tars = Files.createDirectory(folder.resolve("tars"));
        try (var writer = WebDatasetWriter.create(tars.resolve("v-%04d.tar"), 2, 1 << 30);
                Arena arena = Arena.ofConfined()) {
            for (String name : names) {
                byte[] bytes = video(name);
                writer.write(name.replace(".mp4", ""), Map.of("mp4",
                        arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes))));
            }
            writer.commit();
        }
        Path index = folder.resolve("v.clips");
        List<byte[]> expected;
        try (RecordStore store = RecordStore.open(tars); ClipDataset clips = clips(store, index)) {
            expected = epoch(clips);
        }
        try (ObjectHost host = ObjectHost.start().put("v-0000.tar", Files.readAllBytes(tars.resolve("v-0000.tar")))) {
            Location tar = host.files(folder.resolve("cache")).locate(host.url("v-0000.tar"));
            try (RecordStore store = RecordStore.open(tar, OpenOptions.DEFAULT);
                    ClipDataset clips = clips(store, index)) {
                List<byte[]> found = epoch(clips);
                assertEquals(expected.size(), found.size());
                for (int i = 0; i < found.size(); i++) {
                    assertArrayEquals(expected.get(i), found.get(i), "clip " + i);
                }
            }
        }
    }

    /** An index that is made from a server's files is that of the same files on a disk. */
    @Test
    void anIndexOfAServersFilesIsTheSame() throws IOException {
        byte[] video = Files.readAllBytes(MEDIA.resolve("h264-bframes.mp4"));
        Path videos = Files.createDirectory(folder.resolve("videos"));
        try (var writer = WebDatasetWriter.create(videos.resolve("v-%04d.tar"), 2, 1 << 30);
                Arena arena = Arena.ofConfined()) {
            writer.write("a", Map.of("mp4", arena.allocate(video.length).copyFrom(MemorySegment.ofArray(video))));
            writer.commit();
        }
        Path here = folder.resolve("here.clips");
        Path there = folder.resolve("there.clips");
        try (RecordStore store = RecordStore.open(videos)) {
            clips(store, here).close();
        }
        try (ObjectHost host = ObjectHost.start().put("v-0000.tar", Files.readAllBytes(videos.resolve("v-0000.tar")));
                RecordStore store = RecordStore.open(host.files(folder.resolve("cache"))
                        .locate(host.url("v-0000.tar")), OpenOptions.DEFAULT)) {
            clips(store, there).close();
        }
        assertArrayEquals(Files.readAllBytes(here), Files.readAllBytes(there));
    }

    private static ClipDataset clips(RecordStore store, Path index) throws IOException {
        return Clips.of(store, "mp4").frames(4).stride(2).windows(8).resize(ImageFit.stretch(24, 24)).index(index)
                .open();
    }
}
