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
import java.util.List;
import java.util.Map;
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

    @Test
    void whatCannotBeExplainedIsSaid() throws IOException {
        Path store = store("one text that is long enough");
        for (List<Object> wrong : List.<List<Object>>of(
                List.of("explain", store, "--window=4", "--batch=1", "--row=1"),
                List.of("explain", store, "--window=4", "--step=-1"),
                List.of("explain", "--source", folder.resolve("texts.jsonl"), "--window=2", "--batch=1"))) {
            CommandRun run = CommandRun.of(wrong.toArray());
            assertEquals(2, run.exitCode(), run::err);
            assertEquals(1, run.err().lines().count(), run::err);
        }
    }
}
