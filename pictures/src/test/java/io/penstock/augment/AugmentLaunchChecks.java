// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.TensorRows;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.image.Interpolation;
import io.penstock.image.Range;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.testing.MemoryTensorStore;
import io.penstock.transform.CastTransform;
import io.penstock.transform.DeviceLab;
import io.penstock.transform.Experiment;
import io.penstock.transform.Lab;

/** What runs over the simulated CUDA runtime, in a JVM of its own: each method is a check, named as the argument. */
public final class AugmentLaunchChecks {

    private static final int SAMPLES = 23;
    private static final int BATCH = 5;
    private static final int IMAGE_BYTES = 16 * 12 * 3;
    private static final Augment AUGMENT = AugmentStageTest.recipe();
    /** Steps that use more memory of the device than the images. */
    private static final Augment HEAVY = Augment.images().gaussianNoise(Range.of(0, 0.3)).gaussianBlur(5)
            .augMix(3, 2, 0, 1, Interpolation.BILINEAR).randomResizedCrop(16, 12);

    private AugmentLaunchChecks() {
    }

    /**
     * Runs a check.
     *
     * @param arguments the name of the method
     * @throws Throwable if the check fails
     */
    public static void main(String[] arguments) throws Throwable {
        AugmentLaunchChecks.class.getDeclaredMethod(arguments[0]).invoke(null);
    }

    static void kernelsGiveWhatTheDefinitionsSay() {
        try (Lab lab = new DeviceLab(Device.cuda(0))) {
            for (Experiment experiment : new AugmentExperiments(5).all()) {
                experiment.verify(lab);
            }
            assertEquals(1, CudaSimulator.calls("cudaLibraryLoadData"));
        }
        assertEquals(1, CudaSimulator.calls("cudaLibraryUnload"));
    }

    static void batchesAreThoseOfTheWorkersAndNothingIsOutOfOrder() {
        assertEquals(0, simulated(AUGMENT, AUGMENT.stage("image")));
        assertEquals(0, simulated(HEAVY, HEAVY.stage("image")));
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    static void aStageThatDoesNotWaitForTheCopyIsAViolation() {
        simulated(AUGMENT, (device, fields) -> new OnItsOwnStream(device, AUGMENT.stage("image").open(device, fields)));
        assertTrue(CudaSimulator.violations() > 0);
        CudaSimulator.reset();
    }

    static void aStageWithTheParametersOfTheSlotBeforeGivesOtherPixels() {
        int differing = simulated(AUGMENT,
                (device, fields) -> new OneTableLate(fields, AUGMENT.stage("image").open(device, fields)));
        assertTrue(differing > 0);
        CudaSimulator.reset();
    }

    /** As with loaders of several devices, which one thread opens. */
    static void aStageIsOpenedByAThreadThatHasAnotherDeviceCurrent() {
        Device.cuda(0).close();                         // loads the library
        CudaSimulator.setDevices(2);
        try (Device device = Device.cuda(1)) {
            HEAVY.stage("image").open(device, SlabLayout.of(new TensorSpec("image", DType.U8, BATCH, 20, 26, 3),
                    new TensorSpec("image_parameters", DType.U8, BATCH, HEAVY.table().rowBytes()))).close();
        }
        assertEquals(0, CudaSimulator.currentDevice());
        assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
    }

    private static int simulated(Augment augment, DeviceStage stage) {
        try (Device device = Device.cuda(0)) {
            CudaSimulator.setSpeed(200, 50);
            return differingBatches(device, augment, stage);
        }
    }

    /** Counts the batches whose images are not those of the workers. */
    static int differingBatches(Device device, Augment augment, DeviceStage stage) {
        int differing = 0;
        long mostBytes = (long) BATCH * IMAGE_BYTES;
        device.makeCurrent();
        try (var store = new MemoryTensorStore(1, new TensorSpec("image", DType.U8, SAMPLES, 20, 26, 3));
                DeviceStream train = device.openStream("train");
                PinnedBuffer result = device.allocatePinned(mostBytes); DeviceBuffer copy = device.allocate(mostBytes);
                DataLoader workers = settings(augment.mapped(TensorRows.of("image", store), "image")).open();
                DataLoader staged = settings(augment.withParameters(TensorRows.of("image", store), "image"))
                        .device(device).onDevice(stage).open()) {
            var cast = new CastTransform(DType.U8, DType.U8);
            while (workers.hasNext()) {
                long bytes;
                try (Batch batch = staged.next(train)) {
                    bytes = (long) batch.count() * IMAGE_BYTES;
                    cast.enqueue(train, batch.address("image"), bytes, copy.address());
                }
                train.copyToHost(result, 0, copy, 0, bytes);
                train.synchronize();
                try (Batch batch = workers.next()) {
                    long mismatch = batch.tensor("image").segment().mismatch(result.segment().asSlice(0, bytes));
                    differing += mismatch < 0 ? 0 : 1;
                }
            }
        }
        return differing;
    }

    private static DataLoaderBuilder settings(Dataset dataset) {
        return DataLoader.builder(dataset).batchSize(BATCH).shuffle(42).endEpoch(2).workers(2);
    }

    /** A mutant: the stage is not enqueued behind the copy. */
    private static final class OnItsOwnStream implements OpenStage {
        private final OpenStage stage;
        private final DeviceStream own;

        OnItsOwnStream(Device device, OpenStage stage) {
            this.stage = stage;
            this.own = device.openStream("own");
        }

        @Override
        public SlabLayout outputs() {
            return stage.outputs();
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs) {
            stage.enqueue(own, inputs, outputs);
        }

        @Override
        public void close() {
            own.synchronize();
            own.close();
            stage.close();
        }
    }

    /** A mutant: the parameters are those of the slot that was copied before. */
    private static final class OneTableLate implements OpenStage {
        private final OpenStage stage;
        private final DeviceFields late;
        private final int table;
        private long before;

        OneTableLate(SlabLayout fields, OpenStage stage) {
            this.stage = stage;
            this.late = new DeviceFields(fields);
            this.table = fields.indexOf("image_parameters");
        }

        @Override
        public SlabLayout outputs() {
            return stage.outputs();
        }

        @Override
        public void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs) {
            late.begin(inputs.count());
            for (int f = 0; f < inputs.layout().fields().size(); f++) {
                late.setAddress(f, inputs.address(f));
                late.setDim(f, 0, inputs.dim(f, 0));
            }
            if (before != 0) {
                late.setAddress(table, before);
            }
            before = inputs.address(table);
            stage.enqueue(stream, late, outputs);
        }

        @Override
        public void close() {
            stage.close();
        }
    }
}
