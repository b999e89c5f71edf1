// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static io.penstock.device.cuda.CudaSimulator.holdCopies;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.NativePeer;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.transform.CastTransform;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Stages behind the copies, over the simulated CUDA runtime, which runs the kernels. Run by {@link Scenarios}. */
final class StageScenarios {

    private static final int WIDTH = 128;
    private static final long RESULT_BYTES = 64 << 10;
    private static final DeviceStage WIDEN = CastTransform.stage("row", DType.I32);

    private StageScenarios() {
    }

    private static DataLoaderBuilder loader(SimulatedTrainer trainer) {
        return trainer.loader().onDevice(WIDEN);
    }

    /** Memory of the device that the trainer's stream has copied, and what must be in it. */
    private record Look(PinnedBuffer result, long offset, long[] samples) {

        static Look at(Device device, Batch batch, DeviceStream on) {
            PinnedBuffer result = device.allocatePinned(RESULT_BYTES);
            batch.copyToHost(on, result);
            long[] samples = new long[batch.count()];
            for (int row = 0; row < samples.length; row++) {
                samples[row] = batch.sample(row);
            }
            return new Look(result, batch.offset("row"), samples);
        }

        void verify() {
            CudaSimulator.hostUses(result.segment(), false);
            for (int row = 0; row < samples.length; row++) {
                for (int i = 0; i < WIDTH; i++) {
                    assertEquals(ByteRows.at(samples[row], i) & 0xFF, result.segment().get(ValueLayout.JAVA_INT,
                            offset + ((long) row * WIDTH + i) * Integer.BYTES));
                }
            }
            result.close();
        }
    }

    /** Enqueues a kernel that reads the output alone for a time. */
    private static void compute(Batch batch, DeviceStream on, long micros) {
        CudaSimulator.launchReader(on.handle(), batch.address("row"), (long) batch.count() * WIDTH * Integer.BYTES,
                micros);
    }

    private static void train(SimulatedTrainer trainer, DataLoader loader, int batches, long micros) {
        List<Look> looks = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next(trainer.stream)) {
                compute(batch, trainer.stream, micros);
                looks.add(Look.at(trainer.device, batch, trainer.stream));
            }
        }
        trainer.stream.synchronize();
        looks.forEach(Look::verify);
    }

    /** A stage that reads memory of its own for a time, and otherwise does as another. */
    private record Slow(DeviceStage inner, long micros, List<String> events) implements DeviceStage {

        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            OpenStage open = inner.open(device, fields);
            DeviceBuffer scratch = device.allocate(256);
            return new OpenStage() {
                @Override
                public SlabLayout outputs() {
                    return open.outputs();
                }

                @Override
                public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
                    CudaSimulator.launchReader(stream.handle(), scratch.address(), scratch.byteSize(), micros);
                    open.enqueue(stream, in, out);
                }

                @Override
                public void close() {
                    events.add("closed with " + CudaSimulator.open(CudaSimulator.Kind.DEVICE_MEMORY) + " buffers");
                    scratch.close();
                    open.close();
                }
            };
        }
    }

    // ---- the order

    static void aStreamThatTakesABatchWaitsForTheStages() {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = loader(trainer).open()) {
            Look look;
            try (Batch batch = loader.next(trainer.stream)) {
                assertEquals("[row: i32[8,128]]", batch.fields().toString());
                look = Look.at(trainer.device, batch, trainer.stream);
                assertFalse(trainer.stream.isIdle());
            } finally {
                holdCopies(false);
            }
            trainer.stream.synchronize();
            look.verify();
            train(trainer, loader, 20, 0);
        }
    }

    static void aBatchWithoutAStreamHasItsOutputsWhenItIsReturned() {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().onDevice(new Slow(WIDEN, 500, new ArrayList<>())).open()) {
            for (int i = 0; i < 10; i++) {
                try (Batch batch = loader.next()) {
                    compute(batch, trainer.stream, 10);
                    trainer.stream.synchronize();
                    Look look = Look.at(trainer.device, batch, trainer.stream);
                    trainer.stream.synchronize();
                    look.verify();
                }
            }
        }
    }

    static void anOutputIsNotOverwrittenBeforeItsReaderHasRead() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = loader(trainer).deviceSlots(2).open()) {
            for (int i = 0; i < 20; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    compute(batch, trainer.stream, 1_500);
                }
            }
            trainer.stream.synchronize();
            train(trainer, loader, 10, 1_500);
        }
    }

    static void stagesRunInTheOrderInWhichTheyWereNamed() {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().onDevice(CastTransform.stage("row", DType.U16))
                        .onDevice(CastTransform.stage("row", DType.I64)).onDevice(WIDEN).open()) {
            assertEquals("[row: i32[8,128]]", loader.layout().fields().toString());
            assertEquals(3 * 8 * WIDTH * (1 + 2 + 8 + 4), loader.memory().deviceBytes());
            train(trainer, loader, 20, 100);
        }
    }

    static void aMoveDropsBatchesWhoseStagesRun() {
        var random = new SplittableRandom(5);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().onDevice(new Slow(WIDEN, 200, new ArrayList<>())).open()) {
            for (int i = 0; i < 30; i++) {
                train(trainer, loader, random.nextInt(4), 100);
                loader.seek(random.nextInt(5));
            }
        }
    }

    static void aConsumerOfDLPackTensorsFindsTheOutput() throws Exception {
        NativePeer.build();
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = loader(trainer).open();
                Batch batch = loader.next(trainer.stream);
                DLPackCapsule capsule = batch.toDLPack("row", trainer.stream.handle(), DLPackForm.VERSIONED)) {
            NativePeer.Described seen = NativePeer.describe(capsule.address(), DLPackForm.VERSIONED);
            assertEquals(batch.address("row"), seen.data());
            assertEquals(0, seen.data() % 256);
            assertEquals(List.of(8L, (long) WIDTH), List.of(seen.shape()[0], seen.shape()[1]));
        }
    }

    // ---- the end

    static void stagesAreClosedWhenTheirWorkHasEnded() {
        for (int taken = 0; taken < 4; taken++) {
            try (var trainer = new SimulatedTrainer(0)) {
                List<String> events = new ArrayList<>();
                DataLoader loader = trainer.loader().onDevice(new Slow(WIDEN, 5_000, events)).open();
                for (int i = 0; i < taken; i++) {
                    loader.next(trainer.stream).close();
                }
                CudaSimulator.awaitCopies(1, true);
                loader.close();
                assertEquals(1, events.size());
            }
            Scenarios.checkNothingIsOpen();
        }
    }

    static void stagesAreClosedBeforeTheMemoryOfTheSlots() {
        try (var trainer = new SimulatedTrainer(0)) {
            List<String> events = new ArrayList<>();
            trainer.loader().onDevice(new Slow(WIDEN, 0, events)).onDevice(new Slow(WIDEN, 0, events)).open().close();
            assertEquals(List.of("closed with 5 buffers", "closed with 4 buffers"), events);
        }
    }

    // ---- faults

    static void aStageThatFailsEndsTheLoaderAtItsBatch() {
        try (var trainer = new SimulatedTrainer(0)) {
            int[] calls = {0};
            DeviceStage failing = failingAt(stream -> {
                if (calls[0]++ == 3) {
                    throw new IllegalArgumentException("the stage fails");
                }
            });
            DataLoader loader = trainer.loader().onDevice(WIDEN).onDevice(failing).open();
            try (loader) {
                IllegalStateException e = assertThrows(IllegalStateException.class, () -> {
                    for (;;) {
                        loader.next(trainer.stream).close();
                    }
                });
                assertEquals("the loader has failed: running stage 'test stage' on batch 3: the stage fails",
                        e.getMessage());
            }
        }
    }

    static void whatTheDeviceReportsOfAStageEndsTheLoader() {
        try (var trainer = new SimulatedTrainer(0)) {
            DeviceStage failing = failingAt(stream -> CudaSimulator.launchFault(stream.handle(), 719));
            DataLoader loader = trainer.loader().onDevice(failing).open();
            Throwable cause = assertThrows(IllegalStateException.class, () -> {
                for (;;) {
                    loader.next().close();
                }
            });
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            assertEquals(719, assertInstanceOf(DeviceException.class, cause).status());
            loader.close();
        } catch (DeviceException e) {
            assertEquals(719, e.status());                  // the device says so at its end too
        }
        Scenarios.checkNothingIsOpen();
    }

    static void aStageThatDoesNotOpenLeavesNothing() {
        try (var trainer = new SimulatedTrainer(0)) {
            List<String> events = new ArrayList<>();
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> trainer.loader()
                    .onDevice(new Slow(WIDEN, 0, events)).onDevice(CastTransform.stage("image", DType.I32)).open());
            assertTrue(e.getMessage().contains("no field 'image', the batch has [row]"), e.getMessage());
            assertEquals(1, events.size());
        }
    }

    @FunctionalInterface
    private interface Step {
        void run(DeviceStream stream);
    }

    private static DeviceStage failingAt(Step step) {
        return new DeviceStage() {
            @Override
            public OpenStage open(Device device, SlabLayout fields) {
                OpenStage open = WIDEN.open(device, fields);
                return new OpenStage() {
                    @Override
                    public SlabLayout outputs() {
                        return open.outputs();
                    }

                    @Override
                    public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
                        step.run(stream);
                        open.enqueue(stream, in, out);
                    }
                };
            }

            @Override
            public String toString() {
                return "test stage";
            }
        };
    }
}
