// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.loader.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The CUDA device's way to a kernel: fatbin, lookup, arguments, order and errors, over the simulated runtime, which
 * runs the kernels' own source on the threads of its streams.
 */
@Tag("slow")
class CudaLaunchTest {
    private static final Path FATBIN = Path.of("src/main/resources/io/penstock/device/cuda/kernels.fatbin");

    private static Path runtime;
    private static Path kernels;

    @TempDir
    private Path folder;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        kernels = CudaSimulator.buildKernels(Path.of("target/native/simulated"));
        runtime = CudaSimulator.build(Path.of("target/native/simulated").toAbsolutePath());
    }

    /** Each in one JVM, which leaves nothing open and breaks no rule. */
    @TestFactory
    Stream<DynamicTest> holds() throws Exception {
        return jvm().tests(Scenarios.class, Scenarios.some(CudaLaunchChecks.class,
                "kernelsGiveWhatTheDefinitionsSay", "launchesOnAForeignStream", "argumentsThatAreWrongAreRefused",
                "batchesOfALoaderAreWidenedBehindTheirCopies", "aKernelThatDoesNotWaitForTheCopyIsAViolation",
                "aStagesOutputIsWrittenInOrderOrItIsAViolation", "aCallThatFailsIsNamedWithWhatToDo",
                "aKernelThatTheFatbinLacksIsNamed"));
    }

    @Test
    void launchingAllocatesNothing() throws Exception {
        run(jvm().optimized(), "launchingAllocatesNothing");
    }

    @Test
    void aFatbinThatIsCutOffOrNoneNeverReachesCuda() throws Exception {
        byte[] whole = Files.readAllBytes(FATBIN);
        for (int bytes : new int[] {0, 15, 16, whole.length - 1}) {
            refused(Arrays.copyOf(whole, bytes), bytes < 16 ? "a fatbin has at least 16" : "is it cut off?");
        }
        refused("not a fatbin, but long enough".getBytes(), "is this a fatbin?");
        Path copy = Files.write(folder.resolve("whole.fatbin"), whole);
        assertEquals("launched\n", run(jvm(), "launch", copy.toString()));
    }

    private void refused(byte[] content, String reason) throws Exception {
        Path file = Files.write(folder.resolve("bad.fatbin"), content);
        String output = run(jvm(), "launch", file.toString());
        assertTrue(output.startsWith("cudaLibraryLoadData 200 cuda:0: cudaLibraryLoadData: cudaErrorInvalidKernelImage"
                + " (200): the kernels cannot be read: " + file) && output.contains(reason), output);
    }

    private static ChildJvm jvm() {
        return new ChildJvm().library(runtime).variable("SIM_CUDA_STRICT_EXIT", 1)
                .variable("SIM_CUDA_KERNELS", kernels);
    }

    /** Runs a check of {@link CudaLaunchChecks}; it passes if nothing is left open and no rule broken. */
    private static String run(ChildJvm jvm, String... arguments) throws Exception {
        ChildJvm.Result result = jvm.run(CudaLaunchChecks.class, arguments);
        assertEquals(0, result.exitCode(), () -> arguments[0] + ":\n" + result.output());
        return result.output();
    }
}
