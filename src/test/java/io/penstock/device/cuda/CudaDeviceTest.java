// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The CUDA device's whole code over the simulated runtime, a check at a time in a JVM of its own. */
@Tag("slow")
class CudaDeviceTest {
    @TempDir
    private static Path folder;
    private static Path simulator;

    @BeforeAll
    static void buildTheSimulator() throws IOException, InterruptedException {
        simulator = CudaSimulator.build(folder);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "everyStatusOfTheProbeHasItsReason",
        "bytesGoThroughTheDeviceAndBack",
        "whatIsOpenedIsMadeAsCudaWantsItAndIsReleased",
        "closingADeviceClosesWhatWasLeftOpen",
        "aFailedCallIsReportedByNameAndStatus",
        "aTimeIsOfTwoTimedEventsThatHaveEnded",
        "notReadyMeansIncompleteAndIsNoError",
        "aRuntimeThatIsUnloadingIsNoErrorOnCloseAndOneElsewhere",
        "aCloseThatFailsSaysSoAndReleasesTheRest",
        "creatingLeavesTheCallersCurrentDeviceAlone",
        "virtualThreadsAreRefused",
        "whatBelongsElsewhereAndWhatIsOutsideIsRefused",
        "theSteadyStateAllocatesNothing",
        "theInventoryDescribesEachDevice",
        "theLoaderDeliversTheBatchesOfTheDatasetInOrder",
        "aCopyThatFailsEndsTheLoaderWithCudasErrorAndLeavesNothingOpen"
    })
    void holds(String check) throws IOException, InterruptedException {
        new ChildJvm().library(simulator).variable("SIM_CUDA_STRICT_EXIT", 1).run(check);
    }

    @Test
    void noDeviceNamesTheVariableThatHidesIt() throws IOException, InterruptedException {
        new ChildJvm().library(simulator).variable("CUDA_VISIBLE_DEVICES", "none")
                .run("noDeviceNamesTheVariableThatHidesIt");
    }
}
