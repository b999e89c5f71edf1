// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaGpuTest;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.image.ImageDecoding;
import io.penstock.image.nvjpeg.SimulatedNvJpeg;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JPEG files that are decoded on the device; what needs one runs over the simulated CUDA runtime and nvJPEG. */
class DeviceImagesTest {

    @Test
    void theHostDeviceLeavesDecodingToTheWorkers() {
        try (Device host = Device.host()) {
            DeviceImages decoding = DeviceImages.of(Augment.images().randomResizedCrop(8, 8), host);
            assertEquals("workers", decoding.decoder());
            assertEquals(0, decoding.stages("jpg").length);
        }
    }

    @Test
    void aPipelineWhoseBeginningFixesNoSizeOrThatDecodesToGrayIsRefused() {
        try (Device host = Device.host()) {
            refused("expected a step that makes one size",
                    () -> DeviceImages.of(Augment.images().colorJitter(1, 1, 1, 0).randomResizedCrop(8, 8), host));
            refused("expected RGB, whole", () -> DeviceImages.of(
                    Augment.images().randomResizedCrop(8, 8).decoding(ImageDecoding.gray()), host));
            DeviceImages decoding = DeviceImages.of(Augment.images().randomResizedCrop(8, 8), host);
            refused("191 bytes for a file, expected 192", () -> decoding.fileBytes(191));
            refused("expected at least 1 MiB", () -> decoding.scratchBytes(1));
        }
    }

    private static void refused(String reason, Runnable action) {
        String message = assertThrows(IllegalArgumentException.class, action::run).getMessage();
        assertTrue(message.contains(reason), message);
    }

    /** Without nvJPEG, or a decoder for the workers, there is nothing to compare: the checks then say so and end. */
    @Nested
    @Tag("slow")
    @Tag("gpu")
    class OnAGpu {
        @ParameterizedTest
        @ValueSource(strings = {"pixelsAreNearThoseOfTheWorkers", "imagesDoNotDependOnTheirGroups"})
        void holds(String check) throws Exception {
            ChildJvm.Result result = new ChildJvm().library(CudaGpuTest.findAGpu())
                    .run(DeviceImagesChecks.class, check);
            assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
        }
    }

    @Nested
    @Tag("slow")
    @TestInstance(Lifecycle.PER_CLASS)
    class OverTheSimulatedLibrary {
        private Path runtime;
        private Path kernels;

        @BeforeAll
        void compile() throws IOException, InterruptedException {
            kernels = CudaSimulator.buildKernels(Path.of("target/native/simulated"));
            runtime = CudaSimulator.build(Path.of("target/native/simulated").toAbsolutePath());
        }

        @ParameterizedTest
        @ValueSource(strings = {
            "batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder", "aDamagedFileIsOneBlackImageThatIsMarked",
            "aFileThatIsCutOrHasABadHeaderIsABadSample", "everyCallThatFailsIsToldAndLeavesNothing",
            "severalDevicesDecodeTheirOwnBatches", "pixelsAreNearThoseOfTheWorkers", "imagesDoNotDependOnTheirGroups",
            "whereNvJpegFailsAtOnceTheWorkersDecode", "theDecoderIsPartOfTheFingerprint"
        })
        void holds(String check) throws Exception {
            run(check, runtime);
        }

        @Test
        void whereItIsMissingTheWorkersDecode() throws Exception {
            run("whereItIsMissingTheWorkersDecode", Path.of("target/native/simulated/libnvjpeg.so.13"));
        }

        private void run(String check, Path nvJpeg) throws Exception {
            ChildJvm.Result result = SimulatedNvJpeg.in(new ChildJvm().library(runtime), nvJpeg)
                    .variable("SIM_CUDA_STRICT_EXIT", 1).variable("SIM_CUDA_KERNELS", kernels)
                    .run(DeviceImagesChecks.class, check);
            assertEquals(0, result.exitCode(), () -> check + ":\n" + result.output());
        }
    }
}
