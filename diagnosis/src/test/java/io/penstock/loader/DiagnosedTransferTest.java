// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The transfer protocol with the device's clock and a diagnosis beside it, on the simulated runtime; and variants of
 * the protocol in which a step is missing, which the scenarios of both must notice.
 */
@Tag("slow")
class DiagnosedTransferTest {

    @TempDir
    private static Path folder;
    private static Path simulator;
    private static Path kernels;

    @BeforeAll
    static void buildTheSimulator() throws Exception {
        simulator = CudaSimulator.build(folder);
        kernels = CudaSimulator.buildKernels(folder);
    }

    @TestFactory
    Stream<DynamicTest> theProtocolHolds() throws Exception {
        return run(Scenarios.class, ClockScenarios.class.getName(), GraphScenarios.class.getName(),
                EveryCallScenarios.class.getName());
    }

    @TestFactory
    Stream<DynamicTest> aStepThatIsMissingIsNoticed() throws Exception {
        return run(MutantScenarios.class);
    }

    private static Stream<DynamicTest> run(Class<?> main, String... arguments) throws Exception {
        return TransferSimulationTest.run(new ChildJvm(), simulator, kernels, main, arguments);
    }
}
