// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The checks that do not steer the simulation, over the real library and a GPU; skipped where there is none. */
@Tag("gpu")
public class CudaGpuTest {
    private static Path library;

    @BeforeAll
    static void find() throws IOException, InterruptedException {
        library = findAGpu();
    }

    /** The library over which there is a GPU; where there is none, the test that asks is skipped. */
    public static Path findAGpu() throws IOException, InterruptedException {
        Optional<Path> real = CudaLibraryTest.realLibrary();
        assumeTrue(real.isPresent(), "no CUDA 13 runtime library on this machine");
        String output = new ChildJvm().library(real.get()).run("open");
        assumeTrue(output.contains("opened cuda:0"), output);
        return real.get();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "bytesGoThroughTheDeviceAndBack",
        "whatBelongsElsewhereAndWhatIsOutsideIsRefused",
        "virtualThreadsAreRefused",
        "theSteadyStateAllocatesNothing",
        "inventory"
    })
    void holds(String check) throws IOException, InterruptedException {
        new ChildJvm().library(library).run(check);
    }
}
