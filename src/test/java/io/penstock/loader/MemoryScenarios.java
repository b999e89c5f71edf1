// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/** Devices, memory, and what holds over time, over the simulated CUDA runtime. Run by {@link Scenarios}. */
final class MemoryScenarios {

    private MemoryScenarios() {
    }

    // ---- devices and memory

    static void theTrainersCurrentDeviceIsLeftAlone() {
        CudaSimulator.setDevices(3);
        try (Device zero = Device.cuda(0); Device two = Device.cuda(2)) {
            zero.makeCurrent();
            try (DataLoader loader = DataLoader.builder(new ByteRows(100, 10)).batchSize(4).device(two).open()) {
                for (int i = 0; i < 10; i++) {
                    try (Batch batch = loader.next()) {
                        assertEquals(2, CudaSimulator.device(batch.address("row")));
                    }
                    assertEquals(0, CudaSimulator.currentDevice());
                }
            }
            assertEquals(0, CudaSimulator.currentDevice());
        }
    }

    static void memoryThatIsNotThisDevicesReachesNoCopy() {
        CudaSimulator.setDevices(2);
        try (var trainer = new SimulatedTrainer(0);
                Device host = Device.host();
                Device other = Device.cuda(1);
                PinnedBuffer pageable = host.allocatePinned(1 << 16);
                PinnedBuffer foreign = other.allocatePinned(1 << 16);
                DeviceStream foreignStream = other.openStream("foreign");
                DataLoader loader = trainer.loader().endEpoch(1).open();
                Batch batch = loader.next(trainer.stream)) {
            assertThrows(IllegalArgumentException.class, () -> batch.copyToHost(trainer.stream, pageable));
            assertThrows(IllegalArgumentException.class, () -> batch.copyToHost(trainer.stream, foreign));
            assertThrows(IllegalArgumentException.class, () -> batch.copyToHost(foreignStream, foreign));
            assertThrows(IllegalArgumentException.class, () -> batch.usedOn(foreignStream));
            assertThrows(IllegalArgumentException.class, () -> loader.next(foreignStream));
            assertEquals(1, loader.next(trainer.stream).number(), "nothing is lost by a wrong stream");
        }
    }

    static void batchesOfAnySizeArriveWhole() {
        for (int width : new int[] {1, 3, 255, 257}) {
            for (int size : new int[] {1, 3, 8}) {
                try (var trainer = new SimulatedTrainer(0);
                        DataLoader loader = trainer.loader(new ByteRows(50, width)).batchSize(size).open()) {
                    trainer.train(loader, 20);
                }
            }
        }
    }

    static void theDefaultStreamsServeATrainerToo() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 12; i++) {
                DeviceStream stream = trainer.device.stream(i % 3);
                try (Batch batch = loader.next(stream)) {
                    trainer.compute(batch, stream, 500);
                    trainer.look(batch, stream);
                }
            }
            for (int i = 0; i < 3; i++) {
                trainer.device.stream(i).synchronize();
            }
            trainer.verify();
        }
    }

    static void aStoreThatIsMappedReadOnlyIsStaged() throws Exception {
        Path folder = Files.createTempDirectory("scenario");
        Path file = Corpora.rawU16(folder, 20_000, 5);
        byte[] raw = Files.readAllBytes(file);
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                var trainer = new SimulatedTrainer(0);
                PinnedBuffer result = trainer.device.allocatePinned(1 << 16);
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).shuffle(3)
                        .device(trainer.device).endEpoch(1).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next(trainer.stream)) {
                    batch.copyToHost(trainer.stream, result);
                    trainer.stream.synchronize();
                    long rowBytes = batch.fields().getFirst().dim(1) * DType.U16.byteSize();
                    for (int row = 0; row < batch.count(); row++) {
                        for (int i = 0; i < rowBytes; i++) {
                            assertEquals(raw[(int) batch.sample(row) * 64 + i],
                                    result.segment().get(ValueLayout.JAVA_BYTE, row * rowBytes + i));
                        }
                    }
                }
            }
        } finally {
            Files.delete(file);
            Files.delete(folder);
        }
    }

    // ---- over time

    static void afterTheStartNothingIsAllocatedPinnedOrCreated() {
        List<String> calls = List.of("cudaMalloc", "cudaHostAlloc", "cudaFree", "cudaFreeHost",
                "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaEventDestroy", "cudaSetDevice");
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            for (int i = 0; i < 50; i++) {
                loader.next(trainer.stream).close();
            }
            List<Long> before = calls.stream().map(CudaSimulator::calls).toList();
            for (int i = 0; i < 500; i++) {
                if (i % 100 == 0) {
                    loader.seek(i);
                }
                loader.next(i % 2 == 0 ? null : trainer.stream).close();
            }
            assertEquals(before, calls.stream().map(CudaSimulator::calls).toList(), () -> calls.toString());
        }
    }

    static void collectingGarbageDuringBlockingWaitsDisturbsNothing() throws InterruptedException {
        CudaSimulator.setSpeed(0, 500);
        var done = new AtomicBoolean();
        Thread collector = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                System.gc();
                Thread.yield();
            }
        });
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            for (int i = 0; i < 20; i++) {
                try (Batch batch = loader.next()) {
                    trainer.look(batch, trainer.stream);
                }
            }
            trainer.stream.synchronize();
            trainer.verify();
        } finally {
            done.set(true);
            collector.join();
        }
    }

    /** Streams, holds, leases, moves and delays as they come, with the bytes of every batch compared. */
    static void anyOrderOfUseIsFreeOfRaces() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        var random = new SplittableRandom(seed);
        for (int round = 0; round < 12; round++) {
            CudaSimulator.setSpeed(random.nextInt(3) * 10, random.nextInt(3) * 40);
            int slots = 2 + random.nextInt(3);
            try (var trainer = new SimulatedTrainer(0);
                    DeviceStream second = trainer.device.openStream("second");
                    DataLoader loader = trainer.loader(new ByteRows(300, 1 + random.nextInt(300)))
                            .workers(random.nextInt(3)).prefetch(1 + random.nextInt(4)).deviceSlots(slots)
                            .withDeviceClock().open()) {
                List<Batch> held = new ArrayList<>();
                for (int i = 0; i < 60; i++) {
                    DeviceStream stream = random.nextBoolean() ? trainer.stream : random.nextBoolean() ? second : null;
                    Batch batch = loader.next(stream);
                    held.add(batch);
                    if (random.nextInt(3) == 0) {
                        batch.usedOn(second);
                        trainer.compute(batch, second, random.nextInt(400));
                    }
                    trainer.look(batch, random.nextBoolean() ? trainer.stream : second);
                    while (held.size() >= slots || !held.isEmpty() && random.nextBoolean()) {
                        held.remove(random.nextInt(held.size())).close();
                    }
                    if (random.nextInt(12) == 0) {
                        loader.seek(random.nextInt(5));
                    }
                }
                held.forEach(Batch::close);
                trainer.stream.synchronize();
                second.synchronize();
                trainer.verify();
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
        }
    }
}
