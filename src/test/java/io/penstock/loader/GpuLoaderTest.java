package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaGpuTest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The loader over the real library and a GPU; skipped where there is none. */
@Tag("gpu")
class GpuLoaderTest {
    private static Path library;

    @BeforeAll
    static void find() throws IOException, InterruptedException {
        library = CudaGpuTest.findAGpu();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "everyBatchOnTheDeviceHasTheBytesOfItsSamples",
        "aBatchThatIsHeldKeepsItsBytesWhileOthersArrive",
        "batchesAreOrderedBehindTheTrainersOwnStreams",
        "leavingHalfwayGivesTheDevicesMemoryBack",
        "theSteadyStateCreatesNothing"
    })
    void holds(String check) throws IOException, InterruptedException {
        ChildJvm.Result result = new ChildJvm().library(library).run(GpuLoaderChecks.class, check);
        assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
    }
}
