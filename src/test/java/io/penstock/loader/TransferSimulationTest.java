// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.SimulatorScenarios;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The transfer protocol, the loader's real code over the CUDA device's real code, on the simulated runtime. Many
 * scenarios share a JVM; each is a test here.
 */
@Tag("slow")
class TransferSimulationTest {

    @TempDir
    private static Path folder;
    private static Path simulator;
    private static Path kernels;

    @BeforeAll
    static void buildTheSimulator() throws Exception {
        simulator = CudaSimulator.build(folder);
        kernels = CudaSimulator.buildKernels(folder);
    }

    /** The simulation sees what a GPU lets pass; the protocol holds, and faults are told and leave nothing. */
    @TestFactory
    Stream<DynamicTest> theProtocolHolds() throws Exception {
        return run(Scenarios.class, SimulatorScenarios.class.getName(), TransferScenarios.class.getName(),
                MemoryScenarios.class.getName(), MultiDeviceScenarios.class.getName(), CloseScenarios.class.getName(),
                DLPackScenarios.class.getName(), StageScenarios.class.getName(), FaultScenarios.class.getName());
    }

    @TestFactory
    Stream<DynamicTest> theProtocolHoldsWhereClosedBatchesAreOverwritten() throws Exception {
        return run(new ChildJvm().option("-Dpenstock.leases=paranoid"), Scenarios.class,
                PoisonScenarios.class.getName(), DLPackScenarios.class.getName(),
                StageScenarios.class.getName());
    }

    @ParameterizedTest
    @CsvSource({"exit, 7", "halt, 8", "signal, 143"})
    void aProcessThatEndsWithCopiesInFlightEndsAsItWasTold(String way, int exitCode) throws Exception {
        ChildJvm.Result result = new ChildJvm().library(simulator).run(ExitProgram.class, way);
        assertEquals(exitCode, result.exitCode(), result::output);
    }

    @ParameterizedTest
    @CsvSource({"clean, 0", "exception, 1", "leak, 86"})
    void whatIsOpenAtTheEndOfAProcessIsSeen(String way, int exitCode) throws Exception {
        ChildJvm.Result result = new ChildJvm().library(simulator).variable("SIM_CUDA_STRICT_EXIT", 1)
                .run(ExitProgram.class, way);
        assertEquals(exitCode, result.exitCode(), result::output);
    }

    private static Stream<DynamicTest> run(Class<?> main, String... arguments) throws Exception {
        return run(new ChildJvm(), main, arguments);
    }

    private static Stream<DynamicTest> run(ChildJvm jvm, Class<?> main, String... arguments) throws Exception {
        return run(jvm, simulator, kernels, main, arguments);
    }

    static Stream<DynamicTest> run(ChildJvm jvm, Path simulator, Path kernels, Class<?> main, String... arguments)
            throws Exception {
        return jvm.library(simulator).variable("SIM_CUDA_KERNELS", kernels).tests(main, arguments);
    }
}
