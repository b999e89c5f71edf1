// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.cli.Penstock;
import io.penstock.device.cuda.ChildJvm;
import io.penstock.testing.Corpora;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Where the OS has no more threads. {@code ulimit -u} binds neither root nor one process alone; a limit of address
 * space and large stacks do, and the JVM says the same of both.
 */
@EnabledOnOs(OS.LINUX)
class ThreadLimitTest {

    private static ChildJvm jvm() {
        return new ChildJvm().optimized().option("-Xss512m").option("-Xlog:os+thread=off").limit("-v 24000000");
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aLoaderThatGetsNoThreadSaysSoAndLeavesNothing(TransferMode transfer) throws Exception {
        ChildJvm.Result result = jvm().run(ThreadLimitProgram.class, transfer.toString());
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("error: limited-worker-") && result.output().contains(
                ": no thread can be started for worker ") && result.output().contains(" of 200: the limit of threads")
                && result.output().contains("ulimit -u is "), result::output);
        assertTrue(result.output().contains("left: []"), result::output);
        assertFalse(result.output().contains("was closed before"), result::output);
    }

    @Test
    void theCommandLineSaysItInOneLine(@TempDir Path folder) throws Exception {
        Path corpus = Corpora.rawU16(folder, 100_000, 1);
        ChildJvm.Result result = jvm().run(Penstock.class, "stream", corpus.toString(), "--format", "nanogpt",
                "--window", "128", "--batch", "4", "--steps", "10", "--workers", "200");
        List<String> lines = result.output().lines().toList();
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(lines.getLast().matches("penstock: .*: no thread can be started for worker \\d+ of 200: .*"),
                result::output);
        assertFalse(result.output().contains("\tat "), result::output);
    }
}
