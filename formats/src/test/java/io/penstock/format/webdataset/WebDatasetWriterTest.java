// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the writer writes, readers find again; it writes nothing else. */
class WebDatasetWriterTest {

    @TempDir
    Path folder;

    private static Map<String, MemorySegment> members(int i) {
        return Map.of("txt", text("text " + i), "seg.png", text("x".repeat(i * 37 % 1500)), "empty", text(""));
    }

    private static MemorySegment text(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String key(int i) {
        return switch (i % 4) {
            case 0 -> "plain" + i;
            case 1 -> "a.b/../" + i;
            case 2 -> "ключ/" + i;
            default -> "long/".repeat(60) + "n".repeat(90 + i % 20) + i;
        };
    }

    private List<Path> write(String pattern, int samples, long maxSamples, long maxBytes) throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve(pattern), maxSamples, maxBytes)) {
            for (int i = 0; i < samples; i++) {
                writer.write(key(i), members(i));
            }
            return writer.commit();
        }
    }

    @Test
    void samplesAreReadBackInTheirOrderFromAsManyShardsAsTheLimitsAskFor() throws IOException {
        List<Path> shards = write("train-%04d.tar", 50, 20, 1 << 20);
        assertEquals(List.of("train-0000.tar", "train-0001.tar", "train-0002.tar"),
                shards.stream().map(path -> path.getFileName().toString()).toList());
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(folder.resolve("train-{0000..0002}.tar")));
                WebDatasetStore byFolder = WebDatasetStore.open(Location.of(folder))) {
            assertEquals(50, store.size());
            assertEquals(store.fingerprint(), byFolder.fingerprint());
            assertEquals(20, store.firstRecord(1));
            for (Location shard : store.shards()) {
                assertEquals(shard.byteSize(), BlockChecksums.read(shard).fileBytes());
            }
            assertEquals(List.of("empty", "seg.png", "txt"), store.columns().stream().map(c -> c.name()).toList());
            Span span = new Span();
            for (int i = 0; i < 50; i++) {
                assertEquals(key(i), store.key(i));
                for (int c = 0; c < 3; c++) {
                    store.locate(i, c, span);
                    assertArrayEquals(members(i).get(store.columns().get(c).name()).toArray(ValueLayout.JAVA_BYTE),
                            span.slice().toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
    }

    @Test
    void aShardEndsWhenItHasAsManyBytesAsAreAllowed() throws IOException {
        List<Path> shards = write("%d.tar", 50, Long.MAX_VALUE, 30_000);
        assertTrue(shards.size() > 3);
        for (Path shard : shards.subList(0, shards.size() - 1)) {
            assertTrue(Files.size(shard) >= 30_000 && Files.size(shard) < 40_000, shard + ": " + Files.size(shard));
        }
    }

    @Test
    void theSameSamplesMakeTheSameBytes() throws IOException {
        byte[] first = Files.readAllBytes(write("a.tar", 30, 1, 1).getFirst());
        byte[] second = Files.readAllBytes(write("b.tar", 30, 1, 1).getFirst());
        assertArrayEquals(first, second);
    }

    @Test
    void shardsOfOtherWritersMakeTheDatasetOfOneWriter() throws IOException {
        List<Path> expected = write("one-%02d.tar", 30, 10, Long.MAX_VALUE);
        Path attempts = Files.createDirectory(folder.resolve("attempts"));
        try (WebDatasetWriter all = WebDatasetWriter.create(folder.resolve("all-%02d.tar"), 1, 1)) {
            for (int shard = 0; shard < 3; shard++) {
                Path path = attempts.resolve("attempt-" + shard + ".tar");
                try (WebDatasetWriter one = WebDatasetWriter.create(path, 1, 1)) {
                    for (int i = 10 * shard; i < 10 * shard + 10; i++) {
                        one.write(key(i), members(i));
                    }
                    one.commit();
                }
                all.adopt(path);
            }
            assertThrows(IOException.class, () -> all.adopt(attempts.resolve("attempt-0.tar")));
            List<Path> shards = all.commit();
            for (int i = 0; i < 3; i++) {
                assertArrayEquals(Files.readAllBytes(expected.get(i)), Files.readAllBytes(shards.get(i)));
            }
        }
        assertEquals(Files.readString(folder.resolve("one-%02d.tar.penstock-shards")).replace("one-", "all-"),
                Files.readString(folder.resolve("all-%02d.tar.penstock-shards")));
        try (var left = Files.list(attempts);
                WebDatasetStore store = WebDatasetStore.open(Location.of(folder.resolve("all-{00..02}.tar")))) {
            assertEquals(0, left.count());
            assertEquals(30, store.size());
        }
    }

    @Test
    void theRecordOfShardsThatWereWrittenOneByOneIsThatOfOneWriter() throws IOException {
        String pattern = "one-%02d.tar";
        write(pattern, 30, 10, Long.MAX_VALUE);
        Path apart = Files.createDirectory(folder.resolve("apart"));
        List<String> shards = new ArrayList<>();
        for (int shard = 0; shard < 3; shard++) {
            Path path = apart.resolve(WebDatasetWriter.shardName(pattern, shard));
            try (WebDatasetWriter one = WebDatasetWriter.create(path, 1, 1)) {
                for (int i = 10 * shard; i < 10 * shard + 10; i++) {
                    one.write(key(i), members(i));
                }
                one.commit();
            }
            shards.add(WebDatasetWriter.describe(path));
        }
        assertArrayEquals(Files.readAllBytes(WebDatasetWriter.recordFor(folder.resolve(pattern))),
                WebDatasetWriter.record(pattern, shards));
        assertThrows(IllegalArgumentException.class, () -> WebDatasetWriter.record(pattern, shards.reversed()));
        assertThrows(IllegalArgumentException.class, () -> WebDatasetWriter.record("one.tar", shards));
        Files.delete(apart.resolve("one-00.tar.penstock-index"));
        assertThrows(MalformedStoreException.class, () -> WebDatasetWriter.describe(apart.resolve("one-00.tar")));
    }

    @Test
    void whatAReaderWouldFindDifferentlyIsRefused() throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("x.tar"), 1, 1)) {
            for (String[] name : new String[][] {{"a.b", "txt"}, {"", "txt"}, {"a", "TXT"}, {"a", "b/c"},
                    {"__a__", "__"}, {"__m__/a", "txt"}, {"a", "__key__"}, {"a\0", "txt"}, {"a", "\0"}}) {
                assertThrows(IllegalArgumentException.class, () -> writer.write(name[0], Map.of(name[1], text("x"))),
                        name[0] + "." + name[1]);
            }
            assertThrows(IllegalArgumentException.class, () -> writer.write("a", Map.of()));
            writer.write("a", Map.of("txt", text("x")));
            assertThrows(IllegalArgumentException.class, () -> writer.write("a", Map.of("cls", text("x"))));
        }
    }

    @Test
    void withoutACommitNothingIsThere() throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("x-%d.tar"), 1, 1)) {
            writer.write("a", Map.of("txt", text("x")));
            writer.write("b", Map.of("txt", text("x")));
            assertThrows(IOException.class, () -> WebDatasetWriter.create(folder.resolve("x-%d.tar"), 1, 1));
        }
        assertEquals(List.of(), Folders.files(folder));
    }

    @Test
    void aLeftoverShardThatWouldBeReadWithTheNewOnesIsRefused() throws IOException {
        write("x-%d.tar", 6, 2, 1 << 20);
        Files.delete(folder.resolve("x-%d.tar.penstock-shards"));
        String message = assertThrows(IOException.class, () -> write("x-%d.tar", 3, 2, 1 << 20)).getMessage();
        assertTrue(message.contains("x-2.tar"), message);
        assertEquals(3, write("x-%d.tar", 6, 2, 1 << 20).size());
    }

    @Test
    void aDatasetWithoutSamplesIsOneShardWithoutSamples() throws IOException {
        Path shard = write("none-%d.tar", 0, 1, 1).getFirst();
        assertEquals(1024, Files.size(shard));
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(shard))) {
            assertEquals(0, store.size());
            assertTrue(store.columns().isEmpty());
        }
        assertFalse(Files.exists(folder.resolve("none-1.tar")));
    }
}
