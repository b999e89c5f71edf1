// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.lake.Answers;
import io.penstock.lake.LakeCommands;
import io.penstock.lake.LakeStore;
import io.penstock.lake.TableSnapshot;
import io.penstock.lake.TableSnapshot.Change;
import io.penstock.state.LoaderState;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that Spark wrote, with what it read from each version. */
class DeltaTableTest {

    @TempDir
    private static Path folder;

    private static Path tables;

    @BeforeAll
    static void unpack() throws IOException {
        tables = Answers.unpack(DeltaTableTest.class, folder).resolve("delta");
    }

    private static DeltaTable table(String name) throws IOException {
        return DeltaTable.of(Location.of(tables.resolve(name)));
    }

    @Test
    void everyVersionHasTheRowsThatSparkReads() throws IOException {
        List<Path> answers = Answers.of(folder);
        assertEquals(10, answers.size());
        for (Path answer : answers) {
            String[] name = answer.getFileName().toString().replace(".jsonl", "").split("-");
            try (LakeStore rows = table(name[0]).open(name[1])) {
                Answers.check(answer, rows);
            }
        }
    }

    @Test
    void theNewestVersionIsTheDefault() throws IOException {
        try (LakeStore rows = table("events").open("")) {
            assertEquals("12", rows.snapshot().version());
        }
        try (Store rows = Store.open(tables.resolve("events"), OpenOptions.DEFAULT.withMember("2"))) {
            assertEquals(60, assertInstanceOf(LakeStore.class, rows).size());
            assertEquals("delta", rows.inspect(Inspection.Depth.CONTENT, Progress.NONE).kind());
        }
    }

    @Test
    void theCommandLineReadsAVersion() throws Exception {
        LakeCommands.check(tables.resolve("events"), "delta", "2", 60, folder);
    }

    @Test
    void aVersionThatIsNotThereIsNamed() throws IOException {
        DeltaTable events = table("events");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> events.open("99")).getMessage().contains("99"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> events.open("new")).getMessage()
                .contains("found version 'new', expected a number"));
    }

    @Test
    void rowsKeepTheirIndicesWhileRowsAreAppended() throws IOException {
        DeltaTable plain = table("plain");
        try (LakeStore before = plain.open("3"); LakeStore after = plain.open("6")) {
            assertEquals(Change.APPENDED, after.snapshot().since(before.snapshot()));
            assertEquals(Answers.ids(before), Answers.ids(after).subList(0, (int) before.size()));
            assertEquals(LongStream.range(0, 18).boxed().toList(), Answers.ids(after));
            assertNotEquals(before.fingerprint(), after.fingerprint());
            assertTrue(after.fingerprint().startsWith("delta:table=" + plain.id() + ":version=6:rows=18:"));
        }
    }

    @Test
    void aCompactionIsRecognized() throws IOException {
        DeltaTable plain = table("plain");
        assertEquals(Change.REWRITTEN, plain.at("7").since(plain.at("6")));
        assertTrue(plain.keepsRows("6", "7"));
        assertEquals(Change.CHANGED, plain.at("8").since(plain.at("6")));
        assertTrue(!plain.keepsRows("6", "8"));
        DeltaTable events = table("events");
        assertEquals(Change.CHANGED, events.at("3").since(events.at("2")));
    }

    @Test
    void aConditionFindsTheRowsThatHold() throws IOException {
        try (LakeStore rows = table("events").open("12")) {
            List<Map<String, Object>> all = Answers.rows(rows);
            long[] expected = LongStream.range(0, rows.size())
                    .filter(row -> "de".equals(all.get((int) row).get("country"))
                            && all.get((int) row).get("n") instanceof Long n && n >= 30).toArray();
            assertTrue(expected.length > 5);
            assertArrayEquals(expected, rows.rowsWhere("country = 'de' and n >= 30"));
            assertArrayEquals(LongStream.range(0, rows.size()).filter(row -> !all.get((int) row).containsKey("more"))
                    .toArray(), rows.rowsWhere("more is null"));
            assertTrue(assertThrows(IllegalArgumentException.class, () -> rows.rowsWhere("contry = 'de'")).getMessage()
                    .contains("found a condition on column 'contry'"));
        }
    }

    @Test
    void aFileThatIsMissingOrShorterIsNamed() throws IOException {
        Path other = Answers.unpack(DeltaTableTest.class, folder.resolve("other")).resolve("delta/plain");
        DeltaTable plain = DeltaTable.of(Location.of(other));
        TableSnapshot six = plain.at("6");
        Path file = Path.of(six.at().apply(six.files().get(1).path()).toString());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() - 1);
        }
        try (LakeStore rows = plain.open("6")) {
            assertTrue(rows.isPresent(0, 0));
            String message = assertThrows(MalformedStoreException.class, () -> rows.isPresent(3, 0)).getMessage();
            assertTrue(message.startsWith(file + ": ") && message.contains("with 3 rows, as " + other
                    + " at version 6 has: was it replaced or cut?"), message);
        }
        Files.delete(file);
        try (LakeStore rows = plain.open("6")) {
            String message = assertThrows(MalformedStoreException.class, () -> rows.isPresent(3, 0)).getMessage();
            assertTrue(message.startsWith(file + ": found no such file"), message);
        }
    }

    @Test
    void aStreamGivesTheChangeFeedAndResumesExactly() throws IOException {
        StreamSource changes = StreamSource.open("delta:" + tables.resolve("events") + "#from=1", StreamEnd.STOP);
        var all = Answers.read(changes, "");
        var types = all.stream().filter(row -> row.getValue().get("_commit_version").equals(3L))
                .collect(Collectors.groupingBy(row -> row.getValue().get("_change_type"), Collectors.counting()));
        assertEquals(Map.of("delete", 9L), types);
        assertEquals(20, all.stream().filter(row -> row.getValue().get("_commit_version").equals(2L)).count());
        assertTrue(all.stream().anyMatch(row -> row.getValue().get("_change_type").equals("update_postimage")));
        for (int i = 0; i < all.size(); i += 31) {
            assertEquals(all.subList(i + 1, all.size()), Answers.read(changes, all.get(i).getKey()));
        }
    }

    @Test
    void aVersionThatReplacesRowsWithoutAFeedIsRefusedOrSkipped() throws IOException {
        String plain = "delta:" + tables.resolve("plain");
        StreamSource strict = StreamSource.open(plain, StreamEnd.STOP);
        assertTrue(assertThrows(IOException.class, () -> Answers.read(strict, "")).getMessage()
                .contains("found version 8, which deleted or replaced rows without a change feed"));
        assertEquals(LongStream.range(0, 18).boxed().toList(), Answers.read(StreamSource.open(plain + "#changes=skip",
                StreamEnd.STOP), "").stream().map(row -> row.getValue().get("id")).toList());
    }

    @Test
    void aRunGoesOnWithANewerVersionOnlyIfAskedAndOnlyIfRowsWereAppended() throws IOException {
        DeltaTable plain = table("plain");
        try (LakeStore before = plain.open("3"); LakeStore after = plain.open("6");
                LakeStore compact = plain.open("7")) {
            LoaderState saved = new LoaderState(2, 0, 42, "shuffled of 9", "records|" + before.fingerprint());
            LoaderState fresh = new LoaderState(0, 0, 42, "shuffled of 18", "records|" + after.fingerprint());
            assertEquals("3", plain.versionOf(saved).orElseThrow());
            assertEquals(new LoaderState(2, 0, 42, "shuffled of 18", fresh.dataset()), plain.goOn(saved, fresh));
            LoaderState within = new LoaderState(2, 5, 42, "shuffled of 9", saved.dataset());
            assertTrue(assertThrows(IllegalArgumentException.class, () -> plain.goOn(within, fresh)).getMessage()
                    .contains("position 5 of epoch 2 at version 3"));
            LoaderState rewritten = new LoaderState(0, 0, 42, "shuffled of 18", compact.fingerprint());
            assertTrue(assertThrows(IllegalArgumentException.class, () -> plain.goOn(saved, rewritten)).getMessage()
                    .contains("found version 7, in which files were rewritten (compaction)"));
        }
    }
}
