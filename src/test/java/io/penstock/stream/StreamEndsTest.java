// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Pad;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Permutation;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.testing.Thorough;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The end of a stream: of lanes that are not equally long, and of ranks that do not divide what is left. */
class StreamEndsTest {

    /** What ranks were given together, in the order of their positions, and how many of it counts. */
    private record Given(List<Long> rows, int valid, LoaderState state) { }

    /** The order that the specification promises, made in the plainest way. */
    private static List<Long> order(int[] sizes, int lanes, int window, long seed) {
        List<Queue<Long>> ordered = new ArrayList<>();
        for (int lane = 0; lane < lanes; lane++) {
            List<Long> merged = new ArrayList<>();
            for (int n = 0; n < 1000; n++) {
                for (int partition = lane; partition < sizes.length; partition += lanes) {
                    if (n < sizes[partition]) {
                        merged.add(NumberSource.id(partition, n));
                    }
                }
            }
            Queue<Long> places = new ArrayDeque<>();
            for (int from = 0; from < merged.size(); from += window) {
                int count = Math.min(window, merged.size() - from);
                var permutation = new Permutation(count, seed, (long) from * lanes + lane);
                for (int i = 0; i < count; i++) {
                    places.add(merged.get(from + (int) permutation.at(i)));
                }
            }
            ordered.add(places);
        }
        List<Long> order = new ArrayList<>();
        while (ordered.stream().anyMatch(places -> !places.isEmpty())) {
            ordered.stream().filter(places -> !places.isEmpty()).forEach(places -> order.add(places.remove()));
        }
        return order;
    }

    private static long id(Batch batch, int row) {
        Tensor ids = batch.tensor(batch.fields().getFirst().name());
        return NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1));
    }

    /** Takes batches on all ranks, at most so many, and checks that ranks agree on how many there are. */
    private static Given take(List<DataLoader> ranks, int most) {
        List<List<Long>> rows = new ArrayList<>();
        int valid = 0;
        List<LoaderState> states = new ArrayList<>();
        List<List<Integer>> counts = new ArrayList<>();
        for (DataLoader rank : ranks) {
            List<Long> of = new ArrayList<>();
            List<Integer> sizes = new ArrayList<>();
            while (sizes.size() < most && rank.hasNext()) {
                try (Batch batch = rank.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        of.add(id(batch, row));
                    }
                    valid += batch.valid();
                    sizes.add(batch.count());
                }
            }
            rows.add(of);
            counts.add(sizes);
            states.add(LoaderState.fromJson(rank.state().toJson()));
        }
        assertEquals(1, new HashSet<>(counts).size(), () -> "ranks have other steps: " + counts);
        assertEquals(1, new HashSet<>(states).size(), states::toString);
        List<Long> all = new ArrayList<>();
        for (int step = 0; step < rows.getFirst().size(); step++) {
            for (List<Long> of : rows) {
                all.add(of.get(step));
            }
        }
        return new Given(all, valid, states.getFirst());
    }

    private static Given take(StreamDataset.Builder settings, @Nullable LoaderState from, int world, int batchSize,
            TailPolicy tail, boolean dropsLast, int most, int workers) {
        List<StreamDataset> streams = new ArrayList<>();
        List<DataLoader> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < world; rank++) {
                StreamDataset stream = settings.open();
                streams.add(stream);
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(batchSize).workers(workers)
                        .shard(new Shard(rank, world, tail));
                if (from != null) {
                    builder.resume(from);
                }
                ranks.add((dropsLast ? builder.dropLast() : builder).open());
            }
            return take(ranks, most);
        } finally {
            ranks.forEach(DataLoader::close);
            streams.forEach(StreamDataset::close);
        }
    }

    @Test
    void stoppedAndResumedWithOtherRanksARunGivesEachRecordOnceInItsOrder() {
        stopAndResume(12, 3);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedOften() {
        stopAndResume(Thorough.times(40, 150), Long.getLong("penstock.stops.seed", 4));
    }

    private static void stopAndResume(int runs, long seed) {
        for (int run = 0; run < runs; run++) {
            var random = new Random(seed + run);
            int lanes = 1 + random.nextInt(4);
            int[] sizes = IntStream.range(0, lanes + random.nextInt(3))
                    .map(_ -> random.nextInt(4) == 0 ? 0 : random.nextInt(40)).toArray();
            int window = 1 + random.nextInt(12);
            List<Long> straight = order(sizes, lanes, window, seed);
            StreamDataset.Builder settings = new NumberSource(sizes).dataset().shuffle(seed, window).lanes(lanes);
            StringBuilder log = new StringBuilder("seed " + (seed + run) + ", lanes " + lanes);
            List<Long> pieces = new ArrayList<>();
            LoaderState state = null;
            for (int piece = 0; pieces.size() < straight.size(); piece++) {
                assertTrue(piece < 100, "the end is never reached: " + log);
                int world = lanes == 1 ? 1 + random.nextInt(4) : 1;
                int batchSize = 1 + random.nextInt(5);
                log.append(", ").append(world).append('x').append(batchSize);
                Given given = take(settings, state, world, batchSize, TailPolicy.EXACT, false, random.nextInt(4),
                        random.nextInt(3));
                state = given.state;
                assertTrue(given.rows.size() - given.valid < world, log.toString());
                pieces.addAll(given.rows.subList(0, given.valid));
                assertEquals(straight.subList(0, pieces.size()), pieces, log.toString());
                assertEquals(pieces.size(), state.position(), log.toString());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLastStepOfRanksFollowsTheTailPolicy(TailPolicy tail) {
        for (int records = 1; records <= 17; records++) {
            List<Long> straight = new NumberSource(records).merged();
            for (int world = 1; world <= 5; world++) {
                Given given = take(new NumberSource(records).dataset(), null, world, 3, tail, false, 100, 1);
                int steps = tail == TailPolicy.DROP ? records / world : Math.ceilDiv(records, world);
                int there = Math.min(records, steps * world);
                assertEquals(steps * world, given.rows.size());
                assertEquals(straight.subList(0, there), given.rows.subList(0, there));
                for (int surplus = there; surplus < steps * world; surplus++) {
                    int step = (steps - 1) * world;
                    assertEquals(straight.get(step + surplus % world % (records - step)), given.rows.get(surplus));
                }
                assertEquals(tail == TailPolicy.EXACT ? records : steps * world, given.valid);
                assertEquals(there, given.state.position());
            }
        }
    }

    @Test
    void aBatchThatIsNotFullIsDroppedOnEveryRank() {
        Given given = take(new NumberSource(21).dataset(), null, 2, 4, TailPolicy.EXACT, true, 100, 1);
        assertEquals(16, given.valid);
        assertEquals(16, given.state.position());
        given = take(new NumberSource(23).dataset(), null, 2, 4, TailPolicy.EXACT, true, 100, 1);
        assertEquals(23, given.valid);
        assertEquals(24, given.rows.size());
    }

    @Test
    void whatFollowsAnEndWithinAStepIsGivenOnceTheSourceHasGrown() {
        var source = new NumberSource(7);
        Given first = take(source.dataset(), null, 4, 2, TailPolicy.EXACT, false, 100, 1);
        source.grow(0, 20);
        Given second = take(source.dataset(), first.state, 3, 2, TailPolicy.EXACT, false, 100, 1);
        List<Long> all = new ArrayList<>(first.rows.subList(0, first.valid));
        all.addAll(second.rows.subList(0, second.valid));
        assertEquals(source.merged(), all);
    }

    @Test
    void anEpochThatAResumedRunDoesNotDivideEndsByTheTailPolicyToo() {
        StreamDataset.Builder settings = new NumberSource(28).dataset().epochRecords(12);
        Given first = take(settings, null, 1, 5, TailPolicy.EXACT, false, 1, 1);
        Given second = take(settings, first.state, 2, 4, TailPolicy.EXACT, false, 100, 1);
        assertEquals(23, second.valid);
        assertEquals(24, second.rows.size());
        assertEquals(28, 12 * second.state.epoch() + second.state.position());
    }

    @ParameterizedTest
    @CsvSource({"PAD, PADDED", "PAD, SUM", "DROP, PADDED", "DROP, SUM", "EXACT, PADDED", "EXACT, SUM"})
    void batchesByABudgetEndByTheTailPolicyToo(TailPolicy tail, TokenBudget.Cost cost) {
        for (int records = 1; records <= 13; records++) {
            for (int world = 1; world <= 4; world++) {
                List<StreamDataset> streams = new ArrayList<>();
                List<DataLoader> ranks = new ArrayList<>();
                for (int rank = 0; rank < world; rank++) {
                    StreamDataset stream = StreamDataset.builder(new NumberSource(records))
                            .list("id", DType.I64, 2).open();
                    streams.add(stream);
                    ranks.add(DataLoader.builder(stream).collator(Pad.toLongest(DType.I64, 0)).workers(1)
                            .shard(new Shard(rank, world, tail))
                            .tokenBudget(new TokenBudget(7, 10, 1, cost), stream.lengths("id")).open());
                }
                Given given = take(ranks, 100);
                ranks.forEach(DataLoader::close);
                streams.forEach(StreamDataset::close);
                int steps = tail == TailPolicy.DROP ? records / world : Math.ceilDiv(records, world);
                int there = Math.min(records, steps * world);
                assertEquals(steps * world, given.rows.size());
                assertEquals(new NumberSource(records).merged().subList(0, there), given.rows.subList(0, there));
                assertEquals(tail == TailPolicy.EXACT ? there : steps * world, given.valid);
                assertEquals(there, given.state.position());
            }
        }
    }

    @Test
    void lanesThatHadEndedAndHaveMoreTakeTheirTurnsAgain() {
        var source = new NumberSource(2, 9, 4);
        StreamDataset.Builder settings = source.dataset().shuffle(5, 3).lanes(3);
        for (int batches = 1; batches <= 7; batches++) {
            Given first = take(settings, null, 1, 2, TailPolicy.EXACT, false, batches, 1);
            LoaderState state = LoaderState.fromJson(first.state.toJson());
            var grown = new NumberSource(8, 12, 8);
            Given second = take(grown.dataset().shuffle(5, 3).lanes(3), state, 1, 4, TailPolicy.EXACT, false, 100, 1);
            List<Long> all = new ArrayList<>(first.rows);
            all.addAll(second.rows);
            assertEquals(28, all.size(), state.toJson());
            assertEquals(new HashSet<>(grown.merged()), new HashSet<>(all), state.toJson());
        }
    }

    @Test
    void aStateWhoseLanesDoNotAgreeIsRefused() {
        StreamDataset.Builder settings = new NumberSource(2, 9).dataset().lanes(2);
        String text = take(settings, null, 1, 3, TailPolicy.EXACT, false, 2, 1).state.toJson();
        assertTrue(text.contains("\"place\":2,\"after\":0") && text.contains("\"place\":4,\"after\":1"), text);
        for (String other : List.of(text.replace("\"place\":2,", "\"place\":1,"),
                text.replace("\"place\":2,\"after\":0", "\"place\":2,\"after\":1"),
                text.replace("\"place\":2,\"after\":0", "\"place\":2,\"after\":2"))) {
            assertThrows(IllegalArgumentException.class, () -> take(settings, LoaderState.fromJson(other), 1, 3,
                    TailPolicy.EXACT, false, 1, 1));
        }
        assertThrows(IllegalArgumentException.class, () -> LoaderState.fromJson(text.replace("\"after\":0,", "")));
    }

    @ParameterizedTest
    @CsvSource({"10, 7", "8, 8", "0, 5"})
    void aLaneThatEndsOnOneOfSeveralRanksIsAnErrorThatLeavesAStateForOneRank(int first, int second) {
        var source = new NumberSource(first, second);
        List<Long> given = new ArrayList<>();
        List<LoaderState> states = new ArrayList<>();
        int steps = Math.min(first, second) / 2;
        for (int rank = 0; rank < 2; rank++) {
            try (StreamDataset stream = source.dataset().lanes(2).open();
                    DataLoader loader = DataLoader.builder(stream).batchSize(2).workers(1)
                            .shard(new Shard(rank, 2, TailPolicy.EXACT)).open()) {
                for (int step = 0; step < steps; step++) {
                    try (Batch batch = loader.next()) {
                        given.add(id(batch, 0));
                        given.add(id(batch, 1));
                    }
                }
                states.add(loader.state());
                var ended = assertThrows(LaneEndException.class, () -> {
                    while (loader.hasNext()) {
                        loader.next().close();
                    }
                });
                assertTrue(ended.what().startsWith("lane " + rank + " has ended at record "), ended.what());
                assertFalse(loader.state().lanes().isEmpty());
            }
        }
        Given rest = take(source.dataset().lanes(2), LoaderState.join(states), 1, 3, TailPolicy.EXACT, false, 100, 1);
        given.addAll(rest.rows);
        assertEquals(first + second, given.size());
        assertEquals(new HashSet<>(source.merged()), new HashSet<>(given));
    }
}
