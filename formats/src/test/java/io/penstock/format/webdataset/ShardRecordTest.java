// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.local.CommittedFolder;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import io.penstock.store.integrity.Verification;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A dataset of several shards is whole, or it is refused with what is missing. */
class ShardRecordTest {

    private static final String RECORD = "x-%03d.tar.penstock-shards";

    @TempDir
    private Path temporary;
    private Path folder;

    @BeforeEach
    void writeDataset() throws IOException {
        folder = dataset("dataset", 8, 'a');
    }

    /** A dataset of shards of two samples each. */
    private Path dataset(String name, int samples, char content) throws IOException {
        Path made = Files.createDirectories(temporary.resolve(name));
        write(made.resolve("x-%03d.tar"), samples, content);
        return made;
    }

    private static void write(Path pattern, int samples, char content) throws IOException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(pattern, 2, 1 << 20)) {
            for (int i = 0; i < samples; i++) {
                writer.write("s" + i, Map.of("txt", MemorySegment.ofArray(new byte[] {(byte) content, (byte) i})));
            }
            writer.commit();
        }
    }

    private static long size(Path path) throws IOException {
        try (WebDatasetStore store = WebDatasetStore.open(Location.of(path))) {
            return store.size();
        }
    }

    private void assertRefused(String... parts) throws Exception {
        for (String message : List.of(
                assertThrows(MalformedStoreException.class, () -> Store.open(folder)).getMessage(),
                assertThrows(MalformedStoreException.class, () -> size(folder)).getMessage(),
                Verification.run(Location.of(folder), OpenOptions.DEFAULT, 1, Progress.NONE).faults().toString())) {
            for (String part : parts) {
                assertTrue(message.contains(part), message);
            }
        }
    }

    @Test
    void aFolderThatLacksShardsIsRefusedWithTheirNames() throws Exception {
        assertEquals(8, size(folder));
        Files.delete(folder.resolve("x-002.tar"));
        assertRefused("no x-002.tar", "the 4 shards that " + RECORD + " names");
        Files.delete(folder.resolve("x-000.tar"));
        Files.delete(folder.resolve("x-001.tar"));
        Files.delete(folder.resolve("x-003.tar"));
        assertRefused("no x-000.tar, x-001.tar, x-002.tar and 1 shards more");
        assertThrows(MalformedStoreException.class, () -> ShardList.of(Location.of(folder)));
    }

    @Test
    void shardsThatAreNamedAreReadWithoutTheOthers() throws IOException {
        Files.delete(folder.resolve("x-003.tar"));
        assertEquals(2, size(folder.resolve("x-001.tar")));
        assertEquals(6, size(folder.resolve("x-{000..002}.tar")));
    }

    @Test
    void aShardOfAnotherSizeIsRefused() throws Exception {
        Path other = dataset("other", 1, 'b').resolve("x-000.tar");
        Files.copy(other, folder.resolve("x-001.tar"), StandardCopyOption.REPLACE_EXISTING);
        assertRefused("x-001.tar: " + Files.size(other) + " bytes", "as " + RECORD + " says");
        assertThrows(MalformedStoreException.class, () -> size(folder.resolve("x-{000..001}.tar")));
        assertEquals(1, size(folder.resolve("x-001.tar")));
    }

    @Test
    void aShardOfAnotherRunIsRefusedThoughItsSizeIsTheSame() throws Exception {
        Path other = dataset("other", 8, 'b').resolve("x-001.tar");
        assertEquals(Files.size(other), Files.size(folder.resolve("x-001.tar")));
        Files.copy(other, folder.resolve("x-001.tar"), StandardCopyOption.REPLACE_EXISTING);
        assertRefused("x-001.tar: content ", "as " + RECORD + " says");
        assertThrows(MalformedStoreException.class, () -> size(folder.resolve("x-{000..001}.tar")));
        assertEquals(2, size(folder.resolve("x-001.tar")));
    }

    @Test
    void aRecordOfOtherCountsOfSamplesIsRefused() throws Exception {
        Path record = folder.resolve(RECORD);
        Files.writeString(record, Files.readString(record).replaceFirst("\"samples\":2", "\"samples\":3"));
        assertRefused("x-000.tar: 2 samples, expected 3");
    }

    @Test
    void foldersWithoutARecordAreReadAsTheyAre() throws IOException {
        Files.delete(folder.resolve(RECORD));
        Files.delete(folder.resolve("x-002.tar"));
        assertEquals(6, size(folder));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "\\{.* | | at offset 0: found the end",
        "\"penstock_shards\":1 | \"penstock_shards\":2 | penstock_shards: found 2, expected 1",
        "\"penstock_shards\":1, | '' | penstock_shards: found nothing, expected 1",
        "x-%03d.tar\" | y-%03d.tar\" | pattern: found 'y-%03d.tar', expected",
        "\"shards\" | \"parts\" | shards: found nothing, expected an array",
        "\\[.*\\] | [] | expected one or more, of a pattern",
        "\"x-001.tar\" | \"../x-001.tar\" | found '../x-001.tar'",
        "\"bytes\":[0-9]+ | \"bytes\":-1 | shards[0].bytes: found -1, expected 0 or more",
        "\"samples\":2 | \"samples\":2.5 | shards[0].samples: found 2.5",
        "\"samples\":2, | '' | shards[0].samples: found nothing",
        "\"content\":\"[0-9a-f]+\" | \"content\":\"abc\" | content: found 'abc'"})
    void aRecordThatSaysWhatCannotBeIsRefusedByName(String found, String instead, String reason) throws Exception {
        Path record = folder.resolve(RECORD);
        String text = Files.readString(record).strip();
        String changed = text.replaceFirst(found, instead == null ? "" : instead);
        assertFalse(changed.equals(text));
        Files.writeString(record, changed);
        assertRefused(record + ": ", reason);
        assertEquals(2, size(folder.resolve("x-001.tar")));
    }

    @Test
    void aSmallerDatasetReplacesALargerOneWhole() throws Exception {
        write(folder.resolve("x-%03d.tar"), 3, 'b');
        assertEquals(3, size(folder));
        assertEquals(Set.of(RECORD, "x-000.tar", "x-000.tar.crc32c", "x-000.tar.penstock-index",
                "x-001.tar", "x-001.tar.crc32c", "x-001.tar.penstock-index"), Set.copyOf(Folders.names(folder)));
        write(folder.resolve("x-%03d.tar"), 9, 'c');
        assertEquals(9, size(folder));
        assertEquals(16, Folders.names(folder).size());
    }

    @Test
    void aRecordThatIsNoneKeepsWhatItShouldNameFromBeingReplaced() throws Exception {
        Files.writeString(folder.resolve(RECORD), "{}");
        List<String> before = Folders.names(folder);
        String message = assertThrows(MalformedStoreException.class,
                () -> write(folder.resolve("x-%03d.tar"), 3, 'b')).getMessage();
        assertTrue(message.contains(RECORD), message);
        assertEquals(before, Folders.names(folder));
    }

    @Test
    void aStreamWhoseShardsAreReplacedEndsWithAnError() throws Exception {
        try (PartitionReader reader = WebDatasetSource.of(ShardList.of(Location.of(folder)), "txt").open(0, "");
                RecordBuffer records = new RecordBuffer()) {
            assertEquals(PartitionReader.Found.RECORD, reader.poll(records));
            write(folder.resolve("x-%03d.tar"), 8, 'b');
            String message = assertThrows(IOException.class, () -> {
                while (reader.poll(records) == PartitionReader.Found.RECORD) {
                    // until the next shard
                }
            }).getMessage();
            assertTrue(message.contains("replaced while they were read"), message);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x-%d.tar", "x-%02d.tar", "x-%06d.tar", "%d.tar", "imagenet21k-v2-%03d.tar", "a%01d"})
    void aShardsNameLeadsToItsPattern(String pattern) {
        ShardNames names = ShardNames.of(pattern);
        for (int shard : new int[] {0, 7, 10, 99, 100, 1234, 99_999, 1_234_567}) {
            assertTrue(CommittedFolder.patternsOf(names.name(shard)).contains(pattern), names.name(shard));
        }
    }

    @Test
    void fewPatternsStandForAName() {
        assertEquals(Set.of("x-%06d.tar"), CommittedFolder.patternsOf("x-000012.tar"));
        assertEquals(Set.of(), CommittedFolder.patternsOf("x.tar"));
    }
}
