// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.augment.Augment;
import io.penstock.augment.DeviceImages;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.image.nvjpeg.JpegStage;
import io.penstock.image.reading.Oracle;
import io.penstock.memory.DType;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.testing.HeapUse;
import io.penstock.testing.MemoryRecordStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * JPEG files decoded on the device, over the simulated CUDA runtime and nvJPEG. Run by {@link Scenarios} in a JVM that
 * finds both. The stage is opened here and not by {@link DeviceImages}, so that {@link MutantScenarios} can change it.
 */
final class JpegScenarios {

    private static final int ROWS = 24;
    private static final int COLUMNS = 20;
    private static final int SAMPLES = 40;
    private static final int BATCH = 4;
    /** Two images of 109 by 150 fit in one piece of it. */
    private static final long SCRATCH_BYTES = 256 << 10;
    private static final long MICROS = 2_000;

    private JpegScenarios() {
    }

    /** Samples of a file, with what else its rows are made of. */
    private record Samples(MemoryRecordStore store, Dataset dataset, JpegStage stage) implements AutoCloseable {

        static Samples of(Device device, String... names) {
            List<byte[][]> files = new ArrayList<>();
            try {
                for (int i = 0; i < SAMPLES; i++) {
                    files.add(new byte[][] {Oracle.bytes(names[i % names.length])});
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            var store = new MemoryRecordStore(List.of(Column.bytes("jpg", "jpg")), files.toArray(byte[][][]::new));
            Dataset dataset = DeviceImages.of(Augment.images().resize(ROWS, COLUMNS), device).fileBytes(1 << 14)
                    .mapped(RecordFields.of(store).and("jpg"), "jpg");
            int rowBytes = (int) dataset.fields().getFirst().dim(0);
            return new Samples(store, dataset, new JpegStage("jpg", ROWS, COLUMNS, rowBytes, SCRATCH_BYTES));
        }

        DataLoaderBuilder loader(Device device) {
            return DataLoader.builder(dataset).collator(new SimulatedTrainer.Announcing(Stack.fields()))
                    .batchSize(BATCH).workers(2).prefetch(2).device(device);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    /** A stage that keeps the stream busy before another enqueues its work. */
    private record Behind(DeviceStage inner) implements DeviceStage {
        @Override
        public OpenStage open(Device device, SlabLayout fields) {
            OpenStage open = inner.open(device, fields);
            DeviceBuffer busy = device.allocate(256);
            return new OpenStage() {
                @Override
                public SlabLayout outputs() {
                    return open.outputs();
                }

                @Override
                public boolean readsHost() {
                    return open.readsHost();
                }

                @Override
                public void enqueue(DeviceStream stream, DeviceFields in, DeviceFields out) {
                    CudaSimulator.launchReader(stream.handle(), busy.address(), busy.byteSize(), MICROS);
                    open.enqueue(stream, in, out);
                }

                @Override
                public void close() {
                    busy.close();
                    open.close();
                }
            };
        }
    }

    private static void train(boolean hasEngine, String... names) {
        CudaSimulator.setEngine(hasEngine);
        try (var trainer = new SimulatedTrainer(0); Samples files = Samples.of(trainer.device, names);
                DataLoader loader = files.loader(trainer.device).onDevice(new Behind(files.stage)).open()) {
            for (int i = 0; i < 8; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    CudaSimulator.launchReader(trainer.stream.handle(), batch.address("jpg"),
                            (long) BATCH * ROWS * COLUMNS * 3, MICROS / 4);
                }
            }
            trainer.stream.synchronize();
        }
    }

    static void theEngineDoesNotOverwriteImagesWhoseResultsAreNotMade() {
        train(true, "noise_420.jpg");
    }

    static void resultsAreMadeBehindTheirDecoding() {
        train(false, "noise_420.jpg");
        train(true, "noise_420.jpg", "noise_422_progressive.jpg");
    }

    static void aHostSlotIsNotFilledWhileItsFilesAreDecoded() {
        train(false, "noise_420.jpg");
    }

    static void aBatchThatFailsIsDecodedOneByOne() {
        CudaSimulator.failAfter("nvjpegDecodeBatched", 3, 1, 2);
        train(true, "noise_420.jpg");
        assertEquals(2 * 2, CudaSimulator.calls("nvjpegDecode"));               // two groups of two images
    }

    private static final int ALLOCATOR_FAILURE = 5;
    private static final int BAD_JPEG = 3;
    /** Calls for images go on as long as batches are made ahead. */
    private static final int MOST_TURNS = 12;
    private static final List<String> FUNCTIONS = List.of("nvjpegCreateEx", "nvjpegDestroy",
            "nvjpegSetDeviceMemoryPadding", "nvjpegSetPinnedMemoryPadding", "nvjpegJpegStateCreate",
            "nvjpegJpegStateDestroy", "nvjpegJpegStreamCreate", "nvjpegJpegStreamDestroy",
            "nvjpegJpegStreamParseHeader", "nvjpegDecodeBatchedSupported", "nvjpegDecodeBatchedInitialize",
            "nvjpegDecodeBatched", "nvjpegDecode");
    /** Without an engine, or for a file that is no matter for a batch, there is another way. */
    private static final Set<String> HAVE_ANOTHER_WAY = Set.of("nvjpegCreateEx", "nvjpegJpegStreamParseHeader",
            "nvjpegDecodeBatchedSupported");

    /** A decoder that cannot allocate ends the loader by the call's name; nothing hangs, nothing stays. */
    static void whateverCallFailsIsToldByNameAndNothingIsLeft() {
        int failures = 0;
        for (String function : FUNCTIONS) {
            boolean called = true;
            for (int turn = 0; called && turn < MOST_TURNS; turn++) {
                CudaSimulator.reset();
                try (var trainer = new SimulatedTrainer(0);
                        Samples files = Samples.of(trainer.device, "noise_420.jpg", "noise_422_progressive.jpg")) {
                    CudaSimulator.reset();
                    CudaSimulator.setEngine(true);
                    CudaSimulator.failAfter(function, ALLOCATOR_FAILURE, turn, 1);
                    String told = told(trainer, files, function);
                    called = CudaSimulator.calls(function) > turn;
                    failures += called ? 1 : 0;
                    assertEquals(called && !HAVE_ANOTHER_WAY.contains(function), !told.isEmpty()
                            && !HAVE_ANOTHER_WAY.contains(function), function + ", call " + turn + ": " + told);
                    trainer.stream.synchronize();
                }
                Scenarios.checkNothingIsOpen();
            }
        }
        assertTrue(failures > 2 * FUNCTIONS.size(), failures + " calls failed");
    }

    /** Decodes some batches, and returns the error, which must name the function; empty if all went well. */
    private static String told(SimulatedTrainer trainer, Samples files, String function) {
        try (DataLoader loader = files.loader(trainer.device).workers(1).onDevice(files.stage).open()) {
            for (int i = 0; i < 4; i++) {
                loader.next(trainer.stream).close();
            }
            return "";
        } catch (RuntimeException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            assertEquals(function, ((DeviceException) cause).call(), () -> Scenarios.text(e));
            return e.toString();
        }
    }

    /** A file that the decoder refuses is black, whichever call refuses it; the loader goes on. */
    static void aFileThatIsRefusedEndsNothing() {
        for (String function : List.of("nvjpegDecodeBatched", "nvjpegDecode")) {
            for (int turn = 0; turn < 6; turn++) {
                CudaSimulator.reset();
                try (var trainer = new SimulatedTrainer(0);
                        Samples files = Samples.of(trainer.device, "noise_420.jpg", "noise_422_progressive.jpg")) {
                    CudaSimulator.setEngine(true);
                    CudaSimulator.failAfter(function, BAD_JPEG, turn, 1);
                    assertEquals("", told(trainer, files, function));
                    trainer.stream.synchronize();
                }
                assertEquals(0, CudaSimulator.violations(), CudaSimulator.violationText());
            }
        }
    }

    static void enqueuingAllocatesNothing() {
        CudaSimulator.setEngine(true);
        try (var trainer = new SimulatedTrainer(0);
                Samples files = Samples.of(trainer.device, "noise_420.jpg", "noise_422_progressive.jpg");
                DataLoader loader = DataLoader.builder(files.dataset).batchSize(BATCH).open();
                Batch batch = loader.next()) {
            long bytes = (long) BATCH * files.stage.rowBytes();
            var layout = SlabLayout.of(new TensorSpec("jpg", DType.U8, BATCH, files.stage.rowBytes()));
            try (OpenStage stage = files.stage.open(trainer.device, layout);
                    PinnedBuffer host = trainer.device.allocatePinned(bytes);
                    DeviceBuffer rows = trainer.device.allocate(bytes);
                    DeviceBuffer result = trainer.device.allocate(stage.outputs().capacityBytes())) {
                MemorySegment.copy(batch.tensor("jpg").segment(), ValueLayout.JAVA_BYTE, 0, host.segment(),
                        ValueLayout.JAVA_BYTE, 0, bytes);
                var in = new DeviceFields(layout);
                in.setAddress(0, rows.address());
                in.setHostAddress(0, host.segment().address());
                var out = new DeviceFields(stage.outputs());
                out.setAddress(0, result.address());
                out.setAddress(1, result.address() + SlabLayout.align((long) BATCH * ROWS * COLUMNS * 3));
                trainer.stream.copyToDevice(rows, 0, host, 0, bytes);
                assertEquals(0, HeapUse.fewest(0, () -> {
                    for (int i = 0; i < 10; i++) {
                        in.begin(BATCH);
                        out.begin(BATCH);
                        stage.enqueue(trainer.stream, in, out);
                    }
                }));
                trainer.stream.synchronize();
            }
        }
    }
}
