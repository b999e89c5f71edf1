// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Split;
import io.penstock.dataset.TokenWindows;
import io.penstock.json.Json;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SplitOptionsTest {

    @TempDir
    Path folder;

    private static CommandRun run(Object... args) {
        return CommandRun.of(args);
    }

    /** The digests of the samples of a run in batches of one. */
    private static List<Object> digests(Object... args) {
        List<Object> all = new ArrayList<>(List.of("batches", "--batch", 1, "--digest", "--json"));
        all.addAll(List.of(args));
        CommandRun run = run(all.toArray());
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().filter(line -> line.contains("sha256"))
                .map(line -> (Object) line.replaceAll(".*\"sha256\": ?\"(\\w+)\".*", "$1")).toList();
    }

    @Test
    void thePartsAreThoseOfTheApiAndTogetherAllSamples() throws IOException {
        Path store = Corpora.rawU16(folder, 5000, 1);
        List<Object> all = digests(store, "--window", 32, "--no-shuffle");
        List<Object> train = digests(store, "--window", 32, "--no-shuffle", "--split", 0.8, "--split-seed", 3);
        List<Object> validation = digests(store, "--window", 32, "--no-shuffle", "--split", 0.8, "--split-seed", 3,
                "--validation");
        try (TokenStore tokens = TokenStore.open(store, "nanogpt")) {
            Split split = TokenWindows.of(tokens, 32).split(0.8, 3);
            assertEquals(LongStream.range(0, split.train().size()).mapToObj(sample ->
                    all.get((int) split.train().origin(sample))).toList(), train);
            assertEquals(LongStream.range(0, split.validation().size()).mapToObj(sample ->
                    all.get((int) split.validation().origin(sample))).toList(), validation);
        }
        assertEquals(all.size(), train.size() + validation.size());
        assertEquals(new TreeSet<>(train), new TreeSet<>(
                digests(store, "--window", 32, "--seed", 5, "--split", 0.8, "--split-seed", 3)), "whatever --seed is");
    }

    @Test
    void documentsAreSplitBeforeTheyArePacked() throws IOException {
        for (int i = 0; i < 40; i++) {
            Files.writeString(folder.resolve("text" + i + ".txt"), ("document " + i + " ").repeat(20));
        }
        Path store = folder.resolve("store");
        assertEquals(0, run("tokenize", folder, "-o", store, "--append-eot", "--quiet").exitCode());
        long whole = samples(store, "--documents");
        long train = samples(store, "--documents", "--split", 0.5);
        assertEquals(whole, train + samples(store, "--documents", "--split", 0.5, "--validation"));
        for (String part : List.of("train", "validation")) {
            List<Object> args = new ArrayList<>(List.of("stream", store, "--pack", 256, "--split", 0.5, "--batch", 2,
                    "--steps", 1, "--warmup", 0, "--json"));
            if (part.equals("validation")) {
                args.add("--validation");
            }
            Map<String, Object> packed = run(args.toArray()).json();
            assertEquals(part.equals("train") ? train : whole - train, packed.get("pieces"));
            assertEquals(part, Json.object(packed.get("split")).get("part"));
        }
    }

    private static long samples(Object... args) {
        return digests(args).size();
    }

    @Test
    void whatCannotBeSplitIsWrongUsage() throws IOException {
        Path store = Corpora.rawU16(folder, 5000, 1);
        Path lines = Files.writeString(folder.resolve("lines.jsonl"), "{\"text\": \"x\"}\n");
        for (Object[] wrong : new Object[][] {
            {"--split: split 1.5: expected a share between 0 and 1", store, "--window", 32, "--split", 1.5},
            {"--split: no field 'user'", store, "--window", 32, "--split", 0.5, "--split-by", "user"},
            {"--validation: found without --split, which it needs", store, "--window", 32, "--validation"},
            {"--split-seed: found without --split, which it needs", store, "--window", 32, "--split-seed", 1},
            {"--source: found with --split, which needs a store", "--source", lines, "--split", 0.5}}) {
            List<Object> args = new ArrayList<>(List.of("batches"));
            args.addAll(Arrays.asList(wrong).subList(1, wrong.length));
            CommandRun run = run(args.toArray());
            assertEquals(2, run.exitCode(), run.err());
            assertTrue(run.err().startsWith("penstock: " + wrong[0]), run.err());
        }
    }
}
