// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.image.nvjpeg.SimulatedNvJpeg;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Decoding on the device in the transfer protocol, over the simulated CUDA runtime and nvJPEG. */
@Tag("slow")
class JpegSimulationTest {

    @TempDir
    private static Path folder;
    private static Path simulator;
    private static Path kernels;

    @BeforeAll
    static void buildTheSimulator() throws Exception {
        simulator = CudaSimulator.build(folder);
        kernels = CudaSimulator.buildKernels(folder);
    }

    private static Stream<DynamicTest> run(Class<?> main, String argument) throws Exception {
        return TransferSimulationTest.run(SimulatedNvJpeg.in(new ChildJvm(), simulator), simulator, kernels, main,
                argument);
    }

    @TestFactory
    Stream<DynamicTest> theProtocolHoldsForFilesThatAreDecodedOnTheDevice() throws Exception {
        return run(Scenarios.class, JpegScenarios.class.getName());
    }

    @TestFactory
    Stream<DynamicTest> aStepThatIsMissingIsNoticed() throws Exception {
        return run(MutantScenarios.class, "jpeg");
    }
}
