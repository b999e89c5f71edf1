// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.dataset.Dataset;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.transform.CastTransform;
import io.penstock.transform.DeviceLab;
import io.penstock.transform.Experiment;
import io.penstock.transform.Lab;
import java.util.List;

/** What runs over the simulated CUDA runtime, in a JVM of its own: each method is a check, named as the argument. */
public final class MelLaunchChecks {

    private static final int SAMPLES = 5000;
    private static final long CLIP_BYTES = 80L * (SAMPLES / 160) * Float.BYTES;
    private static final int BATCH = 4;

    private MelLaunchChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        MelLaunchChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    static void kernelsGiveWhatTheStepGives() {
        try (Lab lab = new DeviceLab(Device.cuda(0))) {
            for (Experiment experiment : new MelExperiments(5).all()) {
                experiment.verify(lab);
            }
        }
    }

    static void batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder() {
        try (Device device = Device.cuda(0)) {
            CudaSimulator.setSpeed(200, 50);
            compare(device);
        }
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    private static void compare(Device device) {
        LogMel mel = LogMel.whisper(80);
        SpecAugment augment = SpecAugment.of(80).bands(2, 27).frames(2, 10).mean();
        Dataset sound = Dataset.generate(23, List.of(new TensorSpec("sound", DType.F32, SAMPLES)), "noise",
                (sample, random, out) -> {
                    for (int i = 0; i < SAMPLES; i++) {
                        float value = i < sample * 200 ? random.nextFloat() - 0.5f : 0;
                        out.tensor(0).segment().set(JAVA_FLOAT_UNALIGNED, 4L * i, value);
                    }
                });
        device.makeCurrent();
        try (DeviceStream train = device.openStream("train");
                PinnedBuffer result = device.allocatePinned(BATCH * CLIP_BYTES);
                DeviceBuffer copy = device.allocate(BATCH * CLIP_BYTES);
                DataLoader workers = settings(SoundSteps.of(mel, augment).map(sound, "sound")).open();
                DataLoader staged = settings(augment.withMasks(sound, "sound")).device(device)
                        .onDevice(mel.stage("sound"), augment.stage("sound")).open()) {
            var cast = new CastTransform(DType.F32, DType.F32);
            while (workers.hasNext()) {
                long bytes;
                try (Batch batch = staged.next(train)) {
                    bytes = batch.count() * CLIP_BYTES;
                    cast.enqueue(train, batch.address("sound"), bytes / Float.BYTES, copy.address());
                }
                train.copyToHost(result, 0, copy, 0, bytes);
                train.synchronize();
                try (Batch batch = workers.next()) {
                    assertEquals(-1, batch.tensor("sound").segment().mismatch(result.segment().asSlice(0, bytes)));
                }
            }
        }
    }

    private static DataLoaderBuilder settings(Dataset dataset) {
        return DataLoader.builder(dataset).batchSize(BATCH).shuffle(42).endEpoch(2).workers(2);
    }
}
