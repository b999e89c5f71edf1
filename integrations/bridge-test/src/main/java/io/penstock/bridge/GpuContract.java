// SPDX-License-Identifier: Apache-2.0
package io.penstock.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A framework that works on a stream of a GPU reads a batch behind its copy, and the slot is written again only behind
 * what the framework has enqueued before it closed the batch. A simulated CUDA runtime, which a C compiler builds from
 * sources in the kit, sees each missing order, whatever the timing is: no GPU is needed. Each check has a JVM of its
 * own, because a JVM loads CUDA once.
 */
public interface GpuContract {

    /** {@return the bridge under test; its public constructor has no parameters} */
    Class<? extends StreamBridge> onGpu();

    /**
     * The checks that {@link GpuChecks} runs.
     *
     * @param check the check
     * @param folder where the simulation is built
     * @throws IOException if it cannot be built or started
     * @throws InterruptedException if the test is stopped
     */
    @ParameterizedTest
    @EnumSource(GpuChecks.Check.class)
    default void streamsAreOrdered(GpuChecks.Check check, @TempDir Path folder)
            throws IOException, InterruptedException {
        Outcome outcome = run(folder, onGpu(), check);
        assertEquals(0, outcome.status(), outcome.output());
        assertTrue(outcome.output().contains("done " + check), outcome.output());
    }

    /**
     * How a check's JVM ended.
     *
     * @param status 0 if the check passed
     * @param output what it printed
     */
    record Outcome(int status, String output) {
    }

    /**
     * Runs a check of a bridge.
     *
     * @param folder where the simulation is built
     * @param bridge the bridge
     * @param check the check
     * @return how it ended
     * @throws IOException if it cannot be built or started
     * @throws InterruptedException if the test is stopped
     */
    static Outcome run(Path folder, Class<? extends StreamBridge> bridge, GpuChecks.Check check)
            throws IOException, InterruptedException {
        Path library = build(folder);
        Path output = folder.resolve(check + ".txt");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "-Dpenstock.cudart=" + library, "-cp",
                System.getProperty("java.class.path"), GpuChecks.class.getName(), library.toString(),
                bridge.getName(), check.name()).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().keySet().removeAll(List.of("PENSTOCK_CUDART", "CUDA_HOME", "CUDA_PATH",
                "CUDA_VISIBLE_DEVICES", "JAVA_TOOL_OPTIONS"));
        builder.environment().put("SIM_CUDA_STRICT_EXIT", "1");
        Process process = builder.start();
        if (!process.waitFor(5, TimeUnit.MINUTES)) {
            process.destroyForcibly().waitFor();
            fail(check + " does not end:\n" + Files.readString(output));
        }
        return new Outcome(process.exitValue(), Files.readString(output));
    }

    private static Path build(Path folder) throws IOException, InterruptedException {
        Path library = folder.resolve("libcudart.so.13").toAbsolutePath();
        if (Files.exists(library)) {
            return library;
        }
        List<String> command = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-O1", "-pthread", "-o",
                library.toString()));
        for (String file : List.of("sim.h", "state.c", "order.c", "stream.c", "runtime.c", "kernels.c", "nvjpeg.c",
                "control.c")) {
            try (InputStream source = GpuContract.class.getResourceAsStream("sim/" + file)) {
                Files.copy(source, folder.resolve(file));
            }
            if (file.endsWith(".c")) {
                command.add(folder.resolve(file).toString());
            }
        }
        Process compiler;
        try {
            compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return abort("no C compiler: " + e.getMessage());
        }
        String output = new String(compiler.getInputStream().readAllBytes());
        assertEquals(0, compiler.waitFor(), output);
        return library;
    }
}
