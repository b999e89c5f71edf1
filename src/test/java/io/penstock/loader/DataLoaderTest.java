// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.os.Uninterrupted;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.state.StateMismatchException;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import io.penstock.testing.CountingSampler;
import io.penstock.testing.MemoryTokenStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Epochs, moves, state, errors, and the loader's end. */
class DataLoaderTest {

    private static final int LENGTH = 10;

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 1_001);

    @AfterEach
    void closeStore() {
        store.close();
    }

    /** 100 windows in batches of 8: 13 batches an epoch, the last of 4. */
    private DataLoaderBuilder loader() {
        return DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(8).shuffle(42);
    }

    @Test
    void aDatasetWithoutSamplesIsNamed() {
        TokenWindows none = TokenWindows.of(store, 10_000_000);
        assertEquals("no samples: 0 windows of 10000001 tokens of " + store,
                assertThrows(IllegalArgumentException.class, () -> DataLoader.builder(none)).getMessage());
    }

    private static List<Long> samples(Batch batch) {
        return IntStream.range(0, batch.count()).mapToObj(batch::sample).toList();
    }

    private static List<Long> take(DataLoader loader, int batches) {
        List<Long> samples = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next()) {
                samples.addAll(samples(batch));
            }
        }
        return samples;
    }

    private static List<Long> drain(Iterable<Batch> batches) {
        List<Long> samples = new ArrayList<>();
        for (Batch batch : batches) {
            try (batch) {
                samples.addAll(samples(batch));
            }
        }
        return samples;
    }

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE", "1, IN_PLACE", "3, IN_PLACE", "0, COPY", "2, COPY"})
    void anEpochGivesEachSampleOnceAndTheNextOneInAnotherOrder(int workers, TransferMode transfer) {
        try (DataLoader loader = loader().workers(workers).transfer(transfer).open()) {
            List<Long> first = drain(loader.epoch());
            List<Long> second = drain(loader.epoch());
            assertEquals(IntStream.range(0, 100).mapToObj(Long::valueOf).toList(), first.stream().sorted().toList());
            assertEquals(first.stream().sorted().toList(), second.stream().sorted().toList());
            assertFalse(first.equals(second));
            assertEquals(13, loader.batchesPerEpoch());
            assertEquals(2, loader.currentEpoch());
        }
    }

    @Test
    void theOrderOfAnEpochIsComputedOnce() {
        CountingSampler counted = new CountingSampler(100, Sampler.shuffled(100, 7)::epoch);
        try (DataLoader loader = loader().sampler(counted).endEpoch(2).open()) {
            loader.stream().forEach(Batch::close);
        }
        assertEquals(List.of(0L, 1L), counted.asked());
    }

    @Test
    void nextRunsAcrossEpochsAndTheStreamAndTheLoopContinueWhereItIs() {
        List<Long> all;
        try (DataLoader loader = loader().open()) {
            all = take(loader, 26);
        }
        try (DataLoader loader = loader().endEpoch(2).open()) {
            List<Long> mixed = new ArrayList<>(take(loader, 5));
            mixed.addAll(drain(loader.epoch()));
            loader.stream().forEach(batch -> {
                try (batch) {
                    mixed.addAll(samples(batch));
                }
            });
            assertEquals(all, mixed);
            assertFalse(loader.hasNext());
            assertThrows(NoSuchElementException.class, loader::next);
        }
    }

    @Test
    void aLoopThatWasBrokenOffGoesOnOrStartsAnewAsAsked() {
        try (DataLoader loader = loader().workers(2).open()) {
            List<Long> epoch3 = drain(loader.epoch(3));
            List<Long> begun = new ArrayList<>();
            for (Batch batch : loader.epoch(3)) {
                try (batch) {
                    begun.addAll(samples(batch));
                }
                if (begun.size() >= 24) {
                    break;
                }
            }
            assertEquals(epoch3.subList(0, 24), begun);
            assertEquals(epoch3.subList(24, 100), drain(loader.epoch()), "the rest");
            assertEquals(epoch3, drain(loader.epoch(3)), "from its start");
        }
    }

    @ParameterizedTest
    @CsvSource({"IN_PLACE", "COPY"})
    void movingDropsWhatWasMadeAheadAndLeavesLeasesValid(TransferMode transfer) {
        long seed = 77;
        var random = new SplittableRandom(seed);
        try (DataLoader loader = loader().workers(3).prefetch(4).transfer(transfer).deviceSlots(4).open()) {
            List<List<Long>> epochs = new ArrayList<>();
            for (int e = 0; e < 5; e++) {
                epochs.add(drain(loader.epoch(e)));
            }
            for (int i = 0; i < 300; i++) {
                int epoch = random.nextInt(5);
                Batch held = loader.next();
                long value = held.tensor("tokens").getLong(0);
                loader.seek(epoch);
                int batches = random.nextInt(4);
                assertEquals(epochs.get(epoch).subList(0, 8 * batches), take(loader, batches), "seed " + seed);
                assertEquals(value, held.tensor("tokens").getLong(0));
                held.close();
            }
        }
    }

    @Test
    void anIterationThatTheLoaderWasMovedUnderEndsInAnError() {
        try (DataLoader loader = loader().open()) {
            var iterator = loader.epoch().iterator();
            iterator.next().close();
            loader.seek(4);
            assertThrows(IllegalStateException.class, iterator::hasNext);
        }
    }

    @Test
    void stateIsWhatTheTrainerWasGivenAndResumesUnderAnyOtherSettings() {
        List<Long> all;
        try (DataLoader loader = loader().open()) {
            all = take(loader, 39);
        }
        for (int taken = 0; taken < 39; taken++) {
            LoaderState state;
            int before;
            try (DataLoader loader = loader().workers(2).prefetch(5).open()) {
                before = take(loader, taken).size();
                state = LoaderState.fromJson(loader.state().toJson());
            }
            try (DataLoader loader = loader().batchSize(3).workers(1).transfer(TransferMode.COPY).resume(state)
                    .endEpoch(3).open()) {
                assertEquals(all.subList(before, 300), drain(() -> loader.stream().iterator()), "after " + taken);
            }
        }
    }

    @Test
    void aFirstEpochBesideAStateIsRefusedAsTheyMayDiffer() {
        LoaderState state;
        try (DataLoader loader = loader().open()) {
            state = loader.state();
        }
        for (long epoch : new long[] {0, 3}) {
            var refused = assertThrows(IllegalArgumentException.class,
                    () -> loader().resume(state).startEpoch(epoch).open());
            assertTrue(refused.getMessage().contains("startEpoch and resume"), refused.getMessage());
        }
    }

    @Test
    void aStateOfAnotherDatasetOrOrderIsRefused() {
        LoaderState state;
        try (DataLoader loader = loader().open()) {
            state = loader.state();
        }
        assertThrows(StateMismatchException.class, () -> loader().shuffle(43).resume(state).open());
        try (var other = new MemoryTokenStore(DType.U16, 2_001)) {
            assertThrows(StateMismatchException.class,
                    () -> DataLoader.builder(TokenWindows.of(other, LENGTH)).shuffle(42).resume(state).open());
        }
        assertThrows(StateMismatchException.class,
                () -> DataLoader.builder(TokenWindows.of(store, LENGTH, 5)).shuffle(42).resume(state).open());
    }

    @Test
    void ranksTogetherGiveEachSampleOnce() {
        for (int world = 1; world <= 7; world++) {
            List<Long> valid = new ArrayList<>();
            List<Integer> steps = new ArrayList<>();
            for (int rank = 0; rank < world; rank++) {
                try (DataLoader loader = loader().shard(new Shard(rank, world, TailPolicy.EXACT)).endEpoch(1).open()) {
                    int batches = 0;
                    for (; loader.hasNext(); batches++) {
                        try (Batch batch = loader.next()) {
                            valid.addAll(samples(batch).subList(0, batch.valid()));
                        }
                    }
                    steps.add(batches);
                }
            }
            assertEquals(IntStream.range(0, 100).mapToObj(Long::valueOf).toList(), valid.stream().sorted().toList());
            assertEquals(1, steps.stream().distinct().count(), "steps " + steps);
        }
    }

    /** Stacks, but throws for samples that it is told to. */
    private record Failing(Collator inner, LongPredicate fails) implements Collator {
        @Override
        public SlabLayout layout(Dataset dataset, int batchSize) {
            return inner.layout(dataset, batchSize);
        }

        @Override
        public void collate(BatchReader in, BatchPlan plan, Slab out) {
            for (int i = 0; i < plan.count(); i++) {
                if (fails.test(plan.sample(i))) {
                    in.locate(plan, i, 0);
                    throw new IllegalArgumentException("bad sample");
                }
            }
            inner.collate(in, plan, out);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE", "2, IN_PLACE", "0, COPY", "2, COPY"})
    void aBadSampleRaisesAtItsBatchAndNamesItAndTheLoaderGoesOn(int workers, TransferMode transfer) {
        try (DataLoader loader = DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(8).workers(workers)
                .transfer(transfer).collator(new Failing(Stack.fields(), sample -> sample == 19)).endEpoch(1).open()) {
            take(loader, 2);
            BatchException error = assertThrows(BatchException.class, loader::next);
            assertEquals(2, error.batch());
            assertEquals(0, error.epoch());
            assertEquals(19, error.sample());
            assertEquals("batch 2 of epoch 0, sample 19: bad sample", error.getMessage());
            assertInstanceOf(IllegalArgumentException.class, error.getCause());
            assertEquals(IntStream.range(24, 100).mapToObj(Long::valueOf).toList(), take(loader, 10));
        }
    }

    @ParameterizedTest
    @CsvSource({"IN_PLACE", "COPY"})
    void anInterruptEndsTheWaitAndLosesNoBatch(TransferMode transfer) throws Exception {
        var gate = new CountDownLatch(1);
        var waiting = new CountDownLatch(1);
        try (DataLoader loader = DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(8).workers(1)
                .transfer(transfer).collator(new Failing(Stack.fields(), sample -> {
                    waiting.countDown();
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return false;
                })).open()) {
            Thread trainer = Thread.currentThread();
            Thread interrupter = new Thread(() -> {
                try {
                    waiting.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                trainer.interrupt();
            });
            interrupter.start();
            assertThrows(LoaderInterruptedException.class, loader::next);
            assertTrue(Thread.interrupted());
            interrupter.join();
            gate.countDown();
            try (Batch batch = loader.next()) {
                assertEquals(0, batch.number());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE", "2, IN_PLACE", "2, COPY"})
    void closingFromAnotherThreadEndsAWaitAndFreesNothingUnderIt(int workers, TransferMode transfer) throws Exception {
        for (int round = 0; round < 50; round++) {
            var closer = new Thread[1];
            try (DataLoader loader = loader().workers(workers).prefetch(1).transfer(transfer).leases(LeaseMode.SHARED)
                    .open()) {
                int closeAt = round;
                closer[0] = new Thread(loader::close);
                assertThrows(IllegalStateException.class, () -> {
                    for (int i = 0;; i++) {
                        if (i == closeAt) {
                            closer[0].start();
                        }
                        try (Batch batch = loader.next()) {
                            assertEquals(store.token(batch.sample(0) * LENGTH), batch.tensor("tokens").getLong(0));
                        }
                    }
                });
            }
            closer[0].join();
        }
    }

    /** The reader belongs to the trainer's thread as long as it is inside the loader, whoever closes that meanwhile. */
    @ParameterizedTest
    @CsvSource({"IN_PLACE", "COPY"})
    void closingBesideATrainerThatCollatesFreesNothingUnderIt(TransferMode transfer, @TempDir Path folder)
            throws Exception {
        var collating = new CountDownLatch(1);
        Path file = Corpora.rawU16(folder, 1_001, 1);
        try (TokenStore mapped = TokenStore.open(file, "nanogpt")) {
            var closer = new Thread[1];
            DataLoader loader = DataLoader.builder(TokenWindows.of(mapped, LENGTH)).batchSize(8).workers(0)
                    .readMode(ReadMode.PREAD).transfer(transfer).leases(LeaseMode.SHARED)
                    .collator(new Failing(Stack.fields(), _ -> {
                        collating.countDown();
                        Uninterrupted.join(List.of(closer[0]));
                        return false;
                    })).open();
            closer[0] = new Thread(() -> {
                try {
                    collating.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                loader.close();
            });
            closer[0].start();
            try (Batch batch = loader.next()) {
                assertEquals(0, batch.number());
            } catch (IllegalStateException e) {
                assertEquals("the loader is closed", e.getMessage());
            }
            assertThrows(IllegalStateException.class, loader::next);
        }
    }

    @Test
    void errorsOfTheMachineReachTheTrainerToo() {
        var error = new StackOverflowError("deep");
        try (DataLoader loader = DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(8).workers(2)
                .collator(new Failing(Stack.fields(), _ -> {
                    throw error;
                })).open()) {
            assertSame(error, assertThrows(BatchException.class, loader::next).getCause());
        }
    }

    @Test
    void numbersOutOfBoundsAreRefusedWithTheReasonBeforeAnythingIsAllocated() {
        assertRefused("workers: 100000, expected 0 to 1024 (each is a thread", loader().workers(100_000));
        assertRefused("prefetch: 2147483647, expected 1 to 65536", loader().prefetch(Integer.MAX_VALUE));
        assertRefused("device slots: 2000000, expected 2 to 1024",
                loader().transfer(TransferMode.COPY).deviceSlots(2_000_000));
        Dataset wide = new ByteRows(2, 1 << 20);
        String message = assertRefused(" bytes of memory of this machine: use smaller batches",
                DataLoader.builder(wide).batchSize(1_000_000).prefetch(60_000));
        assertTrue(message.contains(" slots of 1048576000000 bytes, one batch each: found "), message);
    }

    private static String assertRefused(String text, DataLoaderBuilder settings) {
        String message = assertThrows(IllegalArgumentException.class, settings::open).getMessage();
        assertTrue(message.contains(text), message);
        return message;
    }

    @Test
    void settingsThatContradictAreRefusedBeforeAnythingIsAllocated() {
        assertThrows(IllegalArgumentException.class, () -> loader().workers(-1).open());
        assertThrows(IllegalArgumentException.class, () -> loader().prefetch(0).open());
        assertThrows(IllegalArgumentException.class, () -> loader().deviceSlots(1).open());
        assertThrows(IllegalArgumentException.class, () -> loader().batchSize(0).open());
        assertThrows(IllegalArgumentException.class, () -> loader().batchSize(200).dropLast().open());
        try (var empty = new MemoryTokenStore(DType.U16, 3)) {
            assertThrows(IllegalArgumentException.class,
                    () -> DataLoader.builder(TokenWindows.of(empty, LENGTH)).open());
        }
    }
}
