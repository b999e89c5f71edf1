// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The commands that take a table, each run in a JVM with this one's class path. */
public final class LakeCommands {

    private LakeCommands() {
    }

    /**
     * Fails unless the commands read all rows of a version.
     *
     * @param table a table with a column {@code id} of integers without nulls
     * @param version what {@code --member} takes
     * @param folder where a store may be written
     */
    public static void check(Path table, String format, String version, long rows, Path folder)
            throws IOException, InterruptedException {
        String path = table.toString();
        String inspected = run("inspect", path, "--member", version);
        assertTrue(inspected.contains(path + ": " + format) && inspected.contains("version: " + version)
                && inspected.contains("rows: " + rows) && inspected.contains("{name=id, dtype=i64"), inspected);
        String counted = run("stats", path, "--member", version, "--fields", "id");
        assertTrue(counted.contains(rows + " samples, " + rows + " values"), counted);
        String batches = run("batches", path, "--member", version, "--fields", "id", "--batch", "16", "--limit", "2");
        assertTrue(batches.contains("batch 0, epoch 0: 16 samples") && batches.contains("id: i64[16]"), batches);
        String rate = run("stream", path, "--member", version, "--fields", "id", "--batch", "16", "--steps", "2");
        assertTrue(rate.contains("samples/s"), rate);
        Path tar = folder.resolve(format + "-" + version + ".tar");
        String converted = run("convert", path, tar.toString(), "--member", version, "--to", "webdataset");
        assertTrue(converted.contains(rows + " samples"), converted);
        String again = run("inspect", tar.toString());
        assertTrue(again.contains("sample_count: " + rows), again);
    }

    private static String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "--enable-native-access=ALL-UNNAMED", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp",
                System.getProperty("java.class.path"), "io.penstock.cli.Penstock"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), out);
        return out;
    }
}
