// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Sampler.LaneState;
import io.penstock.state.LoaderState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Live order: silent partitions are put aside, and a run that resumes repeats when. */
class LiveOrderTest {

    private static final LongSupplier FROZEN = () -> 0;

    private static StreamDataset open(NumberSource source, int window, LongSupplier clock) {
        StreamDataset.Builder settings = source.dataset().live(Duration.ofMillis(5)).clock(clock);
        return (window == 0 ? settings : settings.shuffle(9, window)).open();
    }

    /** A clock by which each look is a millisecond later. */
    private static LongSupplier running() {
        var now = new AtomicLong();
        return () -> now.addAndGet(1_000_000);
    }

    private static void add(Batch batch, List<Long> to) {
        try (batch) {
            Tensor ids = batch.tensor("id");
            for (int row = 0; row < batch.valid(); row++) {
                to.add(NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1)));
            }
        }
    }

    @Test
    void aSilentPartitionIsPutAsideAndComesBack() {
        var source = new NumberSource(40, 3, 40).endless();
        try (StreamDataset stream = open(source, 0, running());
                DataLoader loader = DataLoader.builder(stream).batchSize(1).workers(1).open()) {
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < 83; i++) {
                add(loader.next(), ids);
            }
            assertEquals(new HashSet<>(source.merged()), new HashSet<>(ids));
            source.grow(1, 9);
            for (int i = 0; i < 6; i++) {
                add(loader.next(), ids);
            }
            assertEquals(new HashSet<>(source.merged()), new HashSet<>(ids));
            assertEquals(89, ids.size());
        }
    }

    @Test
    void aPartitionIsWaitedForWhileTheClockStands() {
        var source = new NumberSource(4, 2).endless();
        try (StreamDataset stream = open(source, 0, FROZEN);
                DataLoader loader = DataLoader.builder(stream).batchSize(1).workers(0).open()) {
            List<Long> ids = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                add(loader.next(), ids);
            }
            source.grow(1, 4);
            for (int i = 0; i < 3; i++) {
                add(loader.next(), ids);
            }
            assertEquals(source.merged(), ids);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 32})
    void aRunThatResumesGivesTheSameRecordsUpToTheEndOfTheWindow(int window) {
        var source = new NumberSource(200, 21, 200, 33).endless();
        List<Long> given = new ArrayList<>();
        List<LoaderState> states = new ArrayList<>();
        try (StreamDataset stream = open(source, window, running());
                DataLoader loader = DataLoader.builder(stream).batchSize(4).workers(2).open()) {
            for (int i = 0; i < 70; i++) {
                states.add(LoaderState.fromJson(loader.state().toJson()));
                add(loader.next(), given);
            }
        }
        assertTrue(states.stream().anyMatch(state -> state.lanes().stream()
                .anyMatch(lane -> lane.log().contains("-1"))), "partition 1 was never aside");
        for (LoaderState state : states) {
            List<Long> again = new ArrayList<>();
            int from = (int) state.position();
            LaneState lane = state.lanes().getFirst();
            String log = lane.log();
            int end = log.isEmpty() ? from
                    : (int) lane.from() + Integer.parseInt(log.substring(log.lastIndexOf(' ') + 1));
            int batches = Math.max(0, Math.min(end, given.size()) - from) / 4;
            try (StreamDataset stream = open(source, window, FROZEN);
                    DataLoader loader = DataLoader.builder(stream).batchSize(4).workers(1).resume(state).open()) {
                for (int i = 0; i < batches; i++) {
                    add(loader.next(), again);
                }
            }
            assertEquals(given.subList(from, from + 4 * batches), again, log);
        }
    }

    @Test
    void aLogThatIsNoneIsRefused() {
        for (String log : List.of("x", "0-9 4", "5-1 3+1 8", "-")) {
            assertThrows(IllegalArgumentException.class, () -> new TurnLog(3, log, 1, FROZEN), log);
        }
    }
}
