// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.sampling.LoaderState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code --source} of {@code batches} and {@code stream}. */
class SourceOptionsTest {

    @TempDir
    private Path folder;
    private Path feed;

    @BeforeEach
    void writeFeed() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            lines.add(Json.write(Json.members("text", "Water falls on day " + i + ". ".repeat(1 + i % 7))));
        }
        feed = Files.write(folder.resolve("feed.jsonl"), lines);
    }

    private static List<Map<String, Object>> batches(Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
    }

    private Object[] args(String command, String options, Object... more) {
        List<Object> args = new ArrayList<>(List.of(command, "--source", feed));
        args.addAll(options.isEmpty() ? List.of() : List.of(options.split(" ")));
        args.addAll(List.of(more));
        return args.toArray();
    }

    @Test
    void windowsAreThoseOfTheTokenizedFile() throws IOException {
        Path store = folder.resolve("store");
        CommandRun tokenized = CommandRun.of("tokenize", feed, "-o", store, "--append-eot");
        assertEquals(0, tokenized.exitCode(), tokenized.err());
        List<Map<String, Object>> expected = batches("batches", store, "--window", 16, "--batch", 4, "--no-shuffle",
                "--digest", "--limit", 5, "--json");
        assertEquals(expected, batches(args("batches", "--window 16 --batch 4 --digest --limit 5 --json")));
        assertEquals(expected, batches(args("batches", "--window 16 --batch 4 --digest --limit 5 --json"
                + " --decode json:text --tokenizer gpt2 --workers 0")));
        List<Map<String, Object>> packed = batches("batches", store, "--pack", 48, "--pack-window", 7, "--batch", 3,
                "--no-shuffle", "--digest", "--json");
        assertEquals(packed, batches(args("batches", "--pack 48 --pack-window 7 --batch 3 --digest --json")));
        List<Map<String, Object>> byTokens = batches("batches", store, "--documents", "--max-length", 20,
                "--token-budget", 100, "--no-shuffle", "--digest", "--json");
        assertEquals(byTokens, batches(args("batches", "--documents --max-length 20 --token-budget 100 --digest"
                + " --json")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--window 16", "--window 16 --shuffle-window 8 --seed 3", "--pack 48 --pack-window 7",
        "--documents --max-length 20 --token-budget 100", ""})
    void aRunContinuesFromItsState(String options) throws IOException {
        List<Map<String, Object>> straight = batches(args("batches", options, "--batch", 3, "--digest", "--json"));
        Path state = folder.resolve("state.json");
        List<Map<String, Object>> pieces = new ArrayList<>();
        for (int run = 0; run < 4; run++) {
            pieces.addAll(batches(args("batches", options, "--batch", 3, "--digest", "--json", "--state", state,
                    "--limit", run == 3 ? 10_000 : 2)));
        }
        assertEquals(fields(straight), fields(pieces));
        assertTrue(LoaderState.read(state).position() > 0);
        assertEquals(List.of(), batches(args("batches", options, "--batch", 3, "--json", "--state", state)));
    }

    private static List<Object> fields(List<Map<String, Object>> batches) {
        return batches.stream().map(batch -> batch.get("fields")).toList();
    }

    @Test
    void aSourceThatEndsEndsARunOfStreamAndTheNextOneContinues() throws IOException {
        Path state = folder.resolve("state.json");
        CommandRun run = CommandRun.of(args("stream", "--window 16 --batch 4 --json --state", state));
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> result = Json.object(Json.parse(run.out()));
        assertEquals(result.get("samples"), LoaderState.read(state).position());
        assertEquals(false, result.get("interrupted"));
        CommandRun again = CommandRun.of(args("stream", "--window 16 --batch 4 --state", state));
        assertEquals(0, again.exitCode(), again.err());
        assertTrue(again.out().contains("Nothing was measured"), again.out());
        assertTrue(again.out().contains("source   " + feed + " (stream): windows of 16+1 tokens, in order"),
                again.out());
    }

    @Test
    void recordsWithoutTextAreSkippedOnRequest() throws IOException {
        Files.write(feed, List.of("{\"text\": \"water falls\"}", "{}", "{\"text\": \"on day one\"}"));
        CommandRun failed = CommandRun.of(args("batches", "--window 2 --batch 2"));
        assertEquals(ExitCode.FAILURE, failed.exitCode());
        assertTrue(failed.err().contains("field 'text': found null, expected a text"), failed.err());
        assertEquals(3, batches(args("batches", "--window 2 --batch 1 --bad-samples skip --json")).size());
    }

    @Test
    void standardInputIsReadAsItComesAndNotResumed() throws Exception {
        Path state = folder.resolve("state.json");
        Process process = CommandRun.builder(folder.resolve("err"), "batches", "--source", "-", "--decode", "json:text",
                "--window", 16, "--batch", 4, "--limit", 2, "--json", "--digest", "--state", state)
                .redirectInput(feed.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), Files.readString(folder.resolve("err")));
        List<Map<String, Object>> expected =
                batches(args("batches", "--window 16 --batch 4 --limit 2 --json --digest"));
        assertEquals(expected, out.lines().map(line -> Json.object(Json.parse(line))).toList());
        CommandRun again = CommandRun.of("batches", "--source", "-", "--decode", "json:text", "--window", 16, "--batch",
                4, "--state", state);
        assertEquals(ExitCode.FAILURE, again.exitCode());
        assertTrue(again.err().contains("the records come only once"), again.err());
    }

    @Test
    void whatIsNotThereOrDoesNotFitIsRefusedInWords() {
        for (List<String> refused : List.of(
                List.of("batches --source kafka://broker:9092/clicks", "put penstock-kafka on the class path"),
                List.of("batches --source jdbc:postgresql://host/blog", "put penstock-jdbc on the class path"),
                List.of("stream --source FEED --window 16 --pack 4", "expected one of them"),
                List.of("batches --source FEED --window 16 --weights 1", "expected stores"),
                List.of("batches --source FEED --window 16 --stride 3", "--stride"),
                List.of("batches --source FEED --window 16 --bucket-window 9", "--bucket-window"),
                List.of("batches --source FEED --decode text", "NAME=DECODER"),
                List.of("batches --source FEED --window 16 --decode yaml", "text or json:FIELD"),
                List.of("batches --source FEED --documents", "--max-length"),
                List.of("batches --source FEED --lanes 2", "1 to 1"),
                List.of("batches --source FEED --source -", "one source, or files"),
                List.of("batches FEED --source FEED", "found both"), List.of("batches", "found neither"))) {
            Object[] words = refused.getFirst().replace("FEED", feed.toString()).split(" ");
            CommandRun run = CommandRun.of(words);
            assertEquals(ExitCode.WRONG_USAGE, run.exitCode(), run.err());
            assertTrue(run.err().contains(refused.getLast()), run.err());
        }
    }
}
