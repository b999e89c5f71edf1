// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.device.Device;
import io.penstock.device.cuda.ChildJvm;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.loader.Scenarios;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A loader that computes spectrograms on the device, over the simulated CUDA runtime, which runs the kernels. */
class MelLaunchTest {

    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> holds() throws Exception {
        Path folder = Path.of("target/native/simulated");
        Path kernels = CudaSimulator.buildKernels(folder);
        return new ChildJvm().library(CudaSimulator.build(folder.toAbsolutePath())).variable("SIM_CUDA_STRICT_EXIT", 1)
                .variable("SIM_CUDA_KERNELS", kernels).tests(Scenarios.class, Scenarios.some(MelLaunchChecks.class,
                        "kernelsGiveWhatTheStepGives", "batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder"));
    }

    @Test
    void otherFieldsAreRefused() {
        LogMel mel = LogMel.whisper(80);
        try (Device device = Device.host()) {
            assertEquals("found sound: f32[4,16000,2], expected samples of one channel, f32[B, n]",
                    assertThrows(IllegalArgumentException.class, () -> mel.stage("sound").open(device,
                            SlabLayout.of(new TensorSpec("sound", DType.F32, 4, 16_000, 2)))).getMessage());
            assertThrows(IllegalArgumentException.class, () -> mel.stage("sound").open(device,
                    SlabLayout.of(new TensorSpec("sound", DType.F32, 4, 200))));
            SpecAugment masks = SpecAugment.of(80).bands(2, 27);
            assertEquals("found sound: f32[4,3000,80], expected spectrograms, f32[B, 80, frames]",
                    assertThrows(IllegalArgumentException.class, () -> masks.stage("sound").open(device,
                            SlabLayout.of(new TensorSpec("sound", DType.F32, 4, 3000, 80)))).getMessage());
            assertEquals("found [sound: f32[4,80,3000]], expected also sound_masks: f64[4,4], which "
                    + "SpecAugment.withMasks adds", assertThrows(IllegalArgumentException.class,
                            () -> masks.stage("sound").open(device,
                                    SlabLayout.of(new TensorSpec("sound", DType.F32, 4, 80, 3000)))).getMessage());
            assertThrows(IllegalArgumentException.class, () -> masks.bands(65, 2).stage("sound"));
            assertThrows(IllegalArgumentException.class, () -> SpecAugment.of(80).stage("sound"));
        }
    }
}
