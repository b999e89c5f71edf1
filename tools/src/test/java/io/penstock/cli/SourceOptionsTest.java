// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.json.Json;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
        assertTrue(again.out().contains("nothing was measured"), again.out());
        assertTrue(again.out().contains("source   " + feed + " (stream): windows of 16+1 tokens, in order"),
                again.out());
    }

    @ParameterizedTest
    @CsvSource({"pad, 8, 8", "drop, 4, 4", "exact, 8, 7"})
    void theLastStepOfRanksFollowsTheTailPolicy(String tail, int rows, int weighted) throws IOException {
        Path seven = numbers("seven.jsonl", 7);
        List<Object> given = new ArrayList<>();
        long valid = 0;
        for (int rank = 0; rank < 4; rank++) {
            for (Map<String, Object> batch : batches("batches", "--source", seven, "--decode", "n=json:i64:n",
                    "--batch", 2, "--world", 4, "--rank", rank, "--tail", tail, "--json")) {
                given.addAll((List<?>) batch.get("samples"));
                valid += (long) batch.get("valid");
            }
        }
        assertEquals(rows, given.size());
        assertEquals(weighted, valid);
        assertEquals(Math.min(7, rows), new HashSet<>(given).size());
    }

    @Test
    void whereALaneEndsTheOthersGoOn() throws IOException {
        List<Map<String, Object>> given = batches("batches", "--source", numbers("two.jsonl", 2), "--source",
                numbers("ten.jsonl", 10), "--decode", "n=json:i64:n", "--batch", 5, "--lanes", 2, "--json");
        assertEquals(List.of(5L, 5L, 2L), given.stream().map(batch -> batch.get("count")).toList());
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "stream"})
    void aLaneThatEndsOnOneOfSeveralRanksIsToldInOptionsAndItsStateIsSaved(String command) throws IOException {
        Path state = folder.resolve(command + ".state");
        CommandRun run = CommandRun.of(command, "--source", numbers("ten.jsonl", 10), "--source",
                numbers("seven.jsonl", 7), "--decode", "n=json:i64:n", "--batch", 2, "--lanes", 2, "--world", 2,
                "--rank", 0, "--state", state);
        assertEquals(1, run.exitCode());
        assertTrue(run.err().contains("lane 0 has ended at record 20") && run.err().contains("--steps")
                && run.err().contains("--lanes") && !run.err().contains("internal"), run.err());
        assertEquals(20, LoaderState.read(state).position());
    }

    @Test
    void batchesOfAContinuedRunAreNumberedFromItsStateWhateverSkipSays() throws IOException {
        Path state = folder.resolve("state");
        Object[] args = args("batches", "--decode json:text --window 16 --batch 1 --limit 2 --json", "--state", state,
                "--skip", 0);
        assertEquals(List.of(0L, 1L), batches(args).stream().map(batch -> batch.get("batch")).toList());
        args[args.length - 1] = 7;
        assertEquals(List.of(0L, 1L), batches(args).stream().map(batch -> batch.get("batch")).toList());
    }

    private Path numbers(String name, int count) throws IOException {
        return Files.write(folder.resolve(name),
                IntStream.range(0, count).mapToObj(n -> Json.write(Json.members("n", (long) n))).toList());
    }

    @Test
    void recordsWithoutTextAreSkippedOnRequest() throws IOException {
        Files.write(feed, List.of("{\"text\": \"water falls\"}", "{}", "{\"text\": \"on day one\"}"));
        CommandRun failed = CommandRun.of(args("batches", "--window 2 --batch 2"));
        assertEquals(ExitCode.BAD_INPUT, failed.exitCode());
        assertTrue(failed.err().contains("no field 'text', found []"), failed.err());
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

    /** Tars with the texts of the feed, three to a tar. */
    private Path tars() throws IOException {
        Path tars = Files.createDirectory(folder.resolve("tars"));
        try (WebDatasetWriter writer = WebDatasetWriter.create(tars.resolve("t-%02d.tar"), 3, Long.MAX_VALUE)) {
            int i = 0;
            for (String line : Files.readAllLines(feed)) {
                byte[] text = ((String) Json.object(Json.parse(line)).get("text")).getBytes(StandardCharsets.UTF_8);
                writer.write("k" + i, Map.of("txt", MemorySegment.ofArray(text), "cls",
                        MemorySegment.ofArray(Integer.toString(i++).getBytes(StandardCharsets.US_ASCII))));
            }
            writer.commit();
        }
        return tars;
    }

    @Test
    void tarsAreReadInOrderAndShuffledByPasses() throws IOException {
        Path tars = tars();
        String options = "--window 16 --batch 4 --digest --json";
        List<Map<String, Object>> expected = batches(args("batches", options));
        for (Object source : List.of(tars, tars + "/t-{00..19}.tar")) {
            List<Object> args = new ArrayList<>(List.of("batches", "--source", source, "--decode", "txt=text"));
            args.addAll(List.of(options.split(" ")));
            assertEquals(expected, batches(args.toArray()));
        }
        Object[] labels = {"batches", "--source", tars, "--decode", "cls=int", "--passes", 3, "--shuffle-window", 10,
            "--batch", 7, "--digest", "--json"};
        List<Map<String, Object>> straight = batches(labels);
        assertEquals(26, straight.size());
        List<Map<String, Object>> pieces = new ArrayList<>();
        for (int run = 0; run < 4; run++) {
            List<Object> args = new ArrayList<>(List.of(labels));
            args.addAll(List.of("--state", folder.resolve("state.json"), "--limit", run == 3 ? 1000 : 3));
            pieces.addAll(batches(args.toArray()));
        }
        assertEquals(fields(straight), fields(pieces));
    }

    @Test
    void storesAndSourcesAreMixedByWeights() throws IOException {
        Path store = folder.resolve("store");
        assertEquals(0, CommandRun.of("tokenize", feed, "-o", store, "--append-eot").exitCode());
        for (String options : List.of("--window 16", "--documents --max-length 20", "--window 16 --lanes 1 --live 5s"
                + " --shuffle-window 8")) {
            List<Object> args = new ArrayList<>(List.of("batches", store, "--source", feed, "--source", feed,
                    "--weights", "0.5,0.25,0.25", "--batch", 4, "--digest", "--json"));
            args.addAll(List.of(options.split(" ")));
            List<Map<String, Object>> straight = batches(args.toArray());
            assertTrue(straight.size() > 4, straight.toString());
            Path state = folder.resolve("state" + options.length() + ".json");
            args.addAll(List.of("--state", state, "--limit", 3));
            List<Map<String, Object>> pieces = new ArrayList<>(batches(args.toArray()));
            args.set(args.size() - 1, 1000);
            pieces.addAll(batches(args.toArray()));
            assertEquals(fields(straight), fields(pieces));
            assertEquals(options.contains("live"), LoaderState.read(state).sampler().startsWith("stream live"));
        }
    }

    @Test
    void aSpooledPipeContinuesWithWhatIsOnDisk() throws IOException {
        String options = "--window 16 --batch 4 --drop-last --digest --json";
        List<Object> straight = fields(batches(args("batches", options)));
        List<Object> given = new ArrayList<>();
        for (String command : List.of("cat " + feed, "true", "true")) {
            List<Object> args = new ArrayList<>(List.of("batches", "--source", "pipe:" + command, "--decode",
                    "json:text", "--spool", folder.resolve("spool"), "--state", folder.resolve("state.json"), "--limit",
                    2));
            args.addAll(List.of(options.split(" ")));
            given.addAll(fields(batches(args.toArray())));
        }
        assertTrue(given.size() >= 2, given.toString());
        assertEquals(straight.subList(0, given.size()), given);
    }

    @Test
    void badRecordsAreSkippedWithATokenBudgetToo() throws IOException {
        String options = "--documents --max-length 20 --token-budget 100 --digest --json";
        List<Map<String, Object>> expected = batches(args("batches", options));
        List<String> lines = new ArrayList<>(Files.readAllLines(feed));
        lines.add(17, "{}");
        lines.add(3, "no json");
        Files.write(feed, lines);
        assertEquals(expected, batches(args("batches", options + " --bad-samples skip")));
    }

    @Test
    void whatIsNotThereOrDoesNotFitIsRefusedInWords() {
        for (List<String> refused : List.of(
                List.of("batches --source kafka://broker:9092/clicks", "put penstock-kafka on the class path"),
                List.of("batches --source jdbc:postgresql://host/blog", "put penstock-jdbc on the class path"),
                List.of("stream --source FEED --window 16 --pack 4", "expected one of them"),
                List.of("batches --source FEED --window 16 --weights 1,2", "one per store and source, 1 in all"),
                List.of("batches --source FEED --pack 16 --weights 1", "expected --window or --documents"),
                List.of("batches --source FEED --window 16 --store-epochs 1", "expected stores"),
                List.of("batches --source none.tar --window 16", "expected --decode MEMBER="),
                List.of("batches --source FEED --passes 2", "expected tars"),
                List.of("batches --source FEED --spool spool", "expected standard input, a pipe"),
                List.of("batches --source FEED --live soon", "soon"),
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

    @ParameterizedTest
    @ValueSource(strings = {"batches", "stream"})
    void aRunThatGetsNoBatchSaysWhyAndOneThatResumedAtTheEndIsFine(String command) throws IOException {
        Path lines = Files.writeString(folder.resolve("few.txt"), "one\ntwo\n");
        Path empty = Files.writeString(folder.resolve("none.txt"), "");
        Path state = folder.resolve(command + ".json");
        List<Object> options = List.of("--documents", "--max-length=8", "--batch=20");
        CommandRun dropped = run(command, lines, options, "--drop-last");
        assertEquals(ExitCode.BAD_INPUT, dropped.exitCode());
        assertEquals("penstock: " + lines + ": no batch: the source ended before a batch was full, and --drop-last"
                + " drops one that is not (use a smaller batch, or leave out --drop-last)\n", dropped.err());
        CommandRun none = run(command, empty, options);
        assertEquals(ExitCode.BAD_INPUT, none.exitCode());
        assertEquals("penstock: " + empty + ": no batch: the source ended before its first record\n", none.err());
        CommandRun all = run(command, lines, options, "--state=" + state);
        assertEquals("", all.err());
        CommandRun resumed = run(command, lines, options, "--state=" + state);
        assertEquals(0, resumed.exitCode());
        assertEquals("penstock: " + lines + ": no batch: the source ended where this run began\n", resumed.err());
    }

    private static CommandRun run(String command, Path source, List<Object> options, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of(command, "--source", source));
        arguments.addAll(options);
        arguments.addAll(List.of(more));
        return CommandRun.of(arguments.toArray());
    }
}
