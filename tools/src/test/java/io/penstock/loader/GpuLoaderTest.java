// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaGpuTest;
import io.penstock.device.cuda.CudaSimulator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What a trainer sees of the loader on a GPU: over a real one where there is one, and over the simulated runtime. */
@Tag("slow")
class GpuLoaderTest {
    static final String[] CHECKS = {
        "everyBatchOnTheDeviceHasTheBytesOfItsSamples",
        "aBatchThatIsHeldKeepsItsBytesWhileOthersArrive",
        "batchesAreOrderedBehindTheTrainersOwnStreams",
        "leavingHalfwayGivesTheDevicesMemoryBack",
        "theSteadyStateCreatesNothing",
        "anyMixOfWhatALoaderCanDoKeepsEveryByte"
    };

    private static void run(ChildJvm jvm, String check) throws IOException, InterruptedException {
        for (String property : List.of("penstock.stress.batches", "penstock.stress.seed")) {
            if (System.getProperty(property) != null) {
                jvm.option("-D" + property + "=" + System.getProperty(property));
            }
        }
        ChildJvm.Result result = jvm.run(GpuLoaderChecks.class, check);
        assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
    }

    @Nested
    @Tag("gpu")
    @TestInstance(Lifecycle.PER_CLASS)
    class OnAGpu {
        private Path library;

        @BeforeAll
        void find() throws IOException, InterruptedException {
            library = CudaGpuTest.findAGpu();
        }

        @ParameterizedTest
        @FieldSource("io.penstock.loader.GpuLoaderTest#CHECKS")
        void holds(String check) throws IOException, InterruptedException {
            run(new ChildJvm().library(library), check);
        }
    }

    /** A violation or a leak ends the JVM with an error. */
    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    class OverTheSimulatedRuntime {
        private Path library;
        private Path kernels;

        @BeforeAll
        void build(@TempDir Path folder) throws IOException, InterruptedException {
            library = CudaSimulator.build(folder);
            kernels = CudaSimulator.buildKernels(folder);
        }

        @TestFactory
        Stream<DynamicTest> holds() throws IOException, InterruptedException {
            return new ChildJvm().optimized().library(library).variable("SIM_CUDA_KERNELS", kernels)
                    .variable("SIM_CUDA_STRICT_EXIT", 1)
                    .tests(Scenarios.class, Scenarios.some(GpuLoaderChecks.class, CHECKS));
        }
    }
}
