// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Pad;
import io.penstock.decode.Decoder;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.state.StateMismatchException;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The order of a stream, its state, and what happens at its ends. */
class StreamDatasetTest {

    private static DataLoaderBuilder loader(StreamDataset stream, int batchSize, int workers) {
        return DataLoader.builder(stream).batchSize(batchSize).workers(workers);
    }

    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor ids = batch.tensor(batch.fields().getFirst().name());
            for (int row = 0; row < batch.valid(); row++) {
                to.add(NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
            }
        }
    }

    private static List<Long> all(DataLoader loader) {
        List<Long> ids = new ArrayList<>();
        for (Batch batch : loader.epoch()) {
            add(batch, ids);
        }
        return ids;
    }

    private static List<Long> all(StreamDataset.Builder settings, int batchSize, int workers) {
        try (StreamDataset stream = settings.open(); DataLoader loader = loader(stream, batchSize, workers).open()) {
            return all(loader);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 7", "2, 32", "4, 5"})
    void partitionsAreReadByTurnsUntilEachHasEnded(int workers, int batchSize) {
        var source = new NumberSource(100, 7, 0, 61);
        assertEquals(source.merged(), all(source.dataset(), batchSize, workers));
        assertEquals(0, source.open.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 64, 1000})
    void aShuffledWindowHasTheRecordsOfTheWindowInAnotherOrder(int window) {
        var source = new NumberSource(150, 150);
        List<Long> plain = source.merged();
        List<Long> shuffled = all(source.dataset().shuffle(42, window), 8, 2);
        assertEquals(plain.size(), shuffled.size());
        for (int from = 0; from < plain.size(); from += window) {
            int to = Math.min(plain.size(), from + window);
            assertEquals(new HashSet<>(plain.subList(from, to)), new HashSet<>(shuffled.subList(from, to)));
        }
        if (window > 1) {
            assertNotEquals(plain, shuffled);
            assertNotEquals(shuffled, all(source.dataset().shuffle(43, window), 8, 2));
        }
        assertEquals(shuffled, all(source.dataset().shuffle(42, window), 31, 1));
    }

    @Test
    void stoppedAndResumedAnywhereWithOtherWorkersAndBatchesTheOrderIsTheSame() {
        stopAndResume(20, 5);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedTwoHundredTimes() {
        stopAndResume(200, 6);
    }

    private static void stopAndResume(int stops, long seed) {
        var source = NumberSource.of(5, 4 * stops + 13);
        for (boolean isShuffled : new boolean[] {false, true}) {
            List<Long> straight = all(settings(source, isShuffled), 16, 2);
            var random = new Random(seed);
            List<Long> pieces = new ArrayList<>();
            LoaderState state = null;
            for (int run = 0; pieces.size() < straight.size(); run++) {
                assertTrue(run < 100 * stops, "the end is never reached");
                try (StreamDataset stream = settings(source, isShuffled).open()) {
                    DataLoaderBuilder builder = loader(stream, 1 + random.nextInt(20), random.nextInt(5));
                    builder.transfer(random.nextBoolean() ? TransferMode.COPY : TransferMode.IN_PLACE);
                    if (state != null) {
                        builder.resume(LoaderState.fromJson(state.toJson()));
                    }
                    try (DataLoader loader = builder.open()) {
                        int batches = random.nextInt(4);
                        for (int i = 0; i < batches && loader.hasNext(); i++) {
                            add(loader.next(), pieces);
                        }
                        state = loader.state();
                    }
                }
            }
            assertEquals(straight, pieces);
        }
    }

    private static StreamDataset.Builder settings(NumberSource source, boolean isShuffled) {
        return isShuffled ? source.dataset().shuffle(7, 37) : source.dataset();
    }

    @ParameterizedTest
    @CsvSource({"1, 64, true", "64, 64, true", "64, 64, false", "8, 19, true"})
    void ranksThatChangeAtAStateTakeEachRecordOnce(int lanes, int partitions, boolean isShuffled) {
        var source = NumberSource.of(partitions, 5000 / partitions).endless();
        int records = 2048;
        List<Long> straight = take(source, lanes, isShuffled, List.of(1), records);
        assertEquals(records, new HashSet<>(straight).size());
        assertEquals(straight, take(source, lanes, isShuffled, List.of(2, 4, 1, 4, 2), records));
    }

    /** Takes records by runs with so many ranks, each of which goes on where the one before stopped. */
    private static List<Long> take(NumberSource source, int lanes, boolean isShuffled, List<Integer> worlds,
            int records) {
        List<Long> given = new ArrayList<>();
        LoaderState state = null;
        int batchSize = 4;
        for (int run = 0; run < worlds.size(); run++) {
            int world = worlds.get(run);
            int steps = records / worlds.size() / (batchSize * 4) * 4 / world;
            if (run == worlds.size() - 1) {
                steps = (records - given.size()) / (batchSize * world);
            }
            List<List<Long>> ranks = new ArrayList<>();
            List<LoaderState> states = new ArrayList<>();
            for (int rank = 0; rank < world; rank++) {
                try (StreamDataset stream = settings(source, isShuffled).lanes(lanes).open()) {
                    DataLoaderBuilder builder = loader(stream, batchSize, 1)
                            .shard(new Shard(rank, world, TailPolicy.EXACT));
                    if (state != null) {
                        builder.resume(state);
                    }
                    List<Long> ids = new ArrayList<>();
                    try (DataLoader loader = builder.open()) {
                        for (int step = 0; step < steps; step++) {
                            add(loader.next(), ids);
                        }
                        states.add(loader.state());
                    }
                    ranks.add(ids);
                }
            }
            for (int i = 0; i < steps * batchSize * world; i++) {
                given.add(ranks.get(i % world).get(i / world));
            }
            state = LoaderState.join(states);
        }
        return given;
    }

    @Test
    void aRankReadsOnlyThePartitionsOfItsLanes() {
        var source = NumberSource.of(6, 50).endless();
        try (StreamDataset stream = source.dataset().lanes(6).open();
                DataLoader loader = loader(stream, 2, 0).shard(new Shard(1, 3, TailPolicy.EXACT)).open()) {
            loader.next().close();
            assertEquals(2, source.open.get());
            assertEquals(List.of(1, 4), loader.state().lanes().stream().map(lane -> lane.lane()).toList());
        }
    }

    @Test
    void aPartitionThatHasNothingYetIsWaitedFor() throws Exception {
        var source = new NumberSource(3, 1).endless();
        try (StreamDataset stream = source.dataset().open(); DataLoader loader = loader(stream, 1, 1).open()) {
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                add(loader.next(), ids);
            }
            var fourth = new FutureTask<>(() -> {
                add(loader.next(), ids);
                return loader.hasNext();
            });
            Thread.ofVirtual().start(fourth);
            source.grow(1, 2);
            source.end();
            assertTrue(fourth.get());
            add(loader.next(), ids);
            assertFalse(loader.hasNext());
            assertEquals(source.merged(), ids);
        }
    }

    @ParameterizedTest
    @CsvSource({"6, 5, 1", "5, 9, 0", "0, 7, 0"})
    void theOtherLanesGoOnWhereOneHasEndedAndAreWaitedFor(int first, int second, int ending) throws Exception {
        var source = new NumberSource(first, second).endlessBut(ending);
        try (StreamDataset stream = source.dataset().lanes(2).open();
                DataLoader loader = loader(stream, 3, 1).open()) {
            var all = new FutureTask<>(() -> all(loader));
            Thread.ofVirtual().start(all);
            source.grow(1 - ending, 20);
            source.end();
            assertEquals(source.merged(), all.get());
            assertEquals(source.merged().size(), loader.state().position());
        }
    }

    @Test
    void closingTheLoaderEndsAWaitForRecords() throws Exception {
        var source = new NumberSource(0).endless();
        StreamDataset stream = source.dataset().open();
        DataLoader loader = loader(stream, 1, 1).open();
        var started = new CountDownLatch(1);
        var waiting = new FutureTask<>(() -> {
            started.countDown();
            return assertThrows(IllegalStateException.class, loader::next);
        });
        new Thread(waiting).start();
        started.await();
        loader.close();
        assertTrue(waiting.get().getMessage().contains("closed"), waiting.get().getMessage());
        stream.close();
        stream.close();
        assertEquals(0, source.open.get());
    }

    @Test
    void closingTheStreamBeforeItsLoaderIsAnError() {
        for (int round = 0; round < 10; round++) {
            StreamDataset stream = NumberSource.of(3, 100_000).dataset().shuffle(1, 64).open();
            try (DataLoader loader = loader(stream, 16, 3).open()) {
                for (int i = 0; i < round * 5; i++) {
                    loader.next().close();
                }
                stream.close();
                assertThrows(RuntimeException.class, () -> {
                    for (int i = 0; i < 1000; i++) {
                        loader.next().close();
                    }
                });
            }
        }
    }

    @Test
    void whatFollowsARunThatReachedTheEndIsGivenOnceTheSourceHasGrown() {
        var source = new NumberSource(10, 10);
        List<Long> ids = new ArrayList<>();
        LoaderState state;
        try (StreamDataset stream = source.dataset().shuffle(1, 8).open();
                DataLoader loader = loader(stream, 16, 1).open()) {
            loader.epoch().forEach(batch -> add(batch, ids));
            state = loader.state();
            assertEquals(20, state.position());
        }
        source.grow(0, 30);
        source.grow(1, 15);
        try (StreamDataset stream = source.dataset().shuffle(1, 8).open();
                DataLoader loader = loader(stream, 16, 1).resume(state).open()) {
            loader.epoch().forEach(batch -> add(batch, ids));
        }
        assertEquals(new HashSet<>(source.merged()), new HashSet<>(ids));
        assertEquals(45, ids.size());
    }

    @Test
    void epochsOfAStreamFollowEachOther() {
        var source = NumberSource.of(2, 25);
        try (StreamDataset stream = source.dataset().epochRecords(20).open();
                DataLoader loader = loader(stream, 8, 2).open()) {
            List<Long> ids = new ArrayList<>();
            List<Integer> sizes = new ArrayList<>();
            for (int epoch = 0; loader.hasNext(); epoch++) {
                assertEquals(epoch, loader.currentEpoch());
                for (Batch batch : loader.epoch()) {
                    sizes.add(batch.count());
                    add(batch, ids);
                }
            }
            assertEquals(source.merged(), ids);
            assertEquals(List.of(8, 8, 4, 8, 8, 4, 8, 2), sizes);
        }
    }

    @Test
    void dropLastLeavesOutTheSmallerLastBatch() {
        var source = new NumberSource(21);
        try (StreamDataset stream = source.dataset().open();
                DataLoader loader = loader(stream, 8, 1).dropLast().open()) {
            assertEquals(source.merged().subList(0, 16), all(loader));
        }
    }

    @Test
    void aLoaderSeeksToASavedStateAndToTheStartAndNowhereElse() {
        var source = NumberSource.of(3, 40);
        try (StreamDataset stream = source.dataset().shuffle(3, 16).open();
                DataLoader loader = loader(stream, 8, 2).open()) {
            loader.next().close();
            LoaderState saved = loader.state();
            List<Long> rest = all(loader);
            loader.seek(saved);
            assertEquals(rest, all(loader));
            loader.seek(0);
            assertEquals(120, all(loader).size());
            var nowhere = new LoaderState(0, 8, saved.seed(), saved.sampler(), saved.dataset());
            var refused = assertThrows(IllegalArgumentException.class, () -> loader.seek(nowhere));
            assertTrue(refused.getMessage().contains("a stream has no index"), refused.getMessage());
            loader.seek(saved);
            assertEquals(rest, all(loader));
        }
    }

    @Test
    void aStateOfOtherPartitionsOrAnotherShuffleIsRefused() {
        LoaderState saved;
        try (StreamDataset stream = NumberSource.of(3, 40).dataset().shuffle(3, 16).open();
                DataLoader loader = loader(stream, 8, 0).open()) {
            loader.next().close();
            saved = loader.state();
        }
        for (StreamDataset.Builder other : List.of(NumberSource.of(2, 40).dataset().shuffle(3, 16),
                NumberSource.of(3, 40).dataset().shuffle(4, 16), NumberSource.of(3, 40).dataset().shuffle(3, 17),
                NumberSource.of(3, 40).dataset().shuffle(3, 16).lanes(3))) {
            try (StreamDataset stream = other.open()) {
                assertThrows(StateMismatchException.class, () -> loader(stream, 8, 0).resume(saved).open());
            }
        }
    }

    @Test
    void aSourceThatFailsIsNamedToTheTrainer() {
        var source = NumberSource.of(2, 100).failingAt(40);
        try (StreamDataset stream = source.dataset().open(); DataLoader loader = loader(stream, 8, 1).open()) {
            RuntimeException failed = assertThrows(RuntimeException.class, () -> all(loader));
            assertTrue(failed.getMessage().contains("record 40: the wire is cut"), failed.getMessage());
        }
        assertEquals(0, source.open.get());
    }

    @Test
    void recordsThatTakeTooMuchMemoryAreRefused() {
        var source = NumberSource.of(1, 1000);
        try (StreamDataset stream = source.dataset().shuffle(1, 500).maxBytes(4000).open();
                DataLoader loader = loader(stream, 8, 0).open()) {
            RuntimeException refused = assertThrows(RuntimeException.class, loader::next);
            assertTrue(refused.getMessage().contains("expected at most 4000"), refused.getMessage());
        }
    }

    @Test
    void aBadRecordLosesItsWeightWhoeverReadsIt() {
        var source = NumberSource.of(1, 30);
        List<Long> good = source.merged().stream().filter(id -> id % 7 != 3).toList();
        for (int batchSize : new int[] {4, 9}) {
            try (StreamDataset stream = StreamDataset.builder(source)
                    .field("id", new PickyDecoder(), 1).open();
                    DataLoader loader = loader(stream, batchSize, 2).onBadSample(BadSamplePolicy.SKIP).open()) {
                assertEquals(good, all(loader));
            }
        }
        try (StreamDataset stream = StreamDataset.builder(source).field("id", new PickyDecoder(), 1).open()) {
            assertThrows(IllegalArgumentException.class,
                    () -> loader(stream, 4, 0).onBadSample(BadSamplePolicy.REPLACE).open());
            try (DataLoader loader = loader(stream, 4, 0).open()) {
                assertThrows(BatchException.class, loader::next);
            }
        }
    }

    @Test
    void aBadRecordLosesItsWeightInABatchByABudgetToo() {
        var source = NumberSource.of(1, 30);
        List<Long> good = source.merged().stream().filter(id -> id % 7 != 3).toList();
        try (StreamDataset stream = StreamDataset.builder(source).field("id", new PickyLists(), 2).open()) {
            DataLoaderBuilder builder = DataLoader.builder(stream).collator(Pad.toLongest(DType.I64, 0)).workers(2)
                    .onBadSample(BadSamplePolicy.SKIP);
            try (DataLoader loader = builder.tokenBudget(TokenBudget.padded(10), _ -> 2).open()) {
                assertEquals(good, all(loader));
            }
            try (DataLoader loader = builder.tokenBudget(TokenBudget.sum(10), _ -> 2).open()) {
                List<Long> given = new ArrayList<>();
                for (Batch batch : loader.epoch()) {
                    assertEquals(5, batch.count() + batch.replaced());
                    assertEquals(batch.count(), batch.valid());
                    add(batch, given);
                }
                assertEquals(good, given);
                assertEquals(30, loader.state().position());
            }
        }
    }

    /** What {@link PickyDecoder} gives, as lists. */
    private record PickyLists() implements Decoder {

        @Override
        public TensorSpec field(Column column) {
            return new TensorSpec(column.name(), DType.I64, TensorSpec.VARIABLE);
        }

        @Override
        public Session open() {
            return new PickyDecoder().open();
        }
    }

    @Test
    void whatNeedsAnIndexIsRefused() {
        try (StreamDataset stream = NumberSource.of(2, 10).dataset().open()) {
            for (Runnable each : List.<Runnable>of(() -> stream.filter("all", _ -> true), () -> stream.select(1),
                    () -> stream.concat(stream), () -> loader(stream, 1, 0).shuffle(1).open(),
                    () -> loader(stream, 1, 0).sampler(Sampler.sequential(1L << 62)).open())) {
                assertThrows(IllegalArgumentException.class, each::run);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> NumberSource.of(2, 10).dataset().lanes(3));
        assertThrows(IllegalArgumentException.class,
                () -> NumberSource.of(2, 10).dataset().lanes(2).epochRecords(3).open());
        assertThrows(IllegalArgumentException.class, () -> StreamDataset.builder(new NumberSource(1)).open());
    }
}
