// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.io.SparseFiles;
import io.penstock.remote.ObjectHost;
import io.penstock.remote.RemoteFiles;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tars of a server are opened and fetched before their turn, and give what local ones give. */
@Timeout(120)
class RemoteTarsTest {

    private static final int TARS = 12;
    private static final int SAMPLES = 10;
    private static final int BLOCK = 1 << 16;

    @TempDir
    private Path folder;
    @TempDir
    private Path cache;
    private List<Path> shards;
    private ObjectHost host;

    /** Tars of some 300 KB; the last of three is compressed. */
    @BeforeEach
    void write() throws IOException {
        host = ObjectHost.start();
        shards = new ArrayList<>();
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("s-%02d.tar"), SAMPLES, Long.MAX_VALUE)) {
            for (int i = 0; i < TARS * SAMPLES; i++) {
                writer.write("k" + i, Map.of("bin", MemorySegment.ofArray(ObjectHost.bytes(30_000 + i % 7 * 100, i)),
                        "cls", MemorySegment.ofArray(Integer.toString(i).getBytes(StandardCharsets.UTF_8))));
            }
            shards.addAll(writer.commit());
        }
        for (int i = 2; i < TARS; i += 3) {
            Path packed = Path.of(shards.get(i) + ".gz");
            try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
                out.write(Files.readAllBytes(shards.get(i)));
            }
            shards.set(i, packed);
        }
        for (Path shard : shards) {
            host.put(shard.getFileName().toString(), Files.readAllBytes(shard));
        }
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private WebDatasetSource remote(long limitBytes) throws IOException {
        RemoteFiles files = RemoteFiles.of(host.settings(cache).withCache(cache, limitBytes).withBlockBytes(BLOCK));
        return WebDatasetSource.of(shards.stream().map(shard -> files.locate(host.url(shard.getFileName().toString())))
                .toList(), "bin", "cls");
    }

    private WebDatasetSource local() throws IOException {
        return WebDatasetSource.of(shards.stream().map(Location::of).toList(), "bin", "cls");
    }

    /** Reads so many records, each as text of its bytes. */
    private static List<String> read(PartitionReader reader, int most) throws IOException {
        List<String> found = new ArrayList<>();
        try (RecordBuffer records = new RecordBuffer()) {
            while (found.size() < most && reader.poll(records) == Found.RECORD) {
                found.add(new String(records.record(0).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1));
                records.clear();
            }
        }
        return found;
    }

    private static List<String> all(WebDatasetSource source, int partition) throws IOException {
        try (PartitionReader reader = source.open(partition, "")) {
            return read(reader, Integer.MAX_VALUE);
        }
    }

    /** The first bytes of the requests for a tar. */
    private Set<Long> asked(int tar) {
        String name = "GET /" + shards.get(tar).getFileName() + " bytes=";
        Set<Long> asked = new HashSet<>();
        host.gets().stream().filter(get -> get.startsWith(name)).forEach(get ->
                asked.add(Long.parseLong(get.substring(name.length(), get.lastIndexOf('-')))));
        return asked;
    }

    private int blocks(int tar) throws IOException {
        return (int) Math.ceilDiv(Files.size(shards.get(tar)), (long) BLOCK);
    }

    @Test
    void theNextTarsAreFetchedBeforeTheOneBeforeThemEnds() throws IOException {
        try (PartitionReader reader = remote(1 << 30).open(0, "")) {
            assertEquals(1, read(reader, 1).size());
            for (int tar = 1; tar < TARS; tar++) {
                while (asked(tar).size() < blocks(tar)) {
                    Thread.onSpinWait();
                }
            }
            assertEquals(TARS * SAMPLES - 1, read(reader, Integer.MAX_VALUE).size());
        }
        assertEquals(IntStream.range(0, TARS).map(tar -> asked(tar).size()).sum(), host.gets().size(),
                "each block once");
    }

    @Test
    void aCacheThatHoldsFewBlocksFetchesEachOfThemOnce() throws IOException {
        List<String> expected = all(local(), 0);
        assertEquals(expected, all(remote(16 * BLOCK), 0));
        assertEquals(IntStream.range(0, TARS).map(tar -> asked(tar).size()).sum(), host.gets().size(),
                "each block once");
    }

    @Test
    void theSamplesAreThoseOfLocalTarsInEveryOrder() throws IOException {
        for (int partitions : new int[] {1, 3}) {
            WebDatasetSource near = local().shuffled(5).passes(2).partitioned(partitions);
            WebDatasetSource far = remote(1 << 30).shuffled(5).passes(2).partitioned(partitions);
            for (int partition = 0; partition < partitions; partition++) {
                assertEquals(all(near, partition), all(far, partition));
            }
        }
    }

    @Test
    void aTarThatIsGoneIsAnErrorWhenItsTurnComes() throws IOException {
        WebDatasetSource source = remote(1 << 30);
        host.remove(shards.get(2).getFileName().toString());
        // What was learned of the files is remembered.
        host.remove("s-02.tar");
        try (PartitionReader reader = source.open(0, "")) {
            assertEquals(2 * SAMPLES, read(reader, 2 * SAMPLES).size());
            String message = assertThrows(IOException.class, () -> read(reader, 1)).getMessage();
            assertTrue(message.contains("s-02.tar.gz"), message);
            assertThrows(IOException.class, () -> read(reader, 1));
        }
    }

    /** Wherever a reader is closed, it leaves no file open; whoever continues there reads the rest. */
    @Test
    void stoppedAnywhereNothingStaysOpenAndTheRestFollows() throws IOException {
        SparseFiles files = new SparseFiles(cache);
        WebDatasetSource source = WebDatasetSource.of(shards.stream().map(files::of).toList(), "bin", "cls")
                .shuffled(9).passes(3);
        List<String> expected = all(local().shuffled(9).passes(3), 0);
        Random random = new Random(17);
        List<String> found = new ArrayList<>();
        String cursor = "";
        while (found.size() < expected.size()) {
            try (PartitionReader reader = source.open(0, cursor)) {
                found.addAll(read(reader, random.nextInt(15)));
                cursor = reader.cursor();
            }
            assertEquals(0, files.openFiles(), "after " + found.size() + " samples");
        }
        assertEquals(expected, found);
    }
}
