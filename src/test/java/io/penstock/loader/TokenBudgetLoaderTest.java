// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Pad;
import io.penstock.collate.Stack;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Lengths;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.testing.MemoryTokenStore;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches by a token budget, through the loader that fills slots no larger than the budget. */
class TokenBudgetLoaderTest {

    private static final int DOCUMENTS = 700;
    private static final int LONGEST = 600;

    private final long[] starts = starts();
    private final MemoryTokenStore store = new MemoryTokenStore(DType.U16, starts);
    private final Documents documents = Documents.of(store);

    private static long[] starts() {
        var random = new SplittableRandom(5);
        long[] starts = new long[DOCUMENTS + 1];
        for (int d = 0; d < DOCUMENTS; d++) {
            starts[d + 1] = starts[d] + (d == 3 ? LONGEST : d % 50 == 0 ? 0 : random.nextInt(1, 2 + d % 7 * 50));
        }
        return starts;
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    private DataLoaderBuilder loader(TokenBudget budget) {
        return DataLoader.builder(documents).collator(Pad.toLongest(DType.I32, -1).toMultipleOf(8))
                .sampler(Sampler.lengthBucketed(Sampler.shuffled(DOCUMENTS, 9), documents::length, 128, 16, 9))
                .tokenBudget(budget, documents::length);
    }

    /** Checks a batch's bytes against the store, and returns its samples. */
    private List<Long> checked(Batch batch, TokenBudget budget) {
        List<Long> samples = new ArrayList<>();
        Tensor ids = batch.tensor("input_ids");
        long length = ids.dim(1);
        assertTrue(ids.dim(0) * length <= budget.tokens(), batch.toString());
        for (int row = 0; row < batch.count(); row++) {
            long document = batch.sample(row);
            samples.add(document);
            long tokens = starts[(int) document + 1] - starts[(int) document];
            for (long t = 0; t < length; t++) {
                long expected = t < tokens ? store.token(starts[(int) document] + t) : -1;
                assertEquals(expected, ids.segment().getAtIndex(ValueLayout.JAVA_INT, row * length + t));
            }
        }
        return samples;
    }

    @ParameterizedTest
    @CsvSource({"0, IN_PLACE, 1", "1, COPY, 3", "3, IN_PLACE, 9", "4, COPY, 2", "2, AUTO, 4"})
    void batchesAreTheSameWhateverTheWorkersAndFitInTheBudget(int workers, TransferMode transfer, int prefetch) {
        TokenBudget budget = TokenBudget.padded(2400).toMultipleOf(8);
        long[] seen = new long[DOCUMENTS];
        List<List<Long>> given = new ArrayList<>();
        try (DataLoader loader = loader(budget).workers(workers).transfer(transfer).prefetch(prefetch).endEpoch(2)
                .open()) {
            // A slot of 2,400 ids of 4 bytes and a mask, and 2,400 lengths: not of 2,400 documents of 600 tokens.
            assertTrue(loader.memory().slabBytes() < 2400 * 9 + 3 * 256, loader.memory().toString());
            for (int epoch = 0; epoch < 2; epoch++) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        assertEquals(epoch, batch.epoch());
                        List<Long> samples = checked(batch, budget);
                        samples.forEach(sample -> seen[sample.intValue()]++);
                        given.add(samples);
                    }
                }
            }
            assertTrue(!loader.hasNext());
        }
        assertTrue(Arrays.stream(seen).allMatch(times -> times == 2), Arrays.toString(seen));
        assertEquals(planned(budget), given);
    }

    /** What the batch sampler says, without a loader. */
    private List<List<Long>> planned(TokenBudget budget) {
        BatchSampler batches = LoaderParts.plan(loader(budget));
        BatchPlan plan = new BatchPlan(batches.batchSize());
        List<List<Long>> planned = new ArrayList<>();
        for (long n = 0; batches.epochOf(n) < 2; n++) {
            batches.plan(n, plan);
            planned.add(Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList());
        }
        return planned;
    }

    @Test
    void ranksTakeEquallyManyStepsAndResumeWithOtherRanksAndBudgets() {
        var random = new SplittableRandom(12);
        for (int round = 0; round < 12; round++) {
            long[] seen = new long[DOCUMENTS];
            LoaderState state = null;
            while (state == null || state.epoch() == 0) {
                int world = random.nextInt(1, 5);
                var budget = TokenBudget.padded(600 + random.nextInt(4000)).toMultipleOf(8)
                        .maxSamples(random.nextInt(1, 100));
                long kill = random.nextLong(1, 12);
                LoaderState after = null;
                for (int rank = 0; rank < world; rank++) {
                    DataLoaderBuilder settings = loader(budget).shard(new Shard(rank, world, TailPolicy.EXACT))
                            .workers(random.nextInt(3)).endEpoch(1);
                    try (DataLoader loader = (state == null ? settings : settings.resume(state)).open()) {
                        for (long n = 0; n < kill && loader.hasNext(); n++) {
                            try (Batch batch = loader.next()) {
                                List<Long> samples = checked(batch, budget);
                                samples.subList(0, batch.valid()).forEach(sample -> seen[sample.intValue()]++);
                            }
                        }
                        assertTrue(after == null || after.equals(loader.state()), "equal steps");
                        after = loader.state();
                    }
                }
                state = after;
            }
            assertTrue(Arrays.stream(seen).allMatch(times -> times == 1), "round " + round + Arrays.toString(seen));
        }
    }

    @Test
    void oneFieldOfVaryingLengthIsPaddedByStackAndPadToo() {
        TokenBudget budget = TokenBudget.padded(1000).maxSamples(50);
        Lengths lengths = Lengths.of(documents, 0, 300);
        assertEquals(LongStream.range(0, DOCUMENTS).map(d -> Math.min(300, documents.length(d))).sum(),
                LongStream.range(0, DOCUMENTS).map(lengths).sum());
        try (DataLoader loader = DataLoader.builder(documents).collator(StackAndPad.cutTo(300)).shuffle(1)
                .tokenBudget(budget, lengths).endEpoch(1).open()) {
            assertTrue(loader.memory().slabBytes() <= 2 * 1000 + 50 * 4 + 2 * 256, loader.memory().toString());
            int count = 0;
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    Tensor tokens = batch.tensor("tokens");
                    assertTrue(tokens.dim(0) * tokens.dim(1) <= 1000);
                    count += batch.count();
                }
            }
            assertEquals(DOCUMENTS, count);
        }
    }

    @Test
    void lengthsThatAreTooShortAreAnErrorOfTheBatchAndNothingIsWrittenBehindTheSlot() {
        try (DataLoader loader = DataLoader.builder(documents).collator(Pad.toLongest(0))
                .tokenBudget(TokenBudget.padded(700), d -> Math.min(documents.length(d), 10)).workers(1).open()) {
            var error = assertThrows(BatchException.class, loader::next);
            assertTrue(error.toString().contains("expected at most"), error.toString());
        }
    }

    @Test
    void settingsThatDoNotGoTogetherAreRefused() {
        var budget = TokenBudget.padded(2400);
        var alone = assertThrows(IllegalArgumentException.class, () -> loader(TokenBudget.padded(599)).open());
        assertTrue(alone.getMessage().startsWith("sample 3 has 600 tokens"), alone.getMessage());
        assertThrows(IllegalArgumentException.class, () -> loader(budget).open());       // counts no multiples of 8
        assertThrows(IllegalArgumentException.class, () -> loader(budget).collator(Stack.fields()).open());
        assertThrows(IllegalArgumentException.class, () -> loader(budget.toMultipleOf(8))
                .onBadSample(BadSamplePolicy.SKIP).open());
    }
}
