// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuickstartCommandTest {

    @TempDir
    Path folder;

    @Test
    void keepsCorpusAndStoreWhereItIsTold() throws Exception {
        Path kept = folder.resolve("a/b");
        CommandRun run = CommandRun.of("quickstart", "--keep", kept, "--json");
        assertEquals(0, run.exitCode(), run.err());
        Map<String, Object> stream = Json.object(run.json().get("stream"));
        assertEquals(500L, stream.get("steps"));
        assertEquals(Json.object(run.json().get("tokenize")).get("tokens"), 64_816L);
        assertEquals("megatron", Json.object(run.json().get("inspect")).get("kind"));

        TreeSet<String> corpus = new TreeSet<>();
        try (Stream<Path> files = Files.list(Path.of("examples/corpus"))) {
            for (Path file : files.toList()) {
                corpus.add(file.getFileName().toString());
                assertEquals(-1, Files.mismatch(file, kept.resolve("corpus").resolve(file.getFileName())));
            }
        }
        try (Stream<Path> files = Files.list(kept.resolve("corpus"))) {
            assertEquals(corpus, new TreeSet<>(files.map(file -> file.getFileName().toString()).toList()));
        }

        CommandRun batches = CommandRun.of("batches", kept.resolve("tokens"), "--window", 128, "--batch", 16);
        assertEquals(0, batches.exitCode(), batches.err());
        CommandRun again = CommandRun.of("quickstart", "--keep", kept);
        assertEquals(1, again.exitCode(), "nothing is overwritten");
        assertTrue(again.err().contains("almanac.txt: exists already"), again.err());
    }

    @Tag("slow")
    @Test
    void itsCommandsRunAsTheyArePrinted() {
        Path kept = folder.resolve("kept");
        CommandRun run = CommandRun.of("quickstart", "--keep", kept);
        assertEquals(0, run.exitCode(), run.err());
        List<String> commands = run.out().lines().filter(line -> line.startsWith("    ./penstock ")).toList();
        assertTrue(commands.size() >= 4, commands::toString);
        for (String command : commands) {
            Object[] args = command.strip().substring("./penstock ".length()).split(" ");
            CommandRun next = CommandRun.of(args);
            assertEquals(0, next.exitCode(), () -> command + ": " + next.err());
        }
    }
}
