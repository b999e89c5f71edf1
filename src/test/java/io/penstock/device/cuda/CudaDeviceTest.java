// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import io.penstock.loader.Scenarios;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The CUDA device's whole code over the simulated runtime, in JVMs of its own. */
@Tag("slow")
class CudaDeviceTest {
    @TempDir
    private static Path folder;
    private static Path simulator;

    @BeforeAll
    static void buildTheSimulator() throws IOException, InterruptedException {
        simulator = CudaSimulator.build(folder);
    }

    /** Each on a thread of its own in one JVM, which leaves nothing open. */
    @TestFactory
    Stream<DynamicTest> holds() throws IOException, InterruptedException {
        return new ChildJvm().library(simulator).variable("SIM_CUDA_STRICT_EXIT", 1).tests(Scenarios.class,
                Scenarios.some(CudaChecks.class,
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
                        "whatIsReleasedIsReleasedOnItsOwnDevice",
                        "aLoaderThatIsClosedWaitsOnAThreadOfItsDevice",
                        "virtualThreadsAreRefused",
                        "whatBelongsElsewhereAndWhatIsOutsideIsRefused",
                        "theInventoryDescribesEachDevice",
                        "theLoaderDeliversTheBatchesOfTheDatasetInOrder",
                        "aCopyThatFailsEndsTheLoaderWithCudasErrorAndLeavesNothingOpen"));
    }

    @Test
    void theSteadyStateAllocatesNothing() throws IOException, InterruptedException {
        new ChildJvm().optimized().library(simulator).variable("SIM_CUDA_STRICT_EXIT", 1)
                .run("theSteadyStateAllocatesNothing");
    }

    @Test
    void noDeviceNamesTheVariableThatHidesIt() throws IOException, InterruptedException {
        new ChildJvm().library(simulator).variable("CUDA_VISIBLE_DEVICES", "none")
                .run("noDeviceNamesTheVariableThatHidesIt");
    }
}
