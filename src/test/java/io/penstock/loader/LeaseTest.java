// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds for a batch while it is lent, and afterwards. */
class LeaseTest {

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 20_000);

    @AfterEach
    void closeStore() {
        store.close();
    }

    private DataLoaderBuilder loader(TransferMode transfer) {
        return DataLoader.builder(TokenWindows.of(store, 16)).batchSize(4).shuffle(3).workers(2).prefetch(2)
                .transfer(transfer);
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aTensorReadAfterCloseThrowsAndNeverShowsALaterBatch(TransferMode transfer) {
        try (DataLoader loader = loader(transfer).open()) {
            for (int i = 0; i < 200; i++) {
                Batch batch = loader.next();
                Tensor tensor = batch.tensor("tokens");
                MemorySegment slab = batch.segment();
                tensor.getLong(0);
                batch.close();
                assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
                assertThrows(IllegalStateException.class, () -> slab.get(ValueLayout.JAVA_BYTE, 0));
                assertThrows(IllegalStateException.class, () -> batch.tensor("tokens"));
                assertThrows(IllegalStateException.class, () -> batch.address("tokens"));
                assertThrows(IllegalStateException.class, () -> batch.sample(0));
            }
        }
    }

    /** A virtual thread cannot call CUDA, and may close such a batch elsewhere; a host device needs no other thread. */
    @Test
    void aBatchWhoseStreamIsClosedIsOverOnAVirtualThreadToo() throws Exception {
        var ended = new FutureTask<>(() -> {
            try (Device host = Device.host()) {
                DataLoader loader = loader(TransferMode.COPY).device(host).open();
                DeviceStream stream = host.openStream("trainer");
                Batch batch = loader.next(stream);
                Tensor tensor = batch.tensor("tokens");
                stream.close();
                String message = assertThrows(IllegalStateException.class, batch::close).getMessage();
                assertTrue(message.contains("closed"), message);
                batch.close();
                assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
                assertThrows(IllegalStateException.class, loader::next);
                loader.close();
            }
            return true;
        });
        Thread.ofVirtual().start(ended);
        assertTrue(ended.get());
    }

    @ParameterizedTest
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @ValueSource(ints = {0, 1})
    void anInterruptEndsTheWaitForASlot(int workers) throws Exception {
        try (DataLoader loader = loader(TransferMode.IN_PLACE).workers(workers).prefetch(1).leases(LeaseMode.SHARED)
                .open()) {
            List<Batch> held = Collections.synchronizedList(new ArrayList<>());
            var trainer = new FutureTask<>(() -> {
                while (true) {
                    held.add(loader.next());
                }
            });
            Thread thread = Thread.ofPlatform().start(trainer);
            int slots = loader.memory().hostSlots();
            while (held.size() < slots || thread.getState() == Thread.State.RUNNABLE) {
                Thread.yield();
            }
            thread.interrupt();
            Throwable end = assertThrows(ExecutionException.class, trainer::get).getCause();
            assertInstanceOf(LoaderInterruptedException.class, end);
            held.forEach(Batch::close);
            try (Batch next = loader.next()) {
                assertEquals(slots, next.number(), "no batch is lost");
            }
        }
    }

    /** 7 batches an epoch, the last of 2 samples: so the shapes of a slot change. */
    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aReusedLeaseThrowsUntilItsSlotIsLentAgainAndThenShowsThatBatch(TransferMode transfer) {
        try (var small = new MemoryTokenStore(DType.U16, 26 * 16 + 1)) {
            DataLoader loader = DataLoader.builder(TokenWindows.of(small, 16)).batchSize(4).shuffle(3).workers(2)
                    .transfer(transfer).leases(LeaseMode.REUSED).open();
            Set<Batch> known = Collections.newSetFromMap(new IdentityHashMap<>());
            Map<Batch, Tensor> full = new IdentityHashMap<>();
            for (int i = 0; i < 700; i++) {
                Batch batch = loader.next();
                known.add(batch);
                assertEquals(i, batch.number());
                assertEquals(i % 7 == 6 ? 2 : 4, batch.count());
                Tensor tensor = batch.tensor("tokens");
                assertEquals(batch.count(), tensor.dim(0));
                assertEquals(batch.byteSize(), batch.segment().byteSize());
                for (int row = 0; row < batch.count(); row++) {
                    assertEquals(small.token(batch.sample(row) * 16 + 5), tensor.getLong(row * 17L + 5));
                }
                assertSame(tensor, batch.tensor("tokens"));
                batch.close();
                assertThrows(IllegalStateException.class, () -> batch.tensor("tokens"));
                assertThrows(IllegalStateException.class, batch::segment);
                assertThrows(IllegalStateException.class, batch::number);
                full.put(batch, tensor);
            }
            int slots = transfer == TransferMode.COPY ? loader.memory().deviceSlots() : loader.memory().hostSlots();
            assertEquals(slots, known.size(), "a batch a slot");
            loader.close();
            full.values().forEach(tensor -> assertThrows(IllegalStateException.class, () -> tensor.getLong(0)));
        }
    }

    @Test
    void aReusedLeaseBelongsToTheThreadThatTookItToo() throws InterruptedException {
        try (DataLoader loader = loader(TransferMode.IN_PLACE).leases(LeaseMode.REUSED).open();
                Batch batch = loader.next()) {
            assertEquals(WrongThreadException.class, onAnotherThread(() -> batch.tensor("tokens")).getClass());
            assertEquals(WrongThreadException.class, onAnotherThread(batch::close).getClass());
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void closingTwiceReleasesTheSlotOnce(TransferMode transfer) {
        try (DataLoader loader = loader(transfer).open()) {
            for (int i = 0; i < 100; i++) {
                Batch first = loader.next();
                first.close();
                Batch second = loader.next();
                first.close();
                assertEquals(store.token(second.sample(1) * 16 + 3), second.tensor("tokens").getLong(17 + 3));
                second.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void leasesMayBeClosedInAnyOrder(TransferMode transfer) {
        try (DataLoader loader = loader(transfer).deviceSlots(4).open()) {
            for (int round = 0; round < 50; round++) {
                Batch a = loader.next();
                Batch b = loader.next();
                Batch c = loader.next();
                for (Batch batch : List.of(a, b, c)) {
                    assertEquals(store.token(batch.sample(0) * 16), batch.tensor("tokens").getLong(0));
                }
                b.close();
                assertEquals(store.token(a.sample(2) * 16), a.tensor("tokens").getLong(2 * 17));
                c.close();
                a.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void takingMoreThanThereAreSlotsIsAnErrorThatNamesTheCauseAndNotAHang(TransferMode transfer) {
        List<Batch> held = new ArrayList<>();
        try (DataLoader loader = loader(transfer).open()) {
            IllegalStateException error = assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    held.add(loader.next());
                }
            });
            assertTrue(error.getMessage().contains("close"), error.getMessage());
            long next = held.size();
            held.forEach(Batch::close);
            try (Batch batch = loader.next()) {
                assertEquals(next, batch.number());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aBatchBelongsToTheThreadThatTookIt(TransferMode transfer) throws InterruptedException {
        try (DataLoader loader = loader(transfer).open(); Batch batch = loader.next()) {
            Tensor tensor = batch.tensor("tokens");
            assertEquals(WrongThreadException.class, onAnotherThread(() -> tensor.getLong(0)).getClass());
            assertEquals(WrongThreadException.class, onAnotherThread(() -> batch.tensor("tokens")).getClass());
            assertEquals(WrongThreadException.class, onAnotherThread(batch::close).getClass());
            tensor.getLong(0);
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aSharedLeaseIsReadAndClosedByAnyThread(TransferMode transfer) throws InterruptedException {
        try (DataLoader loader = loader(transfer).leases(LeaseMode.SHARED).open()) {
            for (int i = 0; i < 50; i++) {
                Batch batch = loader.next();
                Tensor tensor = batch.tensor("tokens");
                assertEquals(null, onAnotherThread(() -> {
                    assertEquals(store.token(batch.sample(0) * 16), tensor.getLong(0));
                    batch.close();
                }));
                assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void closingTheLoaderEndsTheLeasesOfItsThread(TransferMode transfer) {
        DataLoader loader = loader(transfer).open();
        Batch forgotten = loader.next();
        Tensor tensor = forgotten.tensor("tokens");
        loader.close();
        assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
        forgotten.close();
        loader.close();
        assertThrows(IllegalStateException.class, loader::next);
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void memoryOfALeaseThatAnotherThreadHoldsOutlivesTheLoader(TransferMode transfer) throws InterruptedException {
        try (Device device = Device.host()) {
            DataLoader loader = loader(transfer).device(device).leases(LeaseMode.SHARED).open();
            Batch batch = loader.next();
            Tensor tensor = batch.tensor("tokens");
            long sample = batch.sample(0);
            loader.close();
            assertEquals(store.token(sample * 16), tensor.getLong(0));
            assertEquals(null, onAnotherThread(batch::close));
            assertThrows(IllegalStateException.class, () -> tensor.getLong(0));
        }
    }

    /** A trainer's stream that lags far behind its thread still reads its own batch: reuse waits for E_used. */
    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aSlotIsNotReusedBeforeTheStreamThatUsesItIsDone(TransferMode transfer) {
        int lagBytes = 8 << 20;
        try (Device device = Device.host();
                DeviceStream trainer = device.openStream("trainer");
                PinnedBuffer lagSource = device.allocatePinned(lagBytes);
                DeviceBuffer lagTarget = device.allocate(lagBytes);
                DataLoader loader = loader(transfer).deviceSlots(2).device(device).open()) {
            List<PinnedBuffer> results = new ArrayList<>();
            List<Long> firstSamples = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                results.add(device.allocatePinned(loader.memory().slabBytes()));
                try (Batch batch = loader.next(trainer)) {
                    trainer.copyToDevice(lagTarget, 0, lagSource, 0, lagBytes);
                    batch.copyToHost(trainer, results.get(i));
                    firstSamples.add(batch.sample(0));
                }
            }
            trainer.synchronize();
            for (int i = 0; i < results.size(); i++) {
                Tensor copied = Tensor.of(results.get(i).segment(), DType.U16, 4, 17);
                for (int t = 0; t < 17; t++) {
                    assertEquals(store.token(firstSamples.get(i) * 16 + t), copied.getLong(t), "batch " + i);
                }
                results.get(i).close();
            }
        }
    }

    private static Throwable onAnotherThread(Runnable action) throws InterruptedException {
        var thrown = new AtomicReference<Throwable>();
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        thread.start();
        thread.join();
        return thrown.get();
    }
}
