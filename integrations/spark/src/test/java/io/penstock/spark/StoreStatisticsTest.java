// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.data.DataProfile;
import io.penstock.format.manifest.Manifest;
import io.penstock.io.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreStatisticsTest extends LocalSpark {

    private static final int WINDOW = 50;
    @TempDir
    private Path folder;

    private Path store(int parts) throws IOException {
        new SparkTokenizeJob(Documents.mixed(spark, 3), "text", Documents.GPT2, folder.resolve("tokens").toString())
                .order(RowOrder.shuffled(1, parts)).run();
        return folder.resolve("tokens.manifest.json");
    }

    /** Runs the command line in a process of its own; returns its exit status. */
    private static int stats(Path store, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), "io.penstock.cli.Penstock", "stats", store.toString(),
                "--window", Integer.toString(WINDOW), "--batch", "32", "--no-shuffle"));
        command.addAll(List.of(more));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    @Test
    void ofAStoreOfOnePartTheyAreThoseOfTheCommandLine() throws Exception {
        Path store = store(1);
        Path saved = folder.resolve("saved.json");
        assertEquals(0, stats(store, "--save", saved.toString()));
        DataProfile found = StoreStatistics.of(spark, store, WINDOW).orElseThrow();
        assertTrue(Files.readString(saved).strip().equals(found.toJson()));     // too long to be printed
    }

    @Test
    void ofAStoreOfManyPartsTheyHaveTheWindowsOfAllAndAreABaselineOfTheCommandLine() throws Exception {
        Path store = store(5);
        DataProfile found = StoreStatistics.of(spark, store, WINDOW).orElseThrow();
        Path baseline = folder.resolve("baseline.json");
        found.write(baseline);
        long windows = Manifest.read(Location.of(store)).parts().stream()
                .mapToLong(part -> (part.tokens() - 1) / WINDOW).sum();
        assertEquals(windows, found.samples());
        assertEquals(windows * (WINDOW + 1), found.fields().getFirst().values());
        assertEquals(0, stats(store, "--baseline", baseline.toString(), "--fail-on-drift"));
        assertTrue(StoreStatistics.of(spark, store, 10_000_000).isEmpty());
    }
}
