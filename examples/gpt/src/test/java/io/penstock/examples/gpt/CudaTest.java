// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The trainer on the simulated CUDA runtime, which runs the source of the kernels, each check in a JVM of its own. */
class CudaTest {

    @TempDir
    static Path folder;
    private static SimulatedGpu gpu;
    private static Corpus corpus;

    @BeforeAll
    static void build() throws IOException, InterruptedException {
        gpu = SimulatedGpu.build(folder.resolve("gpu"));
        corpus = Corpus.tokenize(folder);
    }

    private static String run(int status, String check) throws IOException, InterruptedException {
        Map<String, String> environment = new HashMap<>(gpu.environment());
        environment.put("SIM_CUDA_LOG", folder.resolve("log").toString());
        return SimulatedGpu.run(status, SimulatedGpu.program(CudaChecks.class, environment, check,
                corpus.letters().toString(), corpus.books().toString(), folder.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "everyOperationGivesWhatTheCpuGives", "stepsGiveTheGradientsAndWeightsOfTheCpu",
        "batchesReachTheDeviceAsTheyReachTheHost", "aStepIsEnqueuedInThisOrder"
    })
    void holds(String check) throws IOException, InterruptedException {
        run(0, check);
    }

    @Test
    @Tag("slow")
    void aRunHasTheLossesOfTheCpuAndTheSameBitsAgain() throws IOException, InterruptedException {
        run(0, "aRunHasTheLossesOfTheCpuAndTheSameBitsAgain");
    }

    @Test
    void aBatchThatIsClosedBeforeItsKernelIsEnqueuedIsAViolation() throws IOException, InterruptedException {
        String output = run(SimulatedGpu.VIOLATION, "readsAClosedBatch");
        assertTrue(output.contains("is not ordered behind its"), output);
    }

    @Test
    void aMissingDriverIsToldInOneLine() throws IOException, InterruptedException {
        String output = train("SIM_CUDA_DRIVER", "0");
        assertTrue(output.matches("train: CUDA runtime 13.0 .* finds no NVIDIA driver: install NVIDIA driver .*\n"),
                output);
    }

    @Test
    void aMissingCublasIsToldInOneLine() throws IOException, InterruptedException {
        assertEquals("train: no cuBLAS 13, looked for [/nowhere/libcublas.so]: install it, or name its libcublas.so.13"
                + " by PENSTOCK_CUBLAS\n", train("PENSTOCK_CUBLAS", "/nowhere/libcublas.so"));
    }

    private static String train(String variable, String value) throws IOException, InterruptedException {
        Map<String, String> environment = new HashMap<>(gpu.environment());
        environment.put(variable, value);
        return SimulatedGpu.run(1, SimulatedGpu.program(Train.class, environment, "--device", "cuda", "--first",
                corpus.letters().toString(), "--second", corpus.books().toString(), "--out",
                folder.resolve("none").toString()));
    }
}
