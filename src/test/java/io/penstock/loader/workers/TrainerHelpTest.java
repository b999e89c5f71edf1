package io.penstock.loader.workers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.collate.Pad;
import io.penstock.collate.Stack;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.Run;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.store.TokenStore;
import io.penstock.testing.MemoryTokenStore;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The trainer's thread as one that fills: what it may fill, and that nobody sees a difference. It fills when it meets a
 * batch that is not ready, so tests in which it must go on until it has.
 */
@Tag("slow")
@Timeout(1200)
class TrainerHelpTest {

    private static final int LENGTH = 16;
    private static final long MINUTE = 60_000_000_000L;

    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, 20_001);

    @AfterEach
    void closeStore() {
        store.close();
    }

    private DataLoaderBuilder loader() {
        return DataLoader.builder(TokenWindows.of(store, LENGTH)).batchSize(24).shuffle(5);
    }

    /**
     * Beside a loader that fills everything on the trainer's thread, in lock step: whatever is done to it, batch n has
     * the number, the samples and the bytes of batch n, while it is lent and after others were taken behind it. Nothing
     * else is permitted: no batch twice, none left out, no wait that never ends.
     */
    @ParameterizedTest
    @CsvSource({"1, 1, CONFINED", "1, 16, REUSED", "2, 1, REUSED", "2, 3, CONFINED", "2, 16, SHARED", "5, 2, CONFINED"})
    void whateverTheTrainerDoesBatchesComeInOrderWithTheirOwnBytes(int workers, int prefetch, LeaseMode mode) {
        long seed = System.nanoTime();
        var random = new SplittableRandom(seed);
        try (DataLoader expected = loader().workers(0).prefetch(1).open();
                DataLoader loader = loader().workers(workers).prefetch(prefetch).leases(mode).open()) {
            Queue<Batch> held = new ArrayDeque<>();
            int batches = 0;
            for (; batches < 20_000 || loader.report().helpNanos() == 0; batches++) {
                int what = random.nextInt(400);
                if (what == 0) {
                    long epoch = random.nextLong(4);
                    expected.seek(epoch);
                    loader.seek(epoch);
                } else if (what == 1) {
                    Thread.currentThread().interrupt();
                }
                Batch batch = takeThoughInterrupted(loader);
                held.add(batch);
                try (Batch same = expected.next()) {
                    assertEquals(same.epoch() + "/" + same.indexInEpoch(), batch.epoch() + "/" + batch.indexInEpoch(),
                            "seed " + seed);
                    assertEquals(same.count(), batch.count(), "seed " + seed);
                    for (int row = 0; row < batch.count(); row++) {
                        assertEquals(same.sample(row), batch.sample(row), "seed " + seed);
                    }
                }
                while (held.size() > random.nextInt(Math.min(workers + prefetch, 4))) {
                    check(held.peek(), random.nextInt(17), seed);
                    held.remove().close();
                }
            }
            held.forEach(Batch::close);
            assertEquals(0, expected.report().helpNanos());
        }
    }

    private static Batch takeThoughInterrupted(DataLoader loader) {
        try {
            return loader.next();
        } catch (LoaderInterruptedException e) {
            assertTrue(Thread.interrupted());
            return loader.next();
        } finally {
            Thread.interrupted();
        }
    }

    private void check(Batch batch, int column, long seed) {
        Tensor tokens = batch.tensor("tokens");
        assertEquals(batch.count(), tokens.dim(0));
        for (int row = 0; row < batch.count(); row++) {
            assertEquals(store.token(batch.sample(row) * LENGTH + column),
                    tokens.getLong(row * (LENGTH + 1L) + column), "seed " + seed);
        }
    }

    /** Either the loop ends with the error that says so, or with one more batch before it; nothing is left running. */
    @ParameterizedTest
    @CsvSource({"1", "2", "4"})
    void closingBesideATrainerThatFillsFreesNothingUnderIt(int workers) throws InterruptedException {
        for (int round = 0; round < 60; round++) {
            DataLoader loader = loader().workers(workers).name("closed-beside").leases(LeaseMode.SHARED).open();
            int pause = round;
            Thread closer = new Thread(() -> {
                long end = System.nanoTime() + pause * 50_000L;
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                loader.close();
            });
            closer.start();
            IllegalStateException end = assertThrows(IllegalStateException.class, () -> {
                while (true) {
                    try (Batch batch = loader.next()) {
                        check(batch, LENGTH, 0);
                    }
                }
            });
            assertTrue(end.getMessage().contains("closed"), end.getMessage());
            closer.join();
        }
        assertEquals(0, Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("closed-beside")).count());
    }

    /** Documents of ten tokens, one of which cannot be read. */
    private record Torn(MemoryTokenStore store, long torn) implements TokenStore {
        @Override
        public void locate(long firstToken, long tokens, Span into) {
            if (firstToken == torn * 10) {
                throw new IllegalStateException("torn");
            }
            store.locate(firstToken, tokens, into);
        }

        @Override
        public DType dtype() {
            return store.dtype();
        }

        @Override
        public long tokenCount() {
            return store.tokenCount();
        }

        @Override
        public long documentCount() {
            return store.documentCount();
        }

        @Override
        public long documentStart(long document) {
            return store.documentStart(document);
        }

        @Override
        public String fingerprint() {
            return store.fingerprint();
        }

        @Override
        public void close() {
            // Not the owner.
        }
    }

    @Test
    void aBatchThatCannotBeMadeFailsAtItsTurnWhoeverFilledIt() {
        long[] starts = LongStream.rangeClosed(0, 100).map(d -> d * 10).toArray();
        try (var documents = new MemoryTokenStore(DType.U16, starts);
                DataLoader loader = DataLoader.builder(Documents.of(new Torn(documents, 42))).batchSize(5).workers(2)
                        .collator(Pad.toLongest(TokenWidth.I64, 0)).open()) {
            int epochs = 0;
            for (; epochs < 2_000 || loader.report().helpNanos() == 0; epochs++) {
                for (int index = 0; index < 20; index++) {
                    if (index == 8) {
                        BatchException error = assertThrows(BatchException.class, loader::next);
                        assertEquals(42, error.sample());
                        assertEquals(20L * epochs + 8, error.batch());
                    } else {
                        try (Batch batch = loader.next()) {
                            assertEquals(index, batch.indexInEpoch());
                            assertEquals(5L * index, batch.sample(0));
                            assertEquals(documents.token(50L * index), batch.tensor("input_ids").getLong(0));
                        }
                    }
                }
            }
        }
    }

    /** Stacks, and notes on which thread. */
    private record Noting(Set<Thread> threads) implements Collator {
        @Override
        public SlabLayout layout(Dataset dataset, int batchSize) {
            return new Stack().layout(dataset, batchSize);
        }

        @Override
        public void collate(BatchReader in, BatchPlan plan, Slab out) {
            threads.add(Thread.currentThread());
            new Stack().collate(in, plan, out);
        }
    }

    @Test
    void usersCodeRunsOnWorkersAlone() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Dataset windows = TokenWindows.of(store, LENGTH);
        Dataset mapped = windows.map("tokens", new TensorSpec("tokens", DType.U16, LENGTH + 1), "note",
                (in, random, out) -> {
                    threads.add(Thread.currentThread());
                    out.segment().copyFrom(in.segment());
                });
        for (DataLoaderBuilder settings : new DataLoaderBuilder[] {
            DataLoader.builder(windows).collator(new Noting(threads)),
            DataLoader.builder(windows).collator(CausalLm.narrow().then((_, _) -> threads.add(Thread.currentThread()))),
            DataLoader.builder(mapped)}) {
            threads.clear();
            try (DataLoader loader = settings.batchSize(4).workers(2).open()) {
                for (int i = 0; i < 20_000; i++) {
                    loader.next().close();
                }
                assertEquals(0, loader.report().helpNanos());
            }
            assertFalse(threads.isEmpty());
            assertFalse(threads.contains(Thread.currentThread()));
        }
    }

    /** 16 MiB are not copied in 50 microseconds. */
    @Test
    void slowBatchesAreLeftToWorkers() {
        try (var large = new MemoryTokenStore(DType.U16, 1 << 23);
                DataLoader loader = DataLoader.builder(TokenWindows.of(large, 1 << 18)).batchSize(31).workers(2)
                        .prefetch(1).open()) {
            for (int i = 0; i < 60; i++) {
                loader.next().close();
            }
            assertEquals(0, loader.report().helpNanos());
        }
    }

    private static final class EndlessRun extends Run {

        EndlessRun() {
            super(0);
        }

        @Override
        public boolean has(long number) {
            return true;
        }

        @Override
        public boolean isFirst(long sequence) {
            return sequence == 0;
        }
    }

    /** A worker for which there is no processor lets the trainer's thread fill, and is back when that has stopped. */
    @Test
    void aWorkerStandsBackAsLongAsTheTrainerFillsInItsPlace() {
        var run = new EndlessRun();
        var looks = new AtomicLong();
        var standby = new Standby(() -> Math.min(looks.incrementAndGet(), 20) * MINUTE, new LoaderFailure(),
                System::nanoTime);
        long begin = System.nanoTime();
        assertEquals(begin, standby.standBack(run, begin), "what was filled before it first looked is long ago");
        standby.standBack(run, begin + Standby.LOOK_NANOS);
        assertEquals(21, looks.get(), "it looked, paused, and looked again until the trainer had filled no more");
        long now = System.nanoTime();
        assertEquals(now, standby.standBack(run, now), "it looks now and then, not at every batch");
        assertEquals(21, looks.get());
        assertEquals(now + MINUTE, standby.standBack(run, now + MINUTE));
        assertEquals(22, looks.get());
    }

    @Test
    void aWorkerThatStandsBackIsBackWhenItsRunIsCancelled() throws InterruptedException {
        var run = new EndlessRun();
        var looks = new AtomicLong();
        var standby = new Standby(() -> looks.incrementAndGet() * MINUTE, new LoaderFailure(),
                System::nanoTime);
        long begin = System.nanoTime();
        standby.standBack(run, begin);
        Thread worker = Thread.ofPlatform().start(() -> standby.standBack(run, begin + Standby.LOOK_NANOS));
        while (looks.get() < 10 && worker.isAlive()) {
            Thread.onSpinWait();
        }
        assertTrue(worker.isAlive());
        run.cancel();
        standby.wake();
        worker.join();
    }
}
