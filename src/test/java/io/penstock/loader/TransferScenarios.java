// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static io.penstock.device.cuda.CudaSimulator.calls;
import static io.penstock.device.cuda.CudaSimulator.holdCopies;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.device.cuda.CudaSimulator.Kind;
import io.penstock.memory.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/** The transfer protocol under provocation, over the simulated CUDA runtime. Run by {@link Scenarios}. */
final class TransferScenarios {

    private TransferScenarios() {
    }

    /** Gives what is to be provoked its chance. Nothing is concluded from whether the condition came to hold. */
    private static void waitFor(BooleanSupplier condition, long millis) {
        long end = System.nanoTime() + CudaSimulator.slowness() * millis * 1_000_000;
        while (!condition.getAsBoolean() && System.nanoTime() < end) {
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    private static Thread thread(AtomicReference<Throwable> thrown, Thread.Builder builder, Runnable task) {
        return builder.start(() -> {
            try {
                task.run();
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
    }

    private static Throwable on(Thread.Builder builder, Runnable task) throws InterruptedException {
        var thrown = new AtomicReference<Throwable>();
        thread(thrown, builder, task).join();
        return thrown.get();
    }

    // ---- the host slot: E_host

    static void aHostSlotIsNotFilledWhileItsCopyReadsIt() {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            waitFor(() -> calls("cudaMemcpyAsync") >= 3 && calls("cudaEventQuery") > 50, 500);
            holdCopies(false);
            trainer.train(loader, 20);
        }
    }

    static void aHostSlotIsNotFilledBySeekWhileItsCopyReadsIt() throws InterruptedException {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            waitFor(() -> calls("cudaMemcpyAsync") >= 3, 500);
            Thread release = Thread.ofPlatform().start(() -> {
                waitFor(() -> calls("cudaEventSynchronize") > 0, 200);
                waitFor(() -> false, 20);
                holdCopies(false);
            });
            loader.seek(4);
            trainer.train(loader, 20);
            release.join();
        }
    }

    static void aCopyOnTheHostHoldsTheBatch() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            for (int i = 0; i < 10; i++) {
                try (Batch batch = i % 2 == 0 ? loader.next() : loader.next(trainer.stream)) {
                    assertThrows(UnsupportedOperationException.class, () -> batch.tensor("row"));
                    Tensor rows = batch.toHost().get("row");
                    for (int row = 0; row < batch.count(); row++) {
                        assertEquals(ByteRows.at(batch.sample(row), 77), (byte) rows.row(row).getLong(77));
                    }
                }
            }
        }
    }

    // ---- the device slot: E_ready, E_used

    static void aDeviceSlotIsNotOverwrittenBeforeItsReaderHasRead() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 20; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    trainer.compute(batch, trainer.stream, 1_500);
                    trainer.look(batch, trainer.stream);
                }
            }
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    static void aBatchThatSeveralStreamsUseWaitsForAllOfThem() {
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream slow = trainer.device.openStream("slow");
                DeviceStream slower = trainer.device.openStream("slower");
                DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 12; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    batch.usedOn(slow);
                    trainer.compute(batch, slow, 1_000);
                    batch.usedOn(slower);
                    trainer.compute(batch, slower, 2_000);
                    trainer.look(batch, slower);
                }
            }
            slower.synchronize();
            slow.synchronize();
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    static void aStreamThatTakesABatchWaitsForItsBytes() {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            try (Batch batch = loader.next(trainer.stream)) {
                trainer.look(batch, trainer.stream);
                assertFalse(trainer.stream.isIdle());
            } finally {
                holdCopies(false);
            }
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    static void aStreamThatIsNamedLaterWaitsForTheBytesToo() {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream other = trainer.device.openStream("other");
                DataLoader loader = trainer.loader().open()) {
            try (Batch batch = loader.next(trainer.stream)) {
                trainer.look(batch, other);
            } finally {
                holdCopies(false);
            }
            other.synchronize();
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    static void aBatchWithoutAStreamIsThereWhenItIsReturned() throws InterruptedException {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
            Thread release = Thread.ofPlatform().start(() -> {
                waitFor(() -> calls("cudaEventSynchronize") > 0, 200);
                waitFor(() -> false, 10);
                holdCopies(false);
            });
            for (int i = 0; i < 10; i++) {
                try (Batch batch = loader.next()) {
                    CudaSimulator.launchReader(trainer.stream.handle(), batch.address("row"), batch.byteSize(), 100);
                    trainer.stream.synchronize();
                    trainer.look(batch, trainer.stream);
                }
            }
            release.join();
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    /** Each release is waited for once, by the copy that takes the slot: not again a lap later. */
    static void eventsOfAnEarlierLapAreNotWaitedForAgain() {
        int batches = 30;
        try (var trainer = new SimulatedTrainer(0);
                DeviceStream second = trainer.device.openStream("second");
                DeviceStream third = trainer.device.openStream("third");
                DataLoader loader = trainer.loader(new ByteRows(8 * batches, 16)).deviceSlots(2).endEpoch(1).open()) {
            long waits = 0;
            for (int i = 0; i < batches; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    int streams = i % 3 == 0 ? 3 : 1;
                    if (streams == 3) {
                        batch.usedOn(second);
                        batch.usedOn(third);
                    }
                    waits += streams + (i < batches - 2 ? streams : 0);
                }
            }
            assertFalse(loader.hasNext());
            assertEquals(waits, calls("cudaStreamWaitEvent"));
        }
    }

    // ---- leases

    static void aBatchIsReleasedOnceHoweverOftenItIsClosed() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader(new ByteRows(800, 16)).endEpoch(1).open()) {
            for (int i = 0; i < 100; i++) {
                Batch batch = loader.next(trainer.stream);
                trainer.look(batch, trainer.stream);
                var start = new CountDownLatch(1);
                var thrown = new AtomicReference<Throwable>();
                Thread other = thread(thrown, Thread.ofPlatform(), () -> {
                    while (start.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    batch.close();
                });
                start.countDown();
                batch.close();
                other.join();
                batch.close();
                assertEquals(null, thrown.get());
            }
            assertEquals(3 * 100, calls("cudaEventRecord"), "E_host, E_ready and E_used, once a batch each");
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    static void aClosedBatchCannotBeUsed() {
        try (var trainer = new SimulatedTrainer(0);
                PinnedBuffer result = trainer.device.allocatePinned(1 << 16);
                DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            Batch stale = loader.next(trainer.stream);
            stale.close();
            for (int i = 0; i < 5; i++) {
                try (Batch _ = loader.next(trainer.stream)) {
                    assertThrows(IllegalStateException.class, () -> stale.address("row"));
                    assertThrows(IllegalStateException.class, () -> stale.usedOn(trainer.stream));
                    assertThrows(IllegalStateException.class, () -> stale.copyToHost(trainer.stream, result));
                    assertThrows(IllegalStateException.class, () -> stale.sample(0));
                }
            }
        }
    }

    static void takingMoreThanThereAreSlotsIsAnErrorAndNotAHang() {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(3).open()) {
            List<Batch> held = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                held.add(loader.next(trainer.stream));
            }
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> loader.next(trainer.stream));
            assertTrue(e.getMessage().contains("close batches"), e.getMessage());
            held.forEach(Batch::close);
            trainer.train(loader, 10);
        }
    }

    static void aForgottenBatchIsClosedWithItsLoader() {
        try (var trainer = new SimulatedTrainer(0)) {
            DataLoader loader = trainer.loader().open();
            Batch forgotten = loader.next(trainer.stream);
            trainer.compute(forgotten, trainer.stream, 5_000);
            loader.close();
            assertThrows(IllegalStateException.class, () -> forgotten.address("row"));
            assertEquals(0, CudaSimulator.open(Kind.EVENT));
        }
    }

    static void aBatchThatIsHeldElsewhereOutlivesItsLoaderAndAVirtualThreadMayEndIt() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0)) {
            DataLoader loader = trainer.loader().leases(LeaseMode.SHARED).open();
            Batch batch = loader.next();
            loader.close();
            assertTrue(CudaSimulator.open(Kind.DEVICE_MEMORY) > 0);
            trainer.compute(batch, trainer.stream, 100);
            trainer.stream.synchronize();
            assertEquals(null, on(Thread.ofVirtual(), batch::close));
            assertEquals(0, CudaSimulator.open(Kind.DEVICE_MEMORY));
        }
    }

    static void batchesMayBeClosedByOtherThreadsInAnyOrder() throws InterruptedException {
        var thrown = new AtomicReference<Throwable>();
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(4).leases(LeaseMode.SHARED).open()) {
            var handedOver = new LinkedBlockingQueue<Batch>();
            List<Thread> closers = new ArrayList<>();
            for (int c = 0; c < 3; c++) {
                closers.add(thread(thrown, Thread.ofPlatform(), () -> {
                    try {
                        for (int i = 0; i < 100; i++) {
                            handedOver.take().close();
                        }
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            for (int i = 0; i < 300; i++) {
                Batch batch = loader.next(trainer.stream);
                assertEquals(i, batch.number());
                trainer.look(batch, trainer.stream);
                handedOver.add(batch);
            }
            for (Thread closer : closers) {
                closer.join();
            }
            trainer.stream.synchronize();
            trainer.verify();
        }
        assertEquals(null, thrown.get());
    }

    static void aBatchAndItsLoaderMayBeClosedAtTheSameTime() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0)) {
            for (int i = 0; i < 60; i++) {
                DataLoader loader = trainer.loader().leases(i % 2 == 0 ? LeaseMode.SHARED : LeaseMode.CONFINED).open();
                Batch batch = loader.next(trainer.stream);
                trainer.compute(batch, trainer.stream, 50);
                var thrown = new AtomicReference<Throwable>();
                Thread other = thread(thrown, Thread.ofPlatform(), batch::close);
                loader.close();
                other.join();
                assertEquals(null, thrown.get());
                assertEquals(0, CudaSimulator.open(Kind.DEVICE_MEMORY));
            }
        }
    }

    static void aLoaderMayBeClosedBesideACallThatTakes() throws InterruptedException {
        var random = new SplittableRandom(11);
        for (int i = 0; i < 120; i++) {
            try (var trainer = new SimulatedTrainer(0)) {
                DataLoader loader = trainer.loader().workers(i % 3).leases(LeaseMode.SHARED).open();
                int taken = random.nextInt(5);
                long delay = random.nextInt(300_000);
                var thrown = new AtomicReference<Throwable>();
                var begun = new CountDownLatch(1);
                Thread closer = thread(thrown, Thread.ofPlatform(), () -> {
                    while (begun.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    long end = System.nanoTime() + delay;
                    while (System.nanoTime() < end) {
                        Thread.onSpinWait();
                    }
                    loader.close();
                });
                IllegalStateException over = assertThrows(IllegalStateException.class, () -> {
                    for (int n = 0;; n++) {
                        if (n == taken) {
                            begun.countDown();
                        }
                        try (Batch batch = loader.next(n % 2 == 0 ? null : trainer.stream)) {
                            trainer.look(batch, trainer.stream);
                        }
                    }
                });
                assertEquals("the loader is closed", over.getMessage());
                closer.join();
                assertEquals(null, thrown.get());
                assertEquals(0, CudaSimulator.open(Kind.DEVICE_MEMORY));
                trainer.stream.synchronize();
                trainer.verify();
            }
        }
    }

    static void aVirtualThreadIsRefusedAndNothingIsLost() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().deviceSlots(2).open()) {
            for (int i = 0; i < 5; i++) {
                Throwable refused = on(Thread.ofVirtual(), () -> loader.next(trainer.stream));
                assertTrue(refused instanceof IllegalStateException
                        && refused.getMessage().contains("platform thread"), () -> refused + "");
                Batch batch = loader.next(trainer.stream);
                assertEquals(i, batch.number());
                assertEquals(IllegalStateException.class, on(Thread.ofVirtual(), batch::close).getClass());
                trainer.look(batch, trainer.stream);
                batch.close();
            }
            trainer.stream.synchronize();
            trainer.verify();
        }
    }

    // ---- the end

    static void closingTheLoaderWaitsForCopiesInFlight() throws InterruptedException {
        holdCopies(true);
        try (var trainer = new SimulatedTrainer(0)) {
            DataLoader loader = trainer.loader().open();
            CudaSimulator.awaitCopies(1, false);
            var thrown = new AtomicReference<Throwable>();
            Thread closer = thread(thrown, Thread.ofPlatform(), loader::close);
            assertFalse(closer.join(java.time.Duration.ofMillis(30)), "closed with copies in flight");
            assertTrue(CudaSimulator.open(Kind.PINNED_MEMORY) > 0);
            holdCopies(false);
            closer.join();
            assertEquals(null, thrown.get());
        }
    }

    /** Three batches, and nothing to copy into their slots afterwards, which would wait as well. */
    static void closingTheLoaderWaitsForWorkThatBatchesWereClosedBehind() {
        try (var trainer = new SimulatedTrainer(0)) {
            DataLoader loader = trainer.loader(new ByteRows(24, 64)).endEpoch(1).open();
            for (int i = 0; i < 3; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    trainer.compute(batch, trainer.stream, 10_000);
                }
            }
            loader.close();
            assertEquals(0, CudaSimulator.open(Kind.DEVICE_MEMORY));
        }
    }

    static void anExceptionInTheTrainerLeavesNothing() {
        for (int n = 0; n < 10; n++) {
            int last = n;
            CudaSimulator.setSpeed(20, 50);
            assertEquals("stop", assertThrows(IllegalArgumentException.class, () -> {
                try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().open()) {
                    for (Batch batch : loader.epoch()) {
                        try (batch) {
                            batch.usedOn(trainer.stream);
                            trainer.compute(batch, trainer.stream, 500);
                            if (batch.number() == last) {
                                throw new IllegalArgumentException("stop");
                            }
                        }
                    }
                }
            }).getMessage());
            Scenarios.checkNothingIsOpen();
        }
    }
}
