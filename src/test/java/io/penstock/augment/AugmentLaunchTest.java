// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(strings = {
        "batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder", "aStageThatDoesNotWaitForTheCopyIsAViolation",
        "aStageWithTheParametersOfTheSlotBeforeGivesOtherPixels"
    })
    void holds(String check) throws Exception {
        ChildJvm.Result result = new ChildJvm().library(runtime).variable("SIM_CUDA_STRICT_EXIT", 1)
                .variable("SIM_CUDA_KERNELS", kernels).run(AugmentLaunchChecks.class, check);
        assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
    }
}
