// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Orders by length and token budgets at the command line. */
class LengthOptionsTest {

    private static List<Map<String, Object>> batches(Object... args) {
        List<Object> all = new ArrayList<>(List.of("batches", "--json"));
        all.addAll(List.of(args));
        CommandRun run = CommandRun.of(all.toArray());
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
    }

    private static List<Object> shape(Map<String, Object> batch, String field) {
        return Json.array(Json.array(batch.get("fields")).stream().map(Json::object)
                .filter(found -> found.get("name").equals(field)).findFirst().orElseThrow().get("shape"));
    }

    /** The samples of all batches, each of which has no more than a budget of padded tokens. */
    private static List<Object> within(long budget, String field, List<Map<String, Object>> batches) {
        List<Object> samples = new ArrayList<>();
        for (Map<String, Object> batch : batches) {
            List<Object> shape = shape(batch, field);
            assertTrue((long) shape.get(0) * (long) shape.get(1) <= budget, shape.toString());
            samples.addAll(Json.array(batch.get("samples")));
        }
        return samples;
    }

    @ParameterizedTest
    @CsvSource({"megatron/u16_docs.idx, 40", "megatron/i32_docs.idx, 30", "datatrove/gpt2_u16.ds, -1"})
    void wholeDocumentsAreBatchedByABudgetInAnOrderByLength(String fixture, int documents) {
        Path store = Fixtures.path(fixture);
        List<Map<String, Object>> batches = batches(store, "--documents", "--max-length", 200, "--token-budget", 700,
                "--bucket-window", 20, "--bucket-group", 4);
        List<Object> samples = within(700, "input_ids", batches);
        assertEquals(samples.size(), new HashSet<>(samples).size());
        assertTrue(documents < 0 || samples.size() == documents, samples.toString());
        // Going on behind the first batch gives those that follow it.
        List<Map<String, Object>> rest = batches(store, "--documents", "--max-length", 200, "--token-budget", 700,
                "--bucket-window", 20, "--bucket-group", 4, "--skip", 1);
        assertEquals(within(700, "input_ids", batches.subList(1, batches.size())), within(700, "input_ids", rest));
    }

    @ParameterizedTest
    @CsvSource({"arrow/file_uncompressed.arrow, ids", "parquet/tokens_none.parquet, input_ids"})
    void columnsOfListsAreBatchedByABudget(String fixture, String column) {
        List<Map<String, Object>> batches = batches(Fixtures.path(fixture), "--fields", column, "--tokens-as", "i64",
                "--max-length", 50, "--token-budget", 200, "--max-samples", 5, "--seed", 3);
        List<Object> samples = within(200, "input_ids", batches);
        assertEquals(samples.size(), new HashSet<>(samples).size());
        assertTrue(batches.stream().allMatch(batch -> (long) batch.get("count") <= 5));
        // Without --tokens-as it is stacked and padded, into batches of the same samples.
        assertEquals(samples, within(200, column, batches(Fixtures.path(fixture), "--fields", column, "--max-length",
                50, "--token-budget", 200, "--max-samples", 5, "--seed", 3)));
    }

    @Test
    void ofSeveralFieldsTheOneMeantIsNamed() {
        Path table = Fixtures.path("parquet/tokens_none.parquet");
        String[] args = {"batches", table.toString(), "--fields", "input_ids,text", "--bucket-window", "30"};
        CommandRun run = CommandRun.of((Object[]) args);
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode());
        assertTrue(run.err().contains("found 2 variable-length fields"), run.err());
        String[] named = Arrays.copyOf(args, args.length + 2);
        named[args.length] = "--length-field";
        named[args.length + 1] = "text";
        run = CommandRun.of((Object[]) named);
        assertEquals(0, run.exitCode(), run.err());
    }

    @Test
    void whatCannotBeIsWrongUsageInOneLine() {
        Path store = Fixtures.path("megatron/u16_docs.idx");
        for (String[] options : new String[][] {{"--documents", "--token-budget", "10"},
            {"--window", "10", "--token-budget", "100"}, {"--window", "10", "--documents"},
            {"--documents", "--token-budget", "0"}, {"--documents", "--bucket-window", "0"},
            {"--documents", "--token-budget", "100000", "--bad-samples", "skip"},
            {"--documents", "--max-length", "0"}}) {
            assertWrongUsage(store, options);
        }
    }

    @Test
    void anOptionThatWouldDoNothingIsRefused() {
        for (String[] options : new String[][] {{"--max-samples", "3"}, {"--length-field", "tokens"}, {"--follow"},
            {"--lanes", "2"}, {"--live", "2s"}, {"--passes", "2"}, {"--spool", "folder"}}) {
            String[] all = Arrays.copyOf(options, options.length + 2);
            all[options.length] = "--window";
            all[options.length + 1] = "10";
            assertWrongUsage(Fixtures.path("megatron/u16_docs.idx"), all);
        }
        Path table = Fixtures.path("parquet/tokens_none.parquet");
        assertWrongUsage(table, "--fields", "input_ids", "--pack", "64", "--max-length", "5");
        assertWrongUsage(table, "--fields", "input_ids", "--image", "8x8");
        for (String way : List.of("--window", "--pack")) {
            assertWrongUsage(null, "--source", "examples/corpus/letters.jsonl", way, "16", "--max-length", "5");
        }
    }

    private static void assertWrongUsage(Path store, String... options) {
        List<Object> all = new ArrayList<>(List.of("batches"));
        if (store != null) {
            all.add(store);
        }
        all.addAll(List.of(options));
        CommandRun run = CommandRun.of(all.toArray());
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode(), Arrays.toString(options) + run.err());
    }
}
