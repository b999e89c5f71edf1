// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A loader in the hands of two threads. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OneThreadTest {

    @ParameterizedTest
    @EnumSource(value = TransferMode.class, names = {"IN_PLACE", "COPY"})
    void aSecondThreadGetsAnErrorThatNamesTheFirst(TransferMode transfer) throws Exception {
        var map = new HeldMap(0, false);
        try (DataLoader loader = DataLoader.builder(map.of(new ByteRows(100, 32))).batchSize(4).workers(1)
                .transfer(transfer).leases(LeaseMode.SHARED).open()) {
            FutureTask<Batch> first = new FutureTask<>(loader::next);
            Thread trainer = Thread.ofPlatform().name("first-trainer").start(first);
            map.awaitEntered();
            while (trainer.getState() != Thread.State.WAITING && trainer.getState() != Thread.State.TIMED_WAITING) {
                Thread.yield();
            }
            List<Executable> calls = List.of(loader::next, loader::replay, () -> loader.seek(1),
                    () -> loader.seek(loader.state()), loader::epoch, () -> loader.epoch(3));
            for (Executable call : calls) {
                String message = assertThrows(IllegalStateException.class, call).getMessage();
                assertTrue(message.contains("two threads in one loader: " + Thread.currentThread().getName()
                        + " called it while first-trainer was taking a batch"), message);
            }
            map.release();
            try (Batch batch = first.get()) {
                assertEquals(0, batch.number());
            }
            try (Batch batch = loader.next()) {
                assertEquals(1, batch.number(), "another thread may go on");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"IN_PLACE, 0", "IN_PLACE, 2", "COPY, 2"})
    void whoeverGetsInEachBatchIsGivenOnceAndNoThreadHangs(TransferMode transfer, int workers) throws Exception {
        var given = new ConcurrentSkipListSet<Long>();
        var twice = new AtomicLong();
        int batches = 2_000;
        try (DataLoader loader = DataLoader.builder(new ByteRows(100, 32)).batchSize(4).workers(workers)
                .transfer(transfer).leases(LeaseMode.SHARED).deviceSlots(6).prefetch(8).open()) {
            List<FutureTask<Void>> trainers = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                trainers.add(new FutureTask<>(() -> {
                    while (given.size() < batches) {
                        try (Batch batch = loader.next()) {
                            twice.addAndGet(given.add(batch.number()) ? 0 : 1);
                        } catch (IllegalStateException e) {
                            assertTrue(e.getMessage().startsWith("found two threads in one loader: "), e.getMessage());
                        }
                    }
                    return null;
                }));
            }
            IntStream.range(0, 3).forEach(t -> Thread.ofPlatform().name("trainer-" + t).start(trainers.get(t)));
            for (FutureTask<Void> trainer : trainers) {
                trainer.get();
            }
        }
        assertEquals(0, twice.get());
        assertEquals(LongStream.range(0, given.size()).boxed().toList(), List.copyOf(given));
    }
}
