// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.loader.Scenarios;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** A loader that augments on the device, over the simulated CUDA runtime, which runs the kernels' own source. */
@Tag("slow")
class AugmentLaunchTest {

    private static Path runtime;
    private static Path kernels;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        kernels = CudaSimulator.buildKernels(Path.of("target/native/simulated"));
        runtime = CudaSimulator.build(Path.of("target/native/simulated").toAbsolutePath());
    }

    @TestFactory
    Stream<DynamicTest> holds() throws Exception {
        return new ChildJvm().library(runtime).variable("SIM_CUDA_STRICT_EXIT", 1)
                .variable("SIM_CUDA_KERNELS", kernels).tests(Scenarios.class,
                        Scenarios.some(AugmentLaunchChecks.class,
                                "kernelsGiveWhatTheDefinitionsSay",
                                "batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder",
                                "aStageIsOpenedByAThreadThatHasAnotherDeviceCurrent",
                                "aStageThatDoesNotWaitForTheCopyIsAViolation",
                                "aStageWithTheParametersOfTheSlotBeforeGivesOtherPixels"));
    }
}
