// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs by a token budget some of whose epochs have no batch, and where epochs end. */
class EmptyEpochsTest {

    private static final int EPOCHS = 60;
    private static final LongUnaryOperator LENGTHS = sample -> sample == 0 ? 3 : 5;

    private final ByteRows rows = new ByteRows(2, 4);

    /** Three draws an epoch: without a longer one among them all fit in one batch, which is dropped. */
    private DataLoaderBuilder loader(double longer) {
        return DataLoader.builder(rows).sampler(Sampler.weighted(new double[] {1, longer}, 3, 7))
                .tokenBudget(TokenBudget.sum(10).maxSamples(4), LENGTHS).dropLast();
    }

    /** The epochs that have a batch. */
    private static List<Long> full() {
        Sampler sampler = Sampler.weighted(new double[] {1, 0.15}, 3, 7);
        List<Long> full = LongStream.range(0, EPOCHS).filter(epoch -> {
            Order order = sampler.epoch(epoch);
            return LongStream.range(0, 3).anyMatch(position -> order.at(position) == 1);
        }).boxed().toList();
        assertTrue(full.size() > 10 && full.size() < EPOCHS - 10, full::toString);
        return full;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void areNothingToTheBatchesAroundThem(int workers) {
        List<Long> epochs = new ArrayList<>();
        List<LoaderState> states = new ArrayList<>();
        try (DataLoader loader = loader(0.15).workers(workers).endEpoch(EPOCHS).open()) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    epochs.add(batch.epoch());
                }
                states.add(loader.state());
            }
            assertEquals(EPOCHS, loader.currentEpoch());
            assertThrows(NoSuchElementException.class, loader::next);
        }
        assertEquals(full(), epochs);
        for (int n = 0; n < states.size(); n++) {
            assertEquals(List.of(epochs.get(n) + 1, 0L), List.of(states.get(n).epoch(), states.get(n).position()));
            try (DataLoader loader = loader(0.15).workers(workers).resume(states.get(n)).endEpoch(EPOCHS).open()) {
                assertEquals(n + 1 < epochs.size(), loader.hasNext());
                if (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        assertEquals(epochs.get(n + 1), batch.epoch());
                    }
                }
            }
        }
    }

    @Test
    void anEpochThatIsAskedForIsEmptyAndALoopOverEpochsPassesIt() {
        List<Long> full = full();
        try (DataLoader loader = loader(0.15).workers(1).open()) {
            for (long epoch = 0; epoch < EPOCHS; epoch++) {
                int batches = 0;
                for (Batch batch : loader.epoch(epoch)) {
                    try (batch) {
                        assertEquals(epoch, batch.epoch());
                        batches++;
                    }
                }
                assertEquals(full.contains(epoch) ? 1 : 0, batches, "epoch " + epoch);
            }
            loader.seek(0);
            for (long epoch : full) {
                assertEquals(epoch, loader.currentEpoch());
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        assertEquals(epoch, batch.epoch());
                    }
                }
            }
        }
    }

    @Test
    void aRunOfNothingElseIsRefusedUnlessItIsResumedAtItsEnd() {
        String message = assertThrows(IllegalArgumentException.class, loader(0)::open).getMessage();
        assertTrue(message.startsWith("no batch in epochs 0 to 63"), message);
        List<Long> full = full();
        long empty = LongStream.range(0, EPOCHS - 1)
                .filter(epoch -> !full.contains(epoch) && !full.contains(epoch + 1)).findFirst().orElseThrow();
        message = assertThrows(IllegalArgumentException.class,
                loader(0.15).startEpoch(empty).endEpoch(empty + 2)::open).getMessage();
        assertTrue(message.startsWith("no batch in epochs " + empty + " to " + (empty + 1)), message);
        LoaderState end;
        try (DataLoader loader = loader(0.15).workers(0).startEpoch(empty).open()) {
            end = loader.state();
        }
        try (DataLoader loader = loader(0.15).resume(end).endEpoch(empty + 2).open()) {
            assertFalse(loader.hasNext());
            assertEquals(empty + 2, loader.currentEpoch());
            assertEquals(end, loader.state());
        }
        assertFalse(full.contains(0L), "a run is not refused for its first epoch");
        loader(0.15).open().close();
    }

    @Test
    void aSampleThatFitsInNoBatchIsAnErrorAtItsTurnAlone() {
        Sampler order = Sampler.subset(new long[] {0, 0, 0, 1, 0, 0}, 2, Sampler.sequential(6));
        for (int workers = 0; workers < 3; workers++) {
            try (DataLoader loader = DataLoader.builder(rows).sampler(order).workers(workers).endEpoch(1)
                    .tokenBudget(TokenBudget.sum(6).maxSamples(2), sample -> sample == 0 ? 3 : 7).open()) {
                List<Integer> counts = new ArrayList<>();
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        counts.add(batch.count());
                    } catch (BatchException e) {
                        counts.add(-1);
                        assertTrue(e.getCause().getMessage().startsWith("sample 1 has 7 tokens"), e.getMessage());
                        assertEquals(4, loader.state().position());
                    }
                }
                assertEquals(List.of(2, 1, -1, 2), counts);
            }
        }
    }

    @Test
    void theLastEpochOfAnOrderIsTheLastOfALoader() {
        Sampler order = Sampler.shuffled(2, 5);
        long last = order.epochs() - 1;
        LoaderState end = LoaderState.after(BatchSampler.of(order, 1, Shard.whole()).withDataset(rows.fingerprint())
                .startingAt(last, 1), 0);
        for (int workers = 0; workers < 3; workers++) {
            try (DataLoader loader = DataLoader.builder(rows).sampler(order).workers(workers).startEpoch(last).open()) {
                for (int n = 0; n < 2; n++) {
                    assertTrue(loader.hasNext());
                    loader.next().close();
                }
                assertFalse(loader.hasNext());
                assertEquals(end, loader.state());
                assertThrows(NoSuchElementException.class, loader::next);
                assertThrows(IllegalArgumentException.class, () -> loader.seek(last + 1));
            }
        }
        assertThrows(IllegalArgumentException.class, DataLoader.builder(rows).sampler(order)
                .startEpoch(last + 1)::open);
    }
}
