// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static io.penstock.device.cuda.CudaSimulator.holdCopies;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.CudaSimulator.Kind;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.NativePeer;
import io.penstock.dlpack.NativePeer.Described;
import io.penstock.loader.slots.Lease;
import java.util.ArrayList;
import java.util.List;

/** Batches on a device in the hands of DLPack consumers, over the simulated CUDA runtime. Run by {@link Scenarios}. */
final class DLPackScenarios {

    private DLPackScenarios() {
    }

    static void aConsumerFindsTheBatchOnItsDevice() throws Exception {
        NativePeer.build();
        CudaSimulator.setDevices(3);
        try (var trainer = new SimulatedTrainer(2); DataLoader loader = trainer.loader().open();
                Batch batch = loader.next(trainer.stream)) {
            for (DLPackForm form : DLPackForm.values()) {
                try (DLPackCapsule capsule = batch.toDLPack("row", trainer.stream.handle(), form)) {
                    Described seen = NativePeer.describe(capsule.address(), form);
                    assertEquals(batch.address("row"), seen.data());
                    assertEquals(0, seen.data() % 256);
                    assertEquals(2, seen.deviceType());
                    assertEquals(2, seen.deviceId());
                    assertEquals(List.of(8L, 128L), List.of(seen.shape()[0], seen.shape()[1]));
                }
            }
        }
    }

    static void aConsumersStreamWaitsForTheBytes() {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream consumer = trainer.device.openStream("consumer");
                DataLoader loader = trainer.loader().open()) {
            try (Batch batch = loader.next(trainer.stream);
                    DLPackCapsule capsule = batch.toDLPack("row", consumer.handle())) {
                CudaSimulator.launchReader(consumer.handle(), batch.address("row"), batch.byteSize(), 100);
                assertFalse(consumer.isIdle());
                assertEquals(DLPackForm.VERSIONED, capsule.form());
            } finally {
                holdCopies(false);
            }
            consumer.synchronize();
            trainer.stream.synchronize();
        }
    }

    static void aConsumersWorkIsWaitedForBeforeTheSlotTakesAnotherBatch() {
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream consumer = trainer.device.openStream("consumer");
                DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 20; i++) {
                Batch batch = loader.next(trainer.stream);
                DLPackCapsule capsule = batch.toDLPack("row", consumer.handle());
                CudaSimulator.launchReader(consumer.handle(), batch.address("row"), batch.byteSize(), 1_000);
                trainer.look(batch, trainer.stream);
                if (i % 2 == 0) {
                    capsule.close();
                    batch.close();
                } else {
                    batch.close();
                    capsule.close();
                }
            }
            consumer.synchronize();
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    /** What a consumer enqueues behind the close has ended before it deletes: the slot is its own until then. */
    static void aSlotTakesNoOtherBatchBeforeItsTensorsAreDeleted() {
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream consumer = trainer.device.openStream("consumer");
                DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 20; i++) {
                Batch batch = loader.next(trainer.stream);
                long address = batch.address("row");
                long bytes = batch.byteSize();
                DLPackCapsule capsule = batch.toDLPack("row", consumer.handle());
                batch.close();
                trainer.train(loader, 3);                   // through the other slot
                CudaSimulator.launchReader(consumer.handle(), address, bytes, 100);
                consumer.synchronize();
                capsule.close();
            }
        }
    }

    static void theDefaultStreamsServeConsumersToo() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 12; i++) {
                int stream = 1 + i % 2;
                try (Batch batch = loader.next(trainer.stream); DLPackCapsule capsule = stream == 1
                        ? batch.toDLPack("row") : batch.toDLPack("row", stream)) {
                    trainer.compute(batch, trainer.device.stream(stream), 500);
                    assertEquals(DLPackForm.VERSIONED, capsule.form());
                }
            }
            trainer.device.stream(1).synchronize();
            trainer.device.stream(2).synchronize();
        }
    }

    static void manyTensorsForOneConsumerCountAsOneStream() {
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream consumer = trainer.device.openStream("consumer");
                DataLoader loader = trainer.loader().open();
                Batch batch = loader.next(trainer.stream)) {
            for (int i = 0; i < 3 * Lease.MAX_STREAMS; i++) {
                batch.toDLPack("row", consumer.handle()).close();
            }
            assertEquals(2, batch.lease().streamCount());
            int live = DLPackCapsule.live();
            batch.toDLPack("row", 1).close();
            batch.toDLPack("row", 2).close();
            try (DeviceStream tooMany = trainer.device.openStream("too many")) {
                assertThrows(IllegalStateException.class, () -> batch.toDLPack("row", tooMany.handle()));
            }
            assertEquals(live, DLPackCapsule.live());
        }
    }

    static void noOrderIsAskedForAndNoneIsMade() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open();
                Batch batch = loader.next(trainer.stream)) {
            batch.toDLPack("row", -1).close();
            assertEquals(1, batch.lease().streamCount());
        }
    }

    static void memoryOutlivesTheLoaderUntilAThreadOfTheConsumersDeletesTheLastTensor() throws Exception {
        NativePeer.build();
        int[] before = {CudaSimulator.open(Kind.DEVICE_MEMORY), CudaSimulator.open(Kind.PINNED_MEMORY)};
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream consumer = trainer.device.openStream("consumer")) {
            DataLoader loader = trainer.loader().open();
            List<Long> tensors = new ArrayList<>();
            long address = 0;
            for (int i = 0; i < 3; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    address = batch.address("row");
                    tensors.add(batch.toDLPack("row", consumer.handle()).handOver());
                }
            }
            loader.close();
            CudaSimulator.launchReader(consumer.handle(), address, 1024, 1_000);
            consumer.synchronize();
            for (long tensor : tensors) {
                assertEquals(before[0] + 3, CudaSimulator.open(Kind.DEVICE_MEMORY));
                NativePeer.delete(tensor, DLPackForm.VERSIONED, 2);
            }
            while (CudaSimulator.open(Kind.PINNED_MEMORY) > before[1]) {
                Thread.sleep(1);
            }
            awaitEndOfThread("-free");
        }
    }

    private static void awaitEndOfThread(String ending) throws InterruptedException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().endsWith(ending)) {
                thread.join();
            }
        }
    }

    static void aConsumersThreadsKeepTheRingGoing() throws Exception {
        NativePeer.build();
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(3).open()) {
            Thread[] deleting = new Thread[200];
            for (int i = 0; i < deleting.length; i++) {
                Batch batch = loader.next(trainer.stream);
                trainer.look(batch, trainer.stream);
                long tensor = batch.toDLPack("row", trainer.stream.handle()).handOver();
                deleting[i] = Thread.ofPlatform().start(
                        () -> NativePeer.delete(tensor, DLPackForm.VERSIONED, 2));
                batch.close();
                if (i % 10 == 9) {
                    trainer.stream.synchronize();
                    trainer.verify();
                }
            }
            for (Thread thread : deleting) {
                thread.join();
            }
        }
    }

    static void aFailureWhenTheBatchIsClosedIsToldThereAndFreesNothingUnderTheConsumer() throws Exception {
        NativePeer.build();
        try (var trainer = new SimulatedTrainer(0)) {
            DataLoader loader = trainer.loader().open();
            Batch batch = loader.next(trainer.stream);
            long tensor = batch.toDLPack("row", trainer.stream.handle()).handOver();
            int memory = CudaSimulator.open(Kind.DEVICE_MEMORY);
            CudaSimulator.fail("cudaEventRecord", 999);
            assertThrows(DeviceException.class, batch::close);
            CudaSimulator.fail("", 0);
            batch.close();
            assertThrows(IllegalStateException.class, () -> loader.next(trainer.stream));
            loader.close();
            assertEquals(memory, CudaSimulator.open(Kind.DEVICE_MEMORY));
            NativePeer.delete(tensor, DLPackForm.VERSIONED, 1);
            while (CudaSimulator.open(Kind.PINNED_MEMORY) > 0) {
                Thread.sleep(1);
            }
            awaitEndOfThread("-free");
        }
    }
}
