// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks of about the same work, on the command line. */
class BalanceOptionsTest {

    private static final int DOCUMENTS = 600;

    @TempDir
    private Path folder;
    private Path store;

    @BeforeEach
    void tokenize() throws IOException {
        var random = new SplittableRandom(7);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < DOCUMENTS; i++) {
            lines.add(Json.write(Map.of("text", "word ".repeat((int) Math.pow(2, 8 * random.nextDouble())))));
        }
        Path texts = Files.write(folder.resolve("texts.jsonl"), lines);
        store = folder.resolve("store");
        assertEquals(0, CommandRun.of("tokenize", texts, "-o", store, "--append-eot").exitCode());
    }

    private static CommandRun run(Object... args) {
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run::err);
        return run;
    }

    private static Map<String, Object> json(String text) {
        return Json.object(Json.parse(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static double number(Object of, String... path) {
        Object at = of;
        for (String name : path) {
            at = Json.object(at).get(name);
        }
        return ((Number) at).doubleValue();
    }

    @Test
    void batchesOfAllRanksHaveEachSampleOnceWithinTheLimitAndARunOfOtherRanksGoesOn() {
        Set<Object> seen = new HashSet<>();
        List<Object> options = List.of(store, "--documents", "--batch=8", "--balance-window=6", "--balance-tokens=900",
                "--tail=exact", "--json", "--balance-group=3");
        Path state = folder.resolve("state.json");
        for (int rank = 0; rank < 3; rank++) {
            List<Object> args = new ArrayList<>(List.of("batches", "--world=3", "--rank=" + rank, "--limit=10",
                    "--state=" + state));
            args.addAll(options);
            collect(run(args.toArray()).out(), seen);
            if (rank < 2) {
                state.toFile().delete();
            }
        }
        for (int rank = 0; rank < 2; rank++) {
            Path copy = folder.resolve("state" + rank + ".json");
            List<Object> args = new ArrayList<>(List.of("batches", "--world=2", "--rank=" + rank, "--state=" + copy));
            args.addAll(options);
            try {
                Files.copy(state, copy);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            collect(run(args.toArray()).out(), seen);
        }
        assertEquals(DOCUMENTS, seen.size());
    }

    private static void collect(String out, Set<Object> seen) {
        for (String line : out.lines().toList()) {
            Map<String, Object> batch = json(line);
            int valid = (int) number(batch, "valid");
            for (Object sample : Json.array(batch.get("samples")).subList(0, valid)) {
                assertTrue(seen.add(sample), line);
            }
        }
    }

    @Test
    void explainBalanceSaysHowMuchMoreEvenRanksAre() {
        for (List<Object> options : List.<List<Object>>of(List.of(), List.of("--balance-tokens=2000"),
                List.of("--balance-samples=64"), List.of("--bucket-window=100", "--balance-padded=3000"))) {
            List<Object> args = new ArrayList<>(List.of("batches", store, "--documents", "--batch=16", "--world=4",
                    "--balance-window=8", "--explain-balance", "--json"));
            args.addAll(options);
            Map<String, Object> found = json(run(args.toArray()).out());
            assertTrue(number(found, "before", "mean") > 1.05, found::toString);
            assertTrue(number(found, "after", "mean") < (options.size() == 2 ? 1.1 : 1.02), found::toString);
        }
        assertTrue(run("batches", store, "--documents", "--batch=16", "--world=4", "--balance-window=8",
                "--explain-balance").out().contains("after   mean 1.0"));
    }

    @Test
    void costsThatStatsMeasuredOnceAreTakenFromTheirFile() {
        Path costs = folder.resolve("costs.npy");
        Map<String, Object> measured = json(run("stats", store, "--documents", "--cost", costs, "--balance-square=100",
                "--json").out());
        assertEquals(DOCUMENTS, (int) number(measured, "samples"));
        for (List<Object> options : List.<List<Object>>of(List.of(), List.of("--balance-samples=40"))) {
            List<Object> args = new ArrayList<>(List.of("batches", store, "--documents", "--batch=8", "--world=2",
                    "--balance-window=4", "--json"));
            args.addAll(options);
            List<Object> fromFile = new ArrayList<>(args);
            fromFile.addAll(List.of("--balance-cost", costs));
            args.add("--balance-square=100");
            assertEquals(run(args.toArray()).out(), run(fromFile.toArray()).out());
        }
        CommandRun other = CommandRun.of("batches", store, "--window=16", "--batch=8", "--balance-window=4",
                "--balance-cost", costs);
        assertEquals(2, other.exitCode());
        assertTrue(other.err().contains("expected one array of numbers, one per sample"), other.err());
    }

    @Test
    void mixturesAndPackedSequencesAreBalancedToo() {
        for (List<Object> options : List.<List<Object>>of(List.of(store, "--weights=0.3,0.7", "--documents"),
                List.of("--pack=300"), List.of("--pack=300", "--balance-samples=64"))) {
            List<Object> args = new ArrayList<>(List.of("batches", store, "--batch=4", "--world=3",
                    "--balance-window=8", "--explain-balance", "--json"));
            args.addAll(options);
            Map<String, Object> found = json(run(args.toArray()).out());
            // Packed sequences are even already.
            assertTrue(number(found, "after", "mean") < Math.max(number(found, "before", "mean"), 1.05),
                    found::toString);
        }
    }

    @Test
    void whatHasNoMeaningIsRefusedInOneLine() {
        for (List<Object> wrong : List.<List<Object>>of(List.of("--balance-tokens=900"),
                List.of("--balance-cost=x.npy"),
                List.of("--balance-window=2", "--balance-alike", "--balance-tokens=900"),
                List.of("--balance-window=2", "--balance-group=3"),
                List.of("--balance-window=2", "--balance-tokens=20"),
                List.of("--balance-window=2", "--balance-tokens=900", "--token-budget=900"),
                List.of("--balance-window=2", "--balance-tokens=900", "--tail=drop"),
                List.of("--balance-window=2", "--balance-tokens=900", "--drop-last"))) {
            List<Object> args = new ArrayList<>(List.of("batches", store, "--documents"));
            args.addAll(wrong);
            CommandRun run = CommandRun.of(args.toArray());
            assertEquals(2, run.exitCode(), () -> wrong + ": " + run.err());
            assertEquals(1, run.err().lines().count(), run.err());
        }
        assertTrue(CommandRun.of("batches", store, "--documents", "--balance-window=2", "--balance-tokens=20").err()
                .contains("tokens: expected 0 to the limit of 20"));
    }
}
