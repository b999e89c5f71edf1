// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static io.penstock.dlpack.DLPackCapsule.DLPackForm.UNVERSIONED;
import static io.penstock.dlpack.DLPackCapsule.DLPackForm.VERSIONED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackCapsule.DLPackForm;
import io.penstock.dlpack.DLPackTensor;
import io.penstock.dlpack.NativePeer;
import io.penstock.dlpack.NativePeer.Described;
import io.penstock.loader.slots.ConsumerNotice;
import io.penstock.loader.slots.SpinGate;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.testing.MemoryTokenStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches in host memory in the hands of a consumer in C, from before they are closed to after the loader is. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DLPackBatchTest {

    private static final int TOKENS = 17;

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 20_000);
    private int liveBefore;

    @BeforeAll
    static void buildTheConsumer() throws Exception {
        NativePeer.build();
    }

    @BeforeEach
    void count() {
        liveBefore = DLPackCapsule.live();
    }

    @AfterEach
    void nothingIsLeft() {
        store.close();
        assertEquals(liveBefore, DLPackCapsule.live());
    }

    private DataLoaderBuilder loader(TransferMode transfer) {
        return DataLoader.builder(TokenWindows.of(store, TOKENS - 1)).batchSize(4).shuffle(3).workers(2).prefetch(2)
                .transfer(transfer);
    }

    /** What the tokens of a batch add up to, from the store alone. */
    private long expectedSum(Batch batch) {
        long sum = 0;
        for (int row = 0; row < batch.count(); row++) {
            for (int i = 0; i < TOKENS; i++) {
                sum += store.token(batch.sample(row) * (TOKENS - 1) + i);
            }
        }
        return sum;
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aConsumerFindsTheBatchWhereItIs(TransferMode transfer) {
        try (DataLoader loader = loader(transfer).open()) {
            for (int i = 0; i < 100; i++) {
                DLPackForm form = i % 2 == 0 ? VERSIONED : UNVERSIONED;
                try (Batch batch = loader.next(); DLPackCapsule capsule = batch.toDLPack("tokens", 1, form)) {
                    Described seen = NativePeer.describe(capsule.address(), form);
                    assertEquals(batch.address("tokens"), seen.data());
                    assertEquals(0, seen.data() % 256);
                    assertEquals(1, seen.deviceType());
                    assertEquals(0, seen.deviceId());
                    assertEquals(1, seen.code());
                    assertEquals(16, seen.bits());
                    assertEquals(form == VERSIONED ? 0 : -1, seen.flags());
                    assertArrayEquals(new long[] {batch.count(), TOKENS}, seen.shape());
                    assertArrayEquals(new long[] {TOKENS, 1}, seen.strides());
                    assertEquals(expectedSum(batch), NativePeer.sum(capsule.address(), form));
                    try (DLPackTensor back = DLPackTensor.take(capsule.handOver(), form)) {
                        assertEquals(-1, back.tensor().segment().mismatch(batch.tensor("tokens").segment()));
                    }
                }
            }
        }
    }

    @Test
    void aBatchThatIsStillBeingCopiedIsThereWhenItIsExported() {
        try (Device device = Device.host();
                DeviceStream trainer = device.openStream("trainer");
                DataLoader loader = loader(TransferMode.COPY).device(device).open()) {
            for (int i = 0; i < 200; i++) {
                try (Batch batch = loader.next(trainer); DLPackCapsule capsule = batch.toDLPack("tokens")) {
                    assertEquals(expectedSum(batch), NativePeer.sum(capsule.address(), VERSIONED));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void theSlotIsReusedWhenTheBatchIsClosedAndAllItsTensorsAreDeletedInWhateverOrder(TransferMode transfer) {
        try (DataLoader loader = loader(transfer).open()) {
            int slots = Math.max(loader.memory().deviceSlots(), loader.memory().hostSlots());
            for (int order = 0; order < 6 * slots; order++) {
                Batch batch = loader.next();
                long sum = expectedSum(batch);
                Tensor view = batch.tensor("tokens");
                long one = batch.toDLPack("tokens").handOver();
                long two = batch.toDLPack("tokens", -1).handOver();
                switch (order % 3) {
                    case 0 -> {
                        batch.close();
                        assertThrows(IllegalStateException.class, () -> view.getLong(0));
                        assertThrows(IllegalStateException.class, () -> batch.toDLPack("tokens"));
                        assertTrue(batch.toString().matches("batch \\d+ of epoch \\d+, given to native code"),
                                batch.toString());
                        assertEquals(sum, NativePeer.sum(one, VERSIONED));
                        NativePeer.delete(one, VERSIONED, 2);
                        assertEquals(sum, NativePeer.sum(two, VERSIONED));
                        NativePeer.delete(two, VERSIONED, 1);
                    }
                    case 1 -> {
                        NativePeer.delete(two, VERSIONED, 1);
                        NativePeer.delete(two, VERSIONED, 1);
                        batch.close();
                        assertEquals(sum, NativePeer.sum(one, VERSIONED));
                        NativePeer.delete(one, VERSIONED, 1);
                    }
                    default -> {
                        NativePeer.delete(one, VERSIONED, 3);
                        NativePeer.delete(two, VERSIONED, 3);
                        assertEquals(store.token(batch.sample(0) * (TOKENS - 1)), view.getLong(0));
                        batch.close();
                    }
                }
                assertEquals("batch (closed)", batch.toString());
                batch.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aTensorKeepsItsBytesThoughAllOtherSlotsGoRound(TransferMode transfer) throws Exception {
        try (DataLoader loader = loader(transfer).leases(LeaseMode.SHARED).open()) {
            Batch batch = loader.next();
            long sum = expectedSum(batch);
            long kept = batch.toDLPack("tokens").handOver();
            batch.close();
            // In place, slots go round in order: the kept one holds the ring up. Otherwise the others are used.
            int others = transfer == TransferMode.IN_PLACE ? loader.memory().hostSlots() - 1 : 100;
            for (int i = 0; i < others; i++) {
                try (Batch other = loader.next()) {
                    assertFalse(other.address("tokens") == NativePeer.describe(kept, VERSIONED).data());
                }
            }
            assertEquals(sum, NativePeer.sum(kept, VERSIONED));
            if (transfer == TransferMode.COPY) {
                List<Long> more = new ArrayList<>();
                for (int i = 1; i < loader.memory().deviceSlots(); i++) {
                    try (Batch other = loader.next()) {
                        more.add(other.toDLPack("tokens").handOver());
                    }
                }
                Taking next = takeOne(loader);
                next.awaitWaiting();
                more.forEach(tensor -> NativePeer.delete(tensor, VERSIONED, 1));
                next.number().get();
            } else {
                Taking next = takeOne(loader);
                next.awaitWaiting();
                NativePeer.delete(kept, VERSIONED, 1);
                assertEquals(others + 1, next.number().get());
            }
            NativePeer.delete(kept, VERSIONED, 1);
            for (int i = 0; i < 100; i++) {
                loader.next().close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void whoWaitsForConsumersIsToldSoOnce(TransferMode transfer) throws Exception {
        List<LogRecord> told = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                told.add(entry);
            }

            @Override
            public void flush() {
                // Nothing is buffered.
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
        Logger logger = Logger.getLogger(ConsumerNotice.class.getName());
        logger.addHandler(handler);
        try (DataLoader loader = loader(transfer).open()) {
            int slots = transfer == TransferMode.COPY ? loader.memory().deviceSlots() : loader.memory().hostSlots();
            for (int round = 0; round < 2; round++) {
                List<Long> kept = new ArrayList<>();
                for (int i = 0; i < slots; i++) {
                    try (Batch batch = loader.next()) {
                        kept.add(batch.toDLPack("tokens").handOver());
                    }
                }
                assertEquals(round, told.size());
                Taking next = takeOne(loader);
                next.awaitWaiting();
                kept.forEach(tensor -> NativePeer.delete(tensor, VERSIONED, 1));
                assertEquals(slots + round * (slots + 1L), next.number().get());
                assertEquals(1, told.size());
            }
        } finally {
            logger.removeHandler(handler);
        }
    }

    /** A thread that takes a batch, and the batch's number. */
    private record Taking(FutureTask<Long> number, Thread thread) {

        /** Waits until the thread does, for a slot: there is nothing else that it waits for. */
        void awaitWaiting() {
            while (!(LockSupport.getBlocker(thread) instanceof SpinGate)) {
                assertFalse(number.isDone(), "it has its batch");
                Thread.yield();
            }
        }
    }

    private static Taking takeOne(DataLoader loader) {
        FutureTask<Long> task = new FutureTask<>(() -> {
            try (Batch batch = loader.next()) {
                return batch.number();
            }
        });
        return new Taking(task, Thread.ofPlatform().daemon().start(task));
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void memoryOutlivesTheLoaderUntilTheLastTensorIsDeleted(TransferMode transfer) throws InterruptedException {
        List<Long> kept = new ArrayList<>();
        List<Long> sums = new ArrayList<>();
        DataLoader loader = loader(transfer).name("late").open();
        for (int i = 0; i < 2; i++) {
            Batch batch = loader.next();
            sums.add(expectedSum(batch));
            kept.add(batch.toDLPack("tokens").handOver());
            if (i == 0) {
                batch.close();              // the other one is left open: the loader closes it and says so
            }
        }
        loader.close();
        loader.close();
        for (int i = 0; i < 2; i++) {
            assertEquals(sums.get(i), NativePeer.sum(kept.get(i), VERSIONED));
        }
        assertTrue(loader.device().hostAccessible());
        loader.device().makeCurrent();      // the loader's own device is open as long as its memory
        for (long tensor : kept) {
            NativePeer.delete(tensor, VERSIONED, 2);
        }
        awaitClosed(loader.device());
        assertEquals(0, Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("late")).filter(Thread::isAlive)
                .filter(thread -> !thread.getName().equals("late-free")).count());
    }

    private static void awaitClosed(Device device) throws InterruptedException {
        while (true) {
            try {
                device.makeCurrent();
            } catch (IllegalStateException _) {
                return;
            }
            Thread.sleep(1);
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void consumersThreadsOfTheirOwnKeepTheRingGoing(TransferMode transfer) {
        long expected = 0;
        int batches = 20_000;
        try (DataLoader loader = loader(transfer).open()) {
            NativePeer.startConsumers(4);
            for (int i = 0; i < batches; i++) {
                Batch batch = loader.next();
                int tensors = i % 3;
                expected += tensors * expectedSum(batch);
                long[] exported = new long[tensors];
                for (int t = 0; t < tensors; t++) {
                    exported[t] = batch.toDLPack("tokens").handOver();
                }
                if (tensors > 0) {
                    NativePeer.put(exported[0]);            // deleted while the batch is being closed
                }
                batch.close();
                if (tensors > 1) {
                    NativePeer.put(exported[1]);
                }
            }
        } finally {
            assertEquals(expected, NativePeer.stopConsumers());
        }
    }

    @Test
    void aStreamThatMayMeanTwoThingsIsRefused() {
        try (DataLoader loader = loader(TransferMode.IN_PLACE).open(); Batch batch = loader.next()) {
            for (long stream : new long[] {0, -2, Long.MIN_VALUE}) {
                assertThrows(IllegalArgumentException.class, () -> batch.toDLPack("tokens", stream));
            }
            assertThrows(IllegalArgumentException.class, () -> batch.toDLPack("images"));
            assertEquals(liveBefore, DLPackCapsule.live());
        }
    }

    @Test
    void aBatchIsExportedByItsThreadAndReleasedByAny() throws InterruptedException {
        try (DataLoader loader = loader(TransferMode.IN_PLACE).open()) {
            Batch batch = loader.next();
            List<Throwable> thrown = new ArrayList<>();
            Thread.ofPlatform().start(() -> {
                try {
                    batch.toDLPack("tokens");
                } catch (WrongThreadException e) {
                    thrown.add(e);
                }
            }).join();
            assertEquals(1, thrown.size());
            DLPackCapsule capsule = batch.toDLPack("tokens");
            batch.tensor("tokens").getLong(0);
            batch.close();
            Thread.ofPlatform().start(capsule::close).join();
            assertEquals("batch (closed)", batch.toString());
        }
    }
}
