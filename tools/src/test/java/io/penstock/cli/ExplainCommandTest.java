// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainCommandTest {

    @TempDir
    private Path folder;

    private Path store(String... texts) throws IOException {
        Path lines = folder.resolve("texts.jsonl");
        Files.write(lines, List.of(texts).stream().map(text -> Json.write(Map.of("text", text))).toList());
        Path store = folder.resolve("store");
        assertEquals(0, CommandRun.of("tokenize", lines, "-o", store, "--append-eot").exitCode());
        return store;
    }

    private static Map<String, Object> json(Object... args) {
        List<Object> all = new ArrayList<>(List.of(args));
        all.add("--json");
        CommandRun run = CommandRun.of(all.toArray());
        assertEquals(0, run.exitCode(), run::err);
        return Json.object(Json.parse(run.out().getBytes(StandardCharsets.UTF_8)));
    }

    private static List<Map<String, Object>> rows(Map<String, Object> explained) {
        return Json.array(explained.get("rows")).stream().map(Json::object).toList();
    }

    @Test
    void everyStepOfEveryRankIsWhatBatchesPrintsWithItsText() throws IOException {
        String[] texts = new String[23];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = "document number " + i + " of the house";
        }
        Path store = store(texts);
        for (int rank = 0; rank < 2; rank++) {
            List<Object> options = List.of(store, "--documents", "--batch=3", "--seed=5", "--world=2",
                    "--rank=" + rank);
            List<Object> printed = new ArrayList<>(List.of("batches", "--json", "--limit=7"));
            printed.addAll(options);
            List<String> lines = CommandRun.of(printed.toArray()).out().lines().toList();
            assertTrue(lines.size() > 3, lines::toString);
            for (int step = 0; step < lines.size(); step++) {
                Map<String, Object> batch = Json.object(Json.parse(lines.get(step)));
                List<Object> args = new ArrayList<>(List.of("explain", "--step=" + step));
                args.addAll(options);
                Map<String, Object> explained = json(args.toArray());
                assertEquals(batch.get("epoch"), explained.get("epoch"));
                List<Map<String, Object>> rows = rows(explained);
                assertEquals(batch.get("samples"), rows.stream().map(row -> row.get("sample")).toList());
                for (Map<String, Object> row : rows) {
                    String text = (String) row.get("text");
                    assertTrue(text.startsWith(texts[((Number) row.get("sample")).intValue()]), text);
                }
            }
        }
    }

    @Test
    void aStepFarAwayAndOneBehindAStateAreComputed() throws IOException {
        Path store = store("one text that is long enough", "another text that is long enough", "a third one of them");
        Map<String, Object> far = json("explain", store, "--window=4", "--batch=2", "--step=1000000000");
        assertTrue(((Number) far.get("epoch")).longValue() > 100_000_000, far::toString);
        Path state = folder.resolve("state.json");
        assertEquals(0, CommandRun.of("batches", store, "--window=4", "--batch=2", "--limit=2", "--state", state)
                .exitCode());
        byte[] before = Files.readAllBytes(state);
        assertEquals(rows(json("explain", store, "--window=4", "--batch=2", "--step=3")),
                rows(json("explain", store, "--window=4", "--batch=2", "--step=1", "--state", state)));
        assertEquals(new String(before), Files.readString(state));
    }

    @Test
    void oneRowIsPrintedForPeopleCutToSomeCharacters() throws IOException {
        Path store = store("one text that is long enough", "another text that is long enough");
        CommandRun run = CommandRun.of("explain", store, "--documents", "--batch=2", "--no-shuffle", "--step=0",
                "--row=1", "--chars=7");
        assertEquals("step 0, epoch 0, rank 0 of 1: 2 samples\n  row 1: sample 1 at position 1\n    \"another\"\n",
                run.out(), run::err);
    }

    @Test
    void recordsShowTheirTextAndTheirNames() throws IOException {
        Path files = Files.createDirectory(folder.resolve("files"));
        Files.writeString(files.resolve("a.txt"), "first");
        Files.writeString(files.resolve("b.txt"), "second");
        List<Map<String, Object>> rows = rows(json("explain", files, "--format=files", "--batch=2", "--no-shuffle"));
        assertEquals(List.of("first", "second"), rows.stream().map(row -> row.get("text")).toList());
        assertTrue(((String) rows.getLast().get("name")).contains("b.txt"), rows::toString);
        Files.write(files.resolve("a.txt"), new byte[] {(byte) 0xff, 1, 2});
        assertNull(rows(json("explain", files, "--format=files", "--batch=2", "--no-shuffle")).getFirst().get("text"));
    }

    /** A log of a loss that falls, with spikes at the steps in which {@code isBad} rows are. */
    private Path log(int steps, LongPredicate isBad, Object... options) throws IOException {
        List<Object> args = new ArrayList<>(List.of("batches", "--json", "--limit=" + steps));
        args.addAll(List.of(options));
        List<String> batches = CommandRun.of(args.toArray()).out().lines().toList();
        assertEquals(steps, batches.size());
        var random = new SplittableRandom(3);
        List<String> lines = new ArrayList<>(List.of("step,loss,lr"));
        for (int step = 0; step < steps; step++) {
            boolean bad = Json.array(Json.object(Json.parse(batches.get(step))).get("samples")).stream()
                    .anyMatch(sample -> isBad.test(((Number) sample).longValue()));
            lines.add(step + 100 + "," + (3 + 5.0 / (step + 1) + random.nextDouble() / 10 + (bad ? 2 : 0)) + ",0.1");
        }
        return Files.write(folder.resolve("losses.csv"), lines);
    }

    @Test
    void theWorstStepsOfALogAreListedWithTheFileAndFolderThatTheyShare() throws IOException {
        Path files = Files.createDirectory(folder.resolve("files"));
        for (int i = 0; i < 400; i++) {
            Path of = Files.createDirectories(files.resolve(i % 50 == 7 ? "odd" : "part" + i % 9));
            Files.writeString(of.resolve(String.format("%03d.txt", i)), "x".repeat(5 + i % 11));
        }
        Object[] options = {files, "--format=files", "--batch=4", "--seed=2"};
        Map<Long, String> keys = new HashMap<>();
        rows(json("explain", files, "--format=files", "--batch=400"))
                .forEach(row -> keys.put(((Number) row.get("sample")).longValue(), (String) row.get("key")));
        Path losses = log(100, sample -> keys.get(sample).startsWith("odd/"), options);
        Map<String, Object> found = json("explain", files, "--format=files", "--batch=4", "--seed=2", "--losses",
                losses, "--first-step=100");
        Map<String, Object> first = Json.object(Json.array(found.get("shared")).getFirst());
        assertEquals("folder", first.get("trait"));
        assertEquals("odd/", first.get("value"));
        assertEquals(8, ((Number) first.get("worst_rows")).intValue());
        assertEquals(0, ((Number) first.get("other_rows")).intValue());
        assertTrue(((Number) first.get("p")).doubleValue() < 0.01, first::toString);
        CommandRun text = CommandRun.of("explain", files, "--format=files", "--batch=4", "--seed=2", "--losses", losses,
                "--first-step=100");
        assertTrue(text.out().contains("  folder odd/: "), text.out());
        assertEquals(List.of("folder", "range"), Json.array(found.get("shared")).stream()      // files are in order
                .map(shared -> Json.object(shared).get("trait")).toList());
    }

    @Test
    void aStoreOfAMixtureAndLongDocumentsAreFoundAndWhereThereIsNoCauseNothingIs() throws IOException {
        var random = new SplittableRandom(4);
        List<Path> stores = new ArrayList<>();
        for (String name : List.of("books", "web")) {
            Path lines = folder.resolve(name + ".jsonl");
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                texts.add(Json.write(Map.of("text", "word ".repeat(i % 40 == 3 ? 300 : random.nextInt(1, 30)))));
            }
            Files.write(lines, texts);
            stores.add(folder.resolve(name));
            assertEquals(0, CommandRun.of("tokenize", lines, "-o", stores.getLast(), "--append-eot").exitCode());
        }
        Object[] mixed = {stores.get(0), stores.get(1), "--documents", "--batch=2", "--weights=0.9,0.1", "--seed=1"};
        Path losses = log(250, sample -> sample >= 300, mixed);
        List<Object> explain = new ArrayList<>(List.of("explain", "--losses", losses, "--first-step=100"));
        explain.addAll(List.of(mixed));
        Map<String, Object> first = Json.object(Json.array(json(explain.toArray()).get("shared")).getFirst());
        assertEquals("store", first.get("trait"));
        assertEquals(stores.get(1).toString(), first.get("value"));

        log(250, sample -> sample % 300 % 40 == 3, mixed);
        first = Json.object(Json.array(json(explain.toArray()).get("shared")).getFirst());
        assertEquals("length", first.get("trait"), first::toString);

        log(250, sample -> false, mixed);
        assertEquals(List.of(), json(explain.toArray()).get("shared"));
        CommandRun none = CommandRun.of(explain.toArray());
        assertTrue(none.out().contains("nothing that steps chosen at random would not share"), none.out());
    }

    @Test
    void rowsOfAllRanksAndOfAllBatchesOfAStepAreCompared() throws IOException {
        Path store = store("one text that is long enough", "another text that is long enough", "a third one of them");
        Path losses = Files.writeString(folder.resolve("l.csv"), "step,loss\n0,1\n1,5\n2,1\n3,1\n4,1\n");
        for (List<Object> options : List.<List<Object>>of(List.of("--world=2"), List.of("--world=2", "--rank=1"),
                List.of("--world=2", "--accumulate=3"))) {
            List<Object> args = new ArrayList<>(List.of("explain", store, "--documents", "--batch=1", "--losses",
                    losses, "--worst=1"));
            args.addAll(options);
            Map<String, Object> found = json(args.toArray());
            int rows = options.size() == 1 ? 2 : options.contains("--rank=1") ? 1 : 6;
            assertEquals(rows, ((Number) found.get("worst_rows")).intValue());
            assertEquals(4 * rows, ((Number) found.get("other_rows")).intValue());
            assertEquals(1, ((Number) Json.object(Json.array(found.get("worst")).getFirst()).get("step")).intValue());
        }
    }

    @Test
    void whatCannotBeExplainedIsSaid() throws IOException {
        Path store = store("one text that is long enough");
        Path losses = Files.writeString(folder.resolve("l.csv"), "step,loss\n0,1\n1,5\n2,1\n");
        for (List<Object> wrong : List.<List<Object>>of(
                List.of("explain", store, "--window=4", "--batch=1", "--row=1"),
                List.of("explain", store, "--window=4", "--step=-1"),
                List.of("explain", store, "--window=4", "--batch=1", "--step=1", "--losses", losses),
                List.of("explain", store, "--window=4", "--batch=1", "--losses", losses, "--first-step=1"),
                List.of("explain", store, "--window=4", "--batch=1", "--losses", losses, "--accumulate=0"),
                List.of("explain", store, "--window=4", "--batch=1", "--losses", losses, "--worst=0"),
                List.of("explain", "--source", folder.resolve("texts.jsonl"), "--window=2", "--batch=1"))) {
            CommandRun run = CommandRun.of(wrong.toArray());
            assertEquals(2, run.exitCode(), run::err);
            assertEquals(1, run.err().lines().count(), run::err);
        }
    }
}
