// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers that no machine has room for: wrong usage, said in a line. */
class LoaderBoundsCommandTest {

    @TempDir
    private static Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "batches | --workers | 100000 | workers: 100000, expected 0 to 1024 (each is a thread",
        "stream | --workers | 100000 | workers: 100000, expected 0 to 1024 (each is a thread",
        "batches | --prefetch | 2000000000 | prefetch: 2000000000, expected 1 to 65536",
        "stream | --prefetch | 2000000000 | prefetch: 2000000000, expected 1 to 65536",
        "stream | --batch | 1000000000 | bytes of memory of this machine"})
    void isRefusedWithTheReasonBeforeAnythingIsTaken(String command, String option, String value, String said)
            throws IOException {
        Path corpus = Corpora.rawU16(folder, 100_000, 1);
        CommandRun run = CommandRun.of(command, corpus, "--format", "nanogpt", "--window", 1024, option, value);
        assertEquals(2, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().contains(said), run.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"workers | 100000 | 0 to 1024", "prefetch | 1000000 | 1 to 65536",
        "device_slots | 100000 | 2 to 1024"})
    void soIsAFileOfSettings(String key, String value, String said) throws IOException {
        Path corpus = Corpora.rawU16(folder, 100_000, 1);
        Path settings = Files.writeString(folder.resolve("settings.json"),
                "{\"loader_settings\": 1, \"" + key + "\": " + value + "}");
        CommandRun run = CommandRun.of("stream", corpus, "--format", "nanogpt", "--window", 64, "--settings", settings);
        assertTrue(run.exitCode() == 2 || run.exitCode() == 3, run.exitCode() + " " + run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().contains(key + ": found " + value + ", expected " + said), run.err());
    }
}
