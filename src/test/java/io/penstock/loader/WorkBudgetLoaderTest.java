// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Pad;
import io.penstock.collate.Ragged;
import io.penstock.dataset.Documents;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBudget;
import io.penstock.sampling.WorkBudget.Limit;
import io.penstock.state.LoaderState;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches of about the same work, and the totals of a step, through the loader. */
class WorkBudgetLoaderTest {

    private static final int DOCUMENTS = 300;

    private final long[] starts = starts();
    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, starts);
    private final Documents documents = Documents.of(store);

    private static long[] starts() {
        var random = new SplittableRandom(6);
        long[] starts = new long[DOCUMENTS + 1];
        for (int d = 0; d < DOCUMENTS; d++) {
            starts[d + 1] = starts[d] + random.nextInt(1, 200);
        }
        return starts;
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    private WorkBudget budget() {
        return WorkBudget.of(3, 6, sample -> documents.length(sample) * (64 + documents.length(sample))).over(4);
    }

    private DataLoaderBuilder loader(WorkBudget budget, int rank, int world) {
        return DataLoader.builder(documents).collator(Pad.toLongest(DType.I32, -1).toMultipleOf(8))
                .sampler(Sampler.shuffled(DOCUMENTS, 9)).workBudget(budget).stepTotals(documents::length)
                .shard(new Shard(rank, world, TailPolicy.EXACT));
    }

    private static long total(Batch batch, String field) {
        Tensor tensor = batch.tensor(field);
        assertEquals(List.of(1L), List.of(tensor.dim(0)));
        return tensor.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Checks a padded batch against the store, and returns how many of its tokens have weight. */
    private long checked(Batch batch, long limit) {
        Tensor ids = batch.tensor("input_ids");
        assertTrue(ids.dim(0) * ids.dim(1) <= limit, batch.toString());
        long weighted = 0;
        for (int row = 0; row < batch.count(); row++) {
            long document = batch.sample(row);
            weighted += row < batch.valid() ? documents.length(document) : 0;
            for (long t = 0; t < ids.dim(1); t++) {
                assertEquals(t < documents.length(document) ? store.token(starts[(int) document] + t) : -1,
                        ids.segment().getAtIndex(ValueLayout.JAVA_INT, row * ids.dim(1) + t));
            }
        }
        return weighted;
    }

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE", "3, COPY", "2, AUTO"})
    void everyRankHasTheSameTotalsWhichAreTheSumOverRanks(int workers, TransferMode transfer) {
        WorkBudget budget = budget().limit(new Limit("tokens", 1600, documents::length, true, 8));
        List<List<long[]>> ofRanks = new ArrayList<>();
        int[] seen = new int[DOCUMENTS];
        for (int rank = 0; rank < 3; rank++) {
            List<long[]> steps = new ArrayList<>();
            try (DataLoader loader = loader(budget, rank, 3).workers(workers).transfer(transfer).endEpoch(1).open()) {
                assertTrue(loader.memory().slabBytes() < 1600 * 9 + 6 * 256, loader.memory().toString());
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        long tokens = checked(batch, 1600);
                        steps.add(new long[] {batch.valid(), tokens, total(batch, "global_samples"),
                            total(batch, "global_tokens")});
                        for (int row = 0; row < batch.valid(); row++) {
                            seen[(int) batch.sample(row)]++;
                        }
                    }
                }
            }
            ofRanks.add(steps);
        }
        for (int times : seen) {
            assertEquals(1, times);
        }
        for (int step = 0; step < ofRanks.getFirst().size(); step++) {
            long samples = 0;
            long tokens = 0;
            for (List<long[]> rank : ofRanks) {
                samples += rank.get(step)[0];
                tokens += rank.get(step)[1];
            }
            for (List<long[]> rank : ofRanks) {
                assertEquals(ofRanks.getFirst().size(), rank.size());
                assertEquals(List.of(samples, tokens), List.of(rank.get(step)[2], rank.get(step)[3]));
            }
        }
    }

    @Test
    void batchesOfAFixedNumberOfSamplesHaveTotalsToo() {
        for (int rank = 0; rank < 2; rank++) {
            try (DataLoader loader = DataLoader.builder(documents).collator(Ragged.fields()).batchSize(70)
                    .stepTotals(documents::length).shard(new Shard(rank, 2, TailPolicy.EXACT)).endEpoch(1).open()) {
                for (long step = 0; step < 3; step++) {
                    try (Batch batch = loader.next()) {
                        long end = Math.min(DOCUMENTS, (step + 1) * 140);
                        assertEquals(end - step * 140, total(batch, "global_samples"));
                        assertEquals(starts[(int) end] - starts[(int) step * 140], total(batch, "global_tokens"));
                    }
                }
            }
        }
    }

    @Test
    void microBatchesOfAStepAreEvenAndEachHasTheTotalsOfAll() {
        WorkBudget budget = WorkBudget.of(2 * 3, 5, budget().costs()).over(4);
        List<List<long[]>> ofRanks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            List<long[]> steps = new ArrayList<>();
            try (DataLoader loader = loader(budget, rank, 2).stepTotals(documents::length, 3).open()) {
                for (int step = 0; step < 4; step++) {
                    long[] sums = new long[8];
                    for (int micro = 0; micro < 3; micro++) {
                        try (Batch batch = loader.next()) {
                            sums[0] += batch.valid();
                            sums[1] += checked(batch, Long.MAX_VALUE);
                            assertTrue(micro == 0 || sums[2] == total(batch, "global_samples"));
                            sums[2] = total(batch, "global_samples");
                            sums[3] = total(batch, "global_tokens");
                            for (int row = 0; row < batch.count(); row++) {
                                sums[4 + micro] += budget.costs().applyAsLong(batch.sample(row));
                            }
                        }
                    }
                    steps.add(sums);
                }
            }
            ofRanks.add(steps);
        }
        for (int step = 0; step < 4; step++) {
            long[] one = ofRanks.getFirst().get(step);
            long[] other = ofRanks.getLast().get(step);
            assertEquals(List.of(one[0] + other[0], one[1] + other[1]), List.of(one[2], one[3]));
            assertEquals(List.of(one[2], one[3]), List.of(other[2], other[3]));
            long most = 0;
            long sum = 0;
            for (int micro = 0; micro < 3; micro++) {
                most = Math.max(most, Math.max(one[4 + micro], other[4 + micro]));
                sum += one[4 + micro] + other[4 + micro];
            }
            assertTrue(most * 6 <= 1.1 * sum, most + " of " + sum);
        }
    }

    /** An edit ends the run within a step: there is no whole one. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theLastStepOfARunThatAnEditEndsHasTheTotalsOfItsBatches(boolean byBudget) {
        BatchSampler batches = byBudget
                ? BatchSampler.of(Sampler.sequential(DOCUMENTS), TokenBudget.padded(1000), documents::length,
                        Shard.whole())
                : BatchSampler.of(Sampler.sequential(DOCUMENTS), 10, Shard.whole());
        LoaderState until = LoaderState.before(batches.withDataset(documents.fingerprint()))
                .edit(batches.withDataset(documents.fingerprint())).untilStep(7).state();
        DataLoaderBuilder builder = DataLoader.builder(documents).collator(Pad.toLongest(DType.I32, -1))
                .shard(Shard.whole()).stepTotals(documents::length, 3).resume(until);
        long rows = 0;
        try (DataLoader loader = (byBudget ? builder.tokenBudget(TokenBudget.padded(1000), documents::length)
                : builder.batchSize(10)).open()) {
            for (int step = 0; loader.hasNext(); step++) {
                try (Batch batch = loader.next()) {
                    rows += batch.count();
                    assertEquals(step == 6, total(batch, "global_samples") == batch.count(), "step " + step);
                }
            }
        }
        assertEquals(until.resume(batches.withDataset(documents.fingerprint())).sampler().epoch(0).size(), rows);
    }

    @Test
    void aLoaderThatResumesWithOtherRanksGivesTheRestOnce() {
        WorkBudget budget = budget().limit(Limit.sum("tokens", 1200, documents::length));
        int[] seen = new int[DOCUMENTS];
        LoaderState state = null;
        for (int rank = 0; rank < 3; rank++) {
            try (DataLoader loader = loader(budget, rank, 3).open()) {
                for (int step = 0; step < 7; step++) {
                    try (Batch batch = loader.next()) {
                        for (int row = 0; row < batch.count(); row++) {
                            seen[(int) batch.sample(row)]++;
                        }
                    }
                }
                state = loader.state();
            }
        }
        for (int rank = 0; rank < 2; rank++) {
            try (DataLoader loader = loader(budget, rank, 2).resume(state).endEpoch(1).open()) {
                while (loader.hasNext()) {
                    try (Batch batch = loader.next()) {
                        for (int row = 0; row < batch.valid(); row++) {
                            seen[(int) batch.sample(row)]++;
                        }
                    }
                }
            }
        }
        for (int times : seen) {
            assertEquals(1, times);
        }
    }

    @Test
    void whatHasNoMeaningIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> loader(budget(), 0, 2).dropLast().open());
        assertThrows(IllegalArgumentException.class,
                () -> loader(budget(), 0, 2).shard(new Shard(0, 2, TailPolicy.DROP)).open());
        assertThrows(IllegalArgumentException.class,
                () -> loader(budget(), 0, 2).onBadSample(BadSamplePolicy.REPLACE).open());
        String above = assertThrows(IllegalArgumentException.class, () -> loader(budget().limit(
                Limit.sum("tokens", 150, documents::length)), 0, 2).open()).getMessage();
        assertTrue(above.startsWith("sample ") && above.contains("the limit of 150"), above);
    }
}
