// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.TensorRows;
import io.penstock.device.Device;
import io.penstock.loader.slots.LateBatch;
import io.penstock.loader.slots.Leases;
import io.penstock.store.TensorStore;
import io.penstock.testing.CapturedLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The loader's end, and its moves, while code of a user runs in a worker. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoaderCloseTest {

    private static final Duration FOR_EVER = Duration.ofDays(365_000);
    private static final AtomicInteger LOADERS = new AtomicInteger();
    private static final int WIDTH = 32;
    private static final ByteRows ROWS = new ByteRows(400, WIDTH);

    /** Another for each test, so that none waits for what a failed one has left. */
    private final String name = "ending-" + LOADERS.incrementAndGet();

    private DataLoaderBuilder loader(HeldMap map, TransferMode transfer) {
        return loader(map.of(ROWS), transfer);
    }

    private DataLoaderBuilder loader(Dataset rows, TransferMode transfer) {
        return DataLoader.builder(rows).batchSize(4).workers(2).prefetch(2).transfer(transfer).leases(LeaseMode.SHARED)
                .name(name);
    }

    private static void checkRows(Batch batch) {
        MemorySegment rows = batch.segment();
        for (int row = 0; row < batch.count(); row++) {
            for (int i = 0; i < WIDTH; i++) {
                assertEquals(ByteRows.at(batch.sample(row), i), rows.get(ValueLayout.JAVA_BYTE, row * WIDTH + i));
            }
        }
    }

    private static <T> FutureTask<T> start(FutureTask<T> task) {
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private void awaitNoThreads() {
        HeldMap.awaitNoThreads(name);
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aThreadThatWaitsInNextIsFreedAtOnceThoughAMapIsNot(TransferMode transfer) throws Exception {
        var map = new HeldMap(0, false);
        DataLoader loader = loader(map, transfer).patience(FOR_EVER).open();
        FutureTask<String> waiting = start(new FutureTask<>(() ->
                assertThrows(IllegalStateException.class, loader::next).getMessage()));
        map.awaitEntered();
        FutureTask<Void> closing = start(new FutureTask<>(loader::close, null));
        assertEquals("the loader is closed", waiting.get());
        assertFalse(closing.isDone(), "the map still runs");
        map.release();
        closing.get();
        assertFalse(map.target.scope().isAlive(), "all is freed");
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void closeInterruptsCodeOfUsersInWorkers(TransferMode transfer) {
        var map = new HeldMap(2, true);
        DataLoader loader = loader(map, transfer).patience(FOR_EVER).open();
        map.awaitEntered();
        loader.close();
        assertFalse(map.target.scope().isAlive());
        assertEquals(0, HeldMap.threads(name).size());
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aMapThatNeverReturnsIsNamedAndCostsItsThreadAndTheMemoryThatItMayTouch(TransferMode transfer) {
        var map = new HeldMap(0, false);
        try (CapturedLog log = new CapturedLog(WorkerPool.class.getName())) {
            DataLoader loader = loader(map, transfer).patience(Duration.ZERO).open();
            map.awaitEntered();
            loader.close();
            log.await(map.thread.getName() + ", now at io.penstock.loader.HeldMap.");
            assertTrue(map.thread.isDaemon());
            assertTrue(map.target.scope().isAlive());
            assertThrows(IllegalStateException.class, loader::next);
            loader.close();
            map.release();
            map.awaitFreed();
            awaitNoThreads();
            assertNull(map.afterwards, "the slot was still there");
            log.await("has ended now");
        }
    }

    /** All of what the map has in its hands is closed when it wakes: it gets an error, and the JVM does not crash. */
    @ParameterizedTest
    @CsvSource({"IN_PLACE, true", "COPY, true", "IN_PLACE, false", "COPY, false"})
    void aMapThatWakesWhenStoreAndDeviceAreClosedGetsAnError(TransferMode transfer, boolean closesDevice,
            @TempDir Path folder) throws Exception {
        Path file = npy(folder);
        var map = new HeldMap(0, false);
        Device device = Device.host();
        try (TensorStore store = TensorStore.open(file)) {
            Dataset rows = TensorRows.of(store);
            Dataset named = rows.map(rows.fields().getFirst().name(), ROWS.fields().getFirst(), "held", map);
            DataLoader loader = loader(named, transfer).device(device).patience(Duration.ZERO).open();
            map.awaitEntered();
            loader.close();
        }
        if (closesDevice) {
            device.close();
        }
        map.release();
        map.awaitFreed();
        awaitNoThreads();
        device.close();
        assertInstanceOf(IllegalStateException.class, map.afterwards);
    }

    /** The rows as NumPy writes them. */
    private static Path npy(Path folder) throws IOException {
        var bytes = new ByteArrayOutputStream();
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + ROWS.size() + ", " + WIDTH + "), }";
        String padded = header + " ".repeat(117 - header.length()) + "\n";
        bytes.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
        bytes.write(padded.getBytes(StandardCharsets.US_ASCII));
        bytes.write(ROWS.bytes().toArray(ValueLayout.JAVA_BYTE));
        return Files.write(folder.resolve("rows.npy"), bytes.toByteArray());
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aTrainerThatWaitsForAMapIsToldWhereItIs(TransferMode transfer) throws Exception {
        var map = new HeldMap(0, false);
        try (CapturedLog log = new CapturedLog(LateBatch.class.getName());
                DataLoader loader = loader(map, transfer).patience(Duration.ofMillis(1)).open()) {
            map.awaitEntered();
            FutureTask<Void> training = start(new FutureTask<>(() -> {
                for (int i = 0; i < 4; i++) {
                    try (Batch batch = loader.next()) {
                        checkRows(batch);
                    }
                }
            }, null));
            String line = log.await(name + ": the trainer has waited 1 ms for a batch of " + name + "-worker-");
            assertTrue(line.contains("now at io.penstock.loader.HeldMap."), line);
            map.release();
            training.get();
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aMoveInterruptsAMapThatTakesLongAndNothingOfThatIsLeftInTheNextRun(TransferMode transfer) {
        var map = new HeldMap(1, true);
        try (DataLoader loader = loader(map, transfer).patience(Duration.ofSeconds(5))
                .onBadSample(BadSamplePolicy.REPLACE).open()) {
            map.awaitEntered();
            loader.seek(1);
            map.release();
            for (Batch batch : loader.epoch(2)) {
                try (batch) {
                    checkRows(batch);
                    assertEquals(0, batch.replaced());
                }
            }
            assertFalse(map.cameInterrupted);
            assertEquals(List.of(), loader.badSamples(), "what an interrupt ended is no bad sample");
        }
    }

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aMoveThatAMapDoesNotLetGoIsAnErrorThatNamesItAndEndsTheLoader(TransferMode transfer) {
        var map = new HeldMap(0, false);
        DataLoader loader = loader(map, transfer).patience(Duration.ZERO).open();
        map.awaitEntered();
        String message = assertThrows(IllegalStateException.class, () -> loader.seek(1)).getMessage();
        assertTrue(message.contains("cannot move the loader") && message.contains(map.thread.getName())
                && message.contains("HeldMap."), message);
        assertThrows(IllegalStateException.class, loader::next);
        loader.close();
        map.release();
        map.awaitFreed();
        awaitNoThreads();
    }

    /** Whatever moment it is: batches that are given are right, a wait ends, and nothing stays once maps have ended. */
    @Test
    void closingAtAnyMomentBesideATrainerAndAHeldMapFreesAllAndNothingTooSoon() throws Exception {
        long seed = 20_261;
        var random = new SplittableRandom(seed);
        for (int round = 0; round < 300; round++) {
            String told = "seed " + seed + ", round " + round;
            var map = new HeldMap(random.nextInt(-1, 40), random.nextBoolean());
            DataLoader loader = loader(map, random.nextBoolean() ? TransferMode.COPY : TransferMode.IN_PLACE)
                    .workers(random.nextInt(1, 4)).prefetch(random.nextInt(1, 5))
                    .patience(random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(1)).open();
            int closeAt = random.nextInt(12);
            int spin = random.nextInt(20_000);
            int moveAt = random.nextInt(30);
            FutureTask<RuntimeException> training = new FutureTask<>(() -> {
                for (int i = 0;; i++) {
                    try {
                        if (i == moveAt) {
                            loader.seek(1);
                        }
                        try (Batch batch = loader.next()) {
                            checkRows(batch);
                        }
                    } catch (BatchException e) {
                        throw new AssertionError(told, e);
                    } catch (IllegalStateException e) {
                        return e;
                    }
                }
            });
            FutureTask<Void> closing = new FutureTask<>(() -> {
                while (loader.report().batches() < closeAt && map.entered.getCount() > 0 && !training.isDone()) {
                    Thread.yield();
                }
                for (int i = 0; i < spin; i++) {
                    Thread.onSpinWait();
                }
                loader.close();
            }, null);
            start(training);
            start(closing);
            assertTrue(training.get() != null, told);
            try {
                closing.get();
            } catch (ExecutionException e) {
                throw new AssertionError(told, e);
            }
            map.release();
            awaitNoThreads();
            if (map.target != null) {
                map.awaitFreed();
                assertNull(map.afterwards, told);
            }
        }
    }

    @Test
    void batchesThatWereForgottenAreOneWarning() {
        try (CapturedLog log = new CapturedLog(Leases.class.getName())) {
            DataLoader loader = loader(ROWS, TransferMode.IN_PLACE).prefetch(8).open();
            List<Batch> batches = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                batches.add(loader.next());
            }
            loader.close();
            batches.forEach(Batch::close);
            assertEquals(1, log.lines().size(), log.lines()::toString);
            assertTrue(log.lines().getFirst().contains(" and 4 more batches were not closed before their loader"),
                    log.lines()::toString);
        }
    }

    @Test
    void oneBatchThatWasForgottenIsNamed() {
        try (CapturedLog log = new CapturedLog(Leases.class.getName())) {
            DataLoader loader = loader(ROWS, TransferMode.IN_PLACE).open();
            Batch forgotten = loader.next();
            String batch = forgotten.toString();
            loader.close();
            forgotten.close();
            assertEquals(List.of(name + ": " + batch + " was not closed before its loader; its memory is kept until it"
                    + " is closed"), log.lines());
        }
    }

    @Test
    void aForgottenBatchThatTheLoaderClosesIsNamedAsItWas() {
        try (CapturedLog log = new CapturedLog(Leases.class.getName())) {
            DataLoader loader = loader(ROWS, TransferMode.IN_PLACE).leases(LeaseMode.CONFINED).open();
            loader.next().close();
            loader.next();
            loader.close();
            assertEquals(List.of(name + ": batch 1 of epoch 0 was not closed before its loader"), log.lines());
        }
    }
}
