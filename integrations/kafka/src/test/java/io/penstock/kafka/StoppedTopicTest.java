// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.stream.StreamDataset;
import io.penstock.stream.StreamSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run over a topic that grows, stopped and resumed with other ranks and workers, with a broker that is killed and
 * started again in the middle, gives each record once, in the order of a straight run.
 * {@code -Dpenstock.stops=200 -Dpenstock.lanes=64} stops more often, on more lanes.
 */
class StoppedTopicTest {

    private static final int STOPS = Integer.getInteger("penstock.stops", 6);
    private static final int LANES = Integer.getInteger("penstock.lanes", 8);
    private static final long SEED = Long.getLong("penstock.stops.seed", 18);
    private static final int WINDOW = 20;
    private static final int BATCH = 8;
    private static final int MOST_RANKS = 4;
    private static final int MOST_STEPS = 8;
    private static final int BYTES = 64;

    @TempDir
    private Path folder;

    @Test
    void stoppedAndResumedThroughARestartOfTheBrokerARunGivesTheSameRecords() throws Exception {
        int each = (STOPS + 1) * MOST_STEPS * MOST_RANKS * BATCH / LANES + 3 * WINDOW;
        try (Broker broker = Broker.start(folder)) {
            broker.create("stopped", LANES);
            Messages.write(broker, "stopped", LANES, 0, each / 2, BYTES);
            StreamSource source = KafkaSource.builder(broker.address(), "stopped").open();
            var random = new Random(SEED);
            List<Long> given = new ArrayList<>();
            LoaderState state = null;
            for (int run = 0; run <= STOPS; run++) {
                int ranks = 1 << random.nextInt(3);
                int steps = random.nextInt(2, MOST_STEPS + 1) * MOST_RANKS / ranks;
                state = take(source, state, ranks, steps, random, given, run == STOPS / 2 ? broker : null);
                if (run == STOPS / 2) {
                    Messages.write(broker, "stopped", LANES, each / 2, each, BYTES);
                }
            }
            List<Long> straight = new ArrayList<>();
            take(source, null, 1, given.size() / BATCH, random, straight, null);
            assertEquals(straight, given, () -> "seed " + SEED);
            assertEquals(given.size(), new HashSet<>(given).size());
        }
    }

    /** Takes steps of all ranks. A broker that is given is killed and started again behind the first step. */
    private static LoaderState take(StreamSource source, @Nullable LoaderState from, int ranks, int steps,
            Random random, List<Long> to, @Nullable Broker restarted) throws Exception {
        List<Long> records = new ArrayList<>(Collections.nCopies(steps * BATCH * ranks, 0L));
        List<LoaderState> states = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            try (StreamDataset stream = StreamDataset.builder(source).field("id", DType.I64, BYTES / Long.BYTES)
                    .shuffle(5, WINDOW).lanes(LANES).open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(BATCH).workers(1 + random.nextInt(8))
                        .shard(new Shard(rank, ranks, TailPolicy.EXACT));
                try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
                    int at = rank;
                    for (int step = 0; step < steps; step++) {
                        try (Batch batch = loader.next()) {
                            Tensor ids = batch.tensor("id");
                            for (int row = 0; row < batch.count(); row++, at += ranks) {
                                long first = (long) row * BYTES / Long.BYTES;
                                records.set(at, ids.getLong(first) << 32 | ids.getLong(first + 1));
                            }
                        }
                        if (step == 0 && rank == 0 && restarted != null) {
                            restarted.stop();
                            restarted.start();
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
