// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tokenize --shard}, {@code manifest} and {@code merge}, as a job scheduler runs them. */
class ManifestCommandTest {

    private static final Path FIXTURES = Path.of("src/test/resources/fixtures");
    private static final int SHARDS = 3;

    @TempDir
    private Path folder;
    private Path store;

    @BeforeEach
    void tokenize() {
        store = folder.resolve("out");
        for (int shard = SHARDS - 1; shard >= 0; shard--) {
            CommandRun run = CommandRun.of("tokenize", FIXTURES.resolve("jsonl/docs.jsonl"),
                    Fixtures.path("text/corpus.txt"), "-o", store, "--append-eot", "--shard", shard + "/" + SHARDS);
            assertEquals(0, run.exitCode(), run.err());
            assertTrue(run.out().startsWith(part(shard) + ": "), run.out());
        }
    }

    private Path part(int shard) {
        return folder.resolve("out-0000" + shard + "-of-00003");
    }

    private CommandRun manifest(Object... more) {
        List<Object> args = new ArrayList<>(List.of("manifest", "-o", store));
        for (int shard = 0; shard < SHARDS; shard++) {
            args.add(part(shard) + ".idx");
        }
        args.addAll(List.of(more));
        return CommandRun.of(args.toArray());
    }

    @Test
    void theManifestIsAStoreForEveryCommandAndMergesToTheWhole() throws IOException {
        CommandRun made = manifest("--json");
        assertEquals(0, made.exitCode(), made.err());
        assertEquals(3L, made.json().get("parts"));
        Path whole = folder.resolve("whole");
        assertEquals(0, CommandRun.of("tokenize", FIXTURES.resolve("jsonl/docs.jsonl"),
                Fixtures.path("text/corpus.txt"), "-o", whole, "--append-eot").exitCode());
        CommandRun merged = CommandRun.of("merge", store, "-o", folder.resolve("merged"));
        assertEquals(0, merged.exitCode(), merged.err());
        for (String ending : List.of(".bin", ".idx")) {
            assertArrayEquals(Files.readAllBytes(Path.of(whole + ending)),
                    Files.readAllBytes(folder.resolve("merged" + ending)));
        }
        Path file = folder.resolve("out.manifest.json");
        assertEquals(tokens(whole), tokens(file));
        for (List<Object> command : List.of(List.<Object>of("batches", "--window", 16, "--batch", 4, "--limit", 30,
                "--digest"), List.<Object>of("batches", "--documents", "--batch", 2, "--limit", 5, "--digest"))) {
            assertEquals(output(command, whole), output(command, file));
        }
        assertEquals(0, CommandRun.of("verify", file).exitCode());
        CommandRun streamed = CommandRun.of("stream", file, "--window", 16, "--batch", 2, "--steps", 3, "--json");
        assertEquals(0, streamed.exitCode(), streamed.err());
    }

    private static Object tokens(Path store) {
        CommandRun inspected = CommandRun.of("inspect", store, "--digest", "--json");
        return Json.array(inspected.json().get("arrays")).stream().map(Json::object)
                .filter(array -> array.get("name").equals("tokens")).findFirst().orElseThrow();
    }

    private static String output(List<Object> command, Path store) {
        List<Object> args = new ArrayList<>(command);
        args.add(1, store);
        CommandRun run = CommandRun.of(args.toArray());
        assertEquals(0, run.exitCode(), run.err());
        return run.out();
    }

    @Test
    void partsMayLieInFoldersBelowTheManifestsOwnAndNowhereElse() throws IOException {
        Path tasks = Files.createDirectories(folder.resolve("tasks/7"));
        for (String ending : List.of(".bin", ".idx", ".part.json")) {
            Files.move(Path.of(part(1) + ending), tasks.resolve(part(1).getFileName() + ending));
        }
        CommandRun made = CommandRun.of("manifest", "-o", store, part(0), tasks.resolve(part(1).getFileName()),
                part(2) + ".part.json", part(2));
        assertEquals(0, made.exitCode(), made.err());
        assertEquals(0, CommandRun.of("inspect", folder.resolve("out.manifest.json")).exitCode());
        CommandRun outside = CommandRun.of("manifest", "-o", tasks.resolve("x"), part(0), part(1), part(2));
        assertEquals(3, outside.exitCode(), outside.err());
        assertTrue(outside.err().startsWith("penstock: " + part(0) + ": a part in "), outside.err());
    }

    @Test
    void saysWhichPartIsMissing() throws IOException {
        CommandRun two = CommandRun.of("manifest", "-o", store, part(0), part(2));
        assertEquals(3, two.exitCode());
        assertTrue(two.err().contains("found 2 of 3 parts, without [1]"), two.err());
        CommandRun none = CommandRun.of("manifest", "-o", store, part(0), folder.resolve("no"));
        assertEquals(3, none.exitCode());
        assertTrue(none.err().contains("no.part.json"), none.err());
        Files.delete(Path.of(part(2) + ".bin"));
        CommandRun gone = manifest();
        assertEquals(3, gone.exitCode());
        assertTrue(gone.err().startsWith("penstock: " + part(2) + ".bin: no such file"), gone.err());
        assertEquals(List.of(), Folders.names(folder).stream().filter(name -> name.contains("manifest")).toList());
    }

    @Test
    void keepsAManifestUnlessForced() {
        assertEquals(0, manifest().exitCode());
        CommandRun again = manifest();
        assertEquals(1, again.exitCode());
        assertTrue(again.err().contains("out.manifest.json: exists already"), again.err());
        assertEquals(0, manifest("--force").exitCode());
    }

    @Test
    void wrongUsageIsSaid() {
        for (List<Object> wrong : List.of(List.<Object>of("--shard", "3/3"), List.<Object>of("--shard", "x"),
                List.<Object>of("--min-tokens", 5, "--max-tokens", 4), List.<Object>of("--max-total-tokens", 0),
                List.<Object>of("--end-of-text", "x"))) {
            List<Object> args = new ArrayList<>(List.of("tokenize", FIXTURES.resolve("text/english.txt"), "-o",
                    folder.resolve("no")));
            args.addAll(wrong);
            CommandRun run = CommandRun.of(args.toArray());
            assertEquals(2, run.exitCode(), run.err());
        }
    }

    @Test
    void takesTheVocabularyOfAModel() {
        Path vocabulary = Path.of("tools/src/test/resources/io/penstock/tokenize/llama3.tokenizer.json");
        CommandRun run = CommandRun.of("tokenize", FIXTURES.resolve("text/english.txt"), "-o", folder.resolve("llama"),
                "--vocabulary", vocabulary, "--append-eot", "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("tokenize/llama3.tokenizer.json", run.json().get("encoding"));
        CommandRun other = CommandRun.of("tokenize", FIXTURES.resolve("text/english.txt"), "-o", folder.resolve("x"),
                "--vocabulary", vocabulary, "--end-of-text", "<|none|>");
        assertEquals(2, other.exitCode(), other.err());
        CommandRun bad = CommandRun.of("tokenize", FIXTURES.resolve("text/english.txt"), "-o", folder.resolve("y"),
                "--vocabulary", FIXTURES.resolve("text/english.txt"));
        assertEquals(3, bad.exitCode(), bad.err());
    }

    @Test
    void documentsAreFilteredAndCounted() {
        CommandRun run = CommandRun.of("tokenize", FIXTURES.resolve("jsonl/docs.jsonl"), "-o", folder.resolve("few"),
                "--min-tokens", 20, "--max-tokens", 200, "--max-total-tokens", 1000, "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue((Long) run.json().get("tokens") <= 1000);
        assertTrue((Long) run.json().get("filtered_documents") > 0, run.out());
    }
}
