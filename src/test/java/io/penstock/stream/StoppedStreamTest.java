// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A run on 64 lanes that is stopped and resumed anywhere, each time with another number of ranks and workers, while the
 * partitions grow and one of them is silent for a while, gives each record once, in the order of a straight run.
 * {@code -Dpenstock.stops=1000} stops more often.
 */
class StoppedStreamTest {

    private static final int LANES = 64;
    /** So that some lanes have two. */
    private static final int PARTITIONS = 71;
    private static final int WINDOW = 7;
    private static final int BATCH = 8;
    private static final int MOST_RANKS = 4;

    private final NumberSource source = NumberSource.of(PARTITIONS, 0).endless();

    @Test
    void stoppedAndResumedWithOtherRanksAndWorkersARunGivesTheSameRecords() {
        stopAndResume(10, 18);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedTwoHundredTimes() {
        stopAndResume(Thorough.times("penstock.stops", 40, 200), Long.getLong("penstock.stops.seed", 19));
    }

    private void stopAndResume(int stops, long seed) {
        var random = new Random(seed);
        List<Long> given = new ArrayList<>();
        LoaderState state = null;
        for (int run = 0; run <= stops; run++) {
            int ranks = 1 << random.nextInt(3);
            int steps = random.nextInt(1, 9) * MOST_RANKS / ranks;
            int end = given.size() + steps * BATCH * ranks;
            int silent = random.nextInt(PARTITIONS);
            IntStream.range(0, PARTITIONS).filter(partition -> partition != silent)
                    .forEach(partition -> source.grow(partition, needed(end)));
            Thread grower = Thread.ofVirtual().start(() -> source.grow(silent, needed(end)));
            state = take(state, ranks, steps, random, given);
            try {
                grower.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        List<Long> straight = new ArrayList<>();
        take(null, 1, given.size() / BATCH, random, straight);
        assertEquals(straight, given, () -> "seed " + seed);
        assertEquals(given.size(), new HashSet<>(given).size());
    }

    /** The records that a partition must have so that all windows up to a place are complete. */
    private static int needed(int place) {
        return place / LANES + 2 * WINDOW;
    }

    private LoaderState take(@Nullable LoaderState from, int ranks, int steps, Random random, List<Long> to) {
        List<Long> records = new ArrayList<>(Collections.nCopies(steps * BATCH * ranks, 0L));
        List<LoaderState> states = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            try (StreamDataset stream = source.dataset().shuffle(5, WINDOW).lanes(LANES).open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(BATCH).workers(1 + random.nextInt(8))
                        .shard(new Shard(rank, ranks, TailPolicy.EXACT));
                try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
                    int at = rank;
                    for (int step = 0; step < steps; step++) {
                        try (Batch batch = loader.next()) {
                            Tensor ids = batch.tensor("id");
                            for (int row = 0; row < batch.count(); row++, at += ranks) {
                                records.set(at, NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
                            }
                        }
                    }
                    states.add(loader.state());
                }
            }
        }
        to.addAll(records);
        return LoaderState.fromJson(LoaderState.join(states).toJson());
    }
}
