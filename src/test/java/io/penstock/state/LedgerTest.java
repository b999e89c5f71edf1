// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Feedback;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBudget;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LedgerTest {

    private static final Sampler ORDER = Sampler.shuffled(1000, 7);

    @TempDir
    private Path folder;

    private static BatchSampler batches(Sampler order, int batch, int rank, int world) {
        return BatchSampler.of(order, batch, new Shard(rank, world, TailPolicy.PAD)).withDataset("d");
    }

    /** Delivers steps on all ranks, and returns the state after them. */
    private LoaderState deliver(Sampler order, LoaderState from, int batch, int world, int steps) throws IOException {
        LoaderState after = null;
        for (int rank = 0; rank < world; rank++) {
            BatchSampler batches = from == null ? batches(order, batch, rank, world)
                    : from.resume(batches(order, batch, rank, world));
            LoaderState state = deliver(batches, steps);
            assertTrue(after == null || after.equals(state));
            after = state;
        }
        return after;
    }

    private LoaderState deliver(BatchSampler batches, int steps) throws IOException {
        try (Ledger ledger = Ledger.open(folder, batches)) {
            BatchPlan plan = new BatchPlan(batches.batchSize());
            for (int step = 0; step < steps; step++) {
                batches.plan(step, plan);
                ledger.delivered(plan);
            }
            return (steps == 0 ? LoaderState.before(batches) : LoaderState.after(batches, steps - 1))
                    .withChain(ledger.chain());
        }
    }

    private LedgerAudit audit() throws IOException {
        return LedgerAudit.of(folder, Optional.of(batches(ORDER, 8, 0, 1)));
    }

    /** Delivers steps of a dataset whose samples are their numbers, plus a number from sample 40 on. */
    private LoaderState deliverNumbers(LoaderState from, int steps, int added, int workers) {
        Dataset numbers = Dataset.generate(1000, List.of(new TensorSpec("n", DType.I64)), "numbers", (sample, _, out) ->
                out.tensor(0).segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, sample + (sample < 40 ? 0 : added)));
        var builder = DataLoader.builder(numbers).batchSize(8).workers(workers).ledger(folder).ledgerOfBytes();
        try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
            for (int step = 0; step < steps; step++) {
                loader.next().close();
            }
            return loader.state();
        }
    }

    @Test
    void stepsThatAreGivenAgainWithOtherBytesAreFound() throws IOException {
        LoaderState state = deliverNumbers(null, 2, 0, 0);
        deliverNumbers(state, 5, 0, 2);                                     // killed: taken back
        deliverNumbers(state, 5, 0, 0);
        assertEquals(List.of(), LedgerAudit.of(folder, Optional.empty()).problems());
        LoaderState end = deliverNumbers(state, 7, 1, 1);
        LedgerAudit audit = LedgerAudit.of(folder, Optional.empty());
        assertEquals(2, audit.problems().size(), audit.problems().toString());
        assertTrue(audit.problems().getFirst().startsWith("the run from epoch 0, position 16: step 3, rank 0: the same"
                + " samples had other bytes"), audit.problems().toString());
        assertEquals(end.chain(), audit.chain());
        assertEquals(9, audit.steps());
    }

    @Test
    void theBytesOfAStepHaveTheirChecksum() throws IOException {
        deliverNumbers(null, 3, 0, 0);
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("rank-00000.ledger")))
                .order(ByteOrder.LITTLE_ENDIAN);
        int first = file.capacity() - 3 * 128;
        for (int step = 0; step < 3; step++) {
            ByteBuffer expected = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
            for (long sample = 8L * step; sample < 8L * step + 8; sample++) {
                expected.putLong(sample);
            }
            CRC32C crc = new CRC32C();
            crc.update(expected.flip());
            assertEquals(-2, file.getLong(first + 128 * step + 64));
            assertEquals(64, file.getLong(first + 128 * step + 72));
            assertEquals((int) crc.getValue(), file.getInt(first + 128 * step + 80));
        }
    }

    @Test
    void aStepWhoseBytesAreTornOffStillCounts() throws IOException {
        LoaderState state = deliverNumbers(null, 3, 0, 0);
        Path file = folder.resolve("rank-00000.ledger");
        byte[] all = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(all, all.length - 64));
        deliverNumbers(state, 4, 0, 0);
        LedgerAudit audit = LedgerAudit.of(folder, Optional.empty());
        assertEquals(List.of(), audit.problems());
        assertEquals(7, audit.steps());
    }

    @Test
    void aRunOverRestartsRanksAndEditsIsProven() throws IOException {
        LoaderState state = deliver(ORDER, null, 8, 4, 10);
        deliver(ORDER, state, 8, 4, 7);                                     // killed: taken back
        state = deliver(ORDER, state, 5, 3, 12);
        LoaderState edited = state.edit(batches(ORDER, 8, 0, 1)).exciseSteps(70, 75).exciseSamples(1, 9).state();
        state = deliver(ORDER, edited, 8, 2, 200);
        LedgerAudit audit = audit();
        assertEquals(List.of(), audit.problems());
        assertEquals(222, audit.steps());
        assertEquals(7, audit.takenBack());
        assertEquals(state.chain(), audit.chain());
        assertEquals(4, audit.runs());
    }

    /** By work, the ranks of a step have different numbers of rows, and those of one follow one another. */
    @ParameterizedTest
    @EnumSource(value = TailPolicy.class, names = "DROP", mode = EnumSource.Mode.EXCLUDE)
    void ranksOfBatchesByWorkProveTheirRun(TailPolicy tail) throws IOException {
        WorkBudget work = WorkBudget.of(4, 6, sample -> 1 + sample * sample % 89).over(3);
        BatchSampler whole = BatchSampler.of(ORDER, work, new Shard(0, 1, tail)).withDataset("d");
        LoaderState state = LoaderState.before(whole);
        long steps = 0;
        for (int world : new int[] {3, 1, 5, 4, 7}) {
            BatchSampler batches = state.resume(BatchSampler.of(ORDER, work, new Shard(0, world, tail))
                    .withDataset("d"));
            int count = world == 7 ? (int) batches.batchesInEpoch(state.epoch()) + 4 : world == 1 ? 20 : 5;
            LoaderState after = null;
            for (int rank = 0; rank < world; rank++) {
                LoaderState given = deliver(batches.ofRank(rank), count);
                assertTrue(after == null || after.equals(given), "rank " + rank + " of " + world);
                after = given;
            }
            state = after;
            steps += count;
        }
        for (LedgerAudit audit : assertProves(whole, state)) {
            assertEquals(steps, audit.steps());
        }
    }

    /** Audits without the order and with it: nothing is wrong, and the history ends as the state's does. */
    private List<LedgerAudit> assertProves(BatchSampler whole, LoaderState state) throws IOException {
        List<LedgerAudit> audits = List.of(LedgerAudit.of(folder, Optional.empty()),
                LedgerAudit.of(folder, Optional.of(whole)));
        for (LedgerAudit audit : audits) {
            assertEquals(List.of(), audit.problems());
            assertEquals(state.chain(), audit.chain());
        }
        return audits;
    }

    /** Some ranks had surplus rows, or rows were dropped; what is given again is behind all of the epoch. */
    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void stepsThatAreGivenAgainBehindAnEpochFollowIt(TailPolicy tail) throws IOException {
        BatchSampler whole = BatchSampler.of(ORDER, 8, new Shard(0, 3, tail)).withDataset("d");
        LoaderState state = null;
        for (int rank = 0; rank < 3; rank++) {
            state = deliver(whole.ofRank(rank), 42);
        }
        assertEquals(1, state.epoch());
        LoaderState again = state.edit(whole).repeatSteps(3, 4).state();
        for (int rank = 0; rank < 2; rank++) {
            state = deliver(again.resume(BatchSampler.of(ORDER, 8, new Shard(rank, 2, tail)).withDataset("d")), 20);
        }
        assertProves(whole, state);
    }

    @Test
    void theRestOfAnEpochIsLeftOut() throws IOException {
        BatchSampler whole = batches(ORDER, 8, 0, 1);
        LoaderState state = deliver(whole, 10).edit(whole).exciseSteps(10, 124).state();
        LoaderState end = deliver(state.resume(whole), 5);
        assertProves(whole, end);
    }

    /** More ranks than before need more rows for a step than the epoch has left. */
    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void aRestThatIsLessThanABatchIsDropped(TailPolicy tail) throws IOException {
        BatchSampler whole = BatchSampler.of(ORDER, 8, new Shard(0, 1, tail)).withDataset("d").droppingLast();
        LoaderState state = deliver(whole, 122);
        assertEquals(976, state.position());
        LoaderState end = null;
        for (int rank = 0; rank < 4; rank++) {
            end = deliver(state.resume(BatchSampler.of(ORDER, 8, new Shard(rank, 4, tail)).withDataset("d")
                    .droppingLast()), 3);
        }
        assertEquals(1, end.epoch());
        assertProves(whole, end);
    }

    /** Many short samples are left, which all fit in the dropped batch; batches of 8 have room for fewer. */
    @Test
    void aRestOfMoreRowsThanAStepCanHaveIsFound() throws IOException {
        BatchSampler eights = batches(ORDER, 8, 0, 1).droppingLast();
        LoaderState state = deliver(eights, 112);
        Set<Long> shorts = LongStream.range(896, 1000).map(ORDER.epoch(0)::at).boxed().collect(Collectors.toSet());
        BatchSampler budget = BatchSampler.of(ORDER, TokenBudget.padded(800).maxSamples(150),
                sample -> shorts.contains(sample) ? 1 : 100, new Shard(0, 1, TailPolicy.PAD)).withDataset("d")
                .droppingLast();
        LoaderState end = deliver(state.resume(budget), 3);
        assertEquals(1, end.epoch());
        assertProves(budget, end);
        List<String> problems = LedgerAudit.of(folder, Optional.of(eights)).problems();
        assertEquals(1, problems.size(), problems.toString());
        assertTrue(problems.getFirst().contains("step 0 has place 0 of epoch 1, expected place 896 of epoch 0"),
                problems.toString());
    }

    @Test
    void stepsBetweenThatNoEditLeavesOutAreFound() throws IOException {
        BatchSampler whole = batches(ORDER, 8, 0, 1);
        LoaderState state = deliver(whole, 10).edit(whole).exciseSteps(10, 123).state();
        deliver(new LoaderState(1, 0, state.seed(), state.sampler(), state.dataset(), List.of(), state.edits(),
                state.chain()).resume(whole), 5);
        assertEquals(1, LedgerAudit.of(folder, Optional.of(whole)).problems().size());
    }

    @Test
    void whatIsWrongIsNamed() throws IOException {
        LoaderState state = deliver(ORDER, null, 8, 2, 10);
        deliver(batches(ORDER, 8, 0, 2).startingAt(0, 320), 3);
        deliver(batches(ORDER, 8, 1, 2).startingAt(0, 320), 2);
        List<String> problems = audit().problems();
        assertEquals(2, problems.size(), problems.toString());
        assertTrue(problems.getFirst().contains("expected place 160 of epoch 0: what lies between was not given"),
                problems.toString());
        assertTrue(problems.getLast().contains("step 2, rank 1: not delivered"), problems.toString());
        assertEquals(160, state.position());
    }

    @Test
    void placesThatWereGivenTwiceAreNamed() throws IOException {
        deliver(batches(ORDER, 8, 0, 1), 10);
        deliver(batches(ORDER, 8, 0, 1).startingAt(0, 44), 10);
        assertTrue(audit().problems().getFirst().contains("was given twice"), audit().problems().toString());
    }

    @Test
    void ranksThatDidNotAgreeAreFound() throws IOException {
        Mixture mix = Mixture.of(1000, new Mixture.Source(Sampler.shuffled(700, 1), 0.7),
                new Mixture.Source(Sampler.shuffled(300, 2), 0.3));
        LoaderState state = deliver(mix, null, 4, 2, 20);
        for (int rank = 0; rank < 2; rank++) {
            LoaderState changed = state.edit(batches(mix, 4, 0, 2)).feedback(Feedback.multiplicative(1),
                    new double[] {7, 3}, 2.0, rank == 0 ? 3.0 : 3.5).state();
            deliver(changed.resume(batches(mix, 4, rank, 2)), 10);
        }
        List<String> problems = LedgerAudit.of(folder, Optional.empty()).problems();
        assertTrue(problems.getFirst().contains("ranks did not agree: rank 1"), problems.toString());
        assertTrue(problems.get(1).contains("step 0, rank 1"), problems.toString());
    }

    @Test
    void anotherOrderOrDatasetIsFoundWithTheStores() throws IOException {
        deliver(batches(ORDER, 8, 0, 1), 10);
        Path file = Ledger.file(folder, 0);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 5 * 64 + 33] ^= 1;
        Files.write(file, bytes);
        assertTrue(audit().problems().getFirst().contains("no records: torn by a crash, or changed"),
                audit().problems().toString());
    }

    @Test
    void aTornTailIsCutOffAtEveryByte() throws IOException {
        deliver(batches(ORDER, 8, 0, 1), 3);
        Path file = Ledger.file(folder, 0);
        byte[] whole = Files.readAllBytes(file);
        LoaderState start = LoaderState.before(batches(ORDER, 8, 0, 1));
        for (int length = 0; length <= whole.length; length++) {
            for (boolean zeros : new boolean[] {false, true}) {
                byte[] cut = zeros ? Arrays.copyOf(Arrays.copyOf(whole, length), whole.length)
                        : Arrays.copyOf(whole, length);
                Files.write(file, cut);
                deliver(start.resume(batches(ORDER, 8, 0, 1)), 5);
                LedgerAudit audit = audit();
                assertEquals(List.of(), audit.problems(), length + " bytes of " + whole.length);
                assertEquals(5, audit.steps());
            }
        }
    }

    @Test
    void randomRunsAreProvenAndRandomLossesFound() throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        for (int run = 0; run < 60; run++) {
            for (Path file : files()) {
                Files.delete(file);
            }
            LoaderState state = null;
            List<LoaderState> saved = new ArrayList<>();
            for (int attempt = 0; attempt < 6; attempt++) {
                int world = 1 + random.nextInt(4);
                int batch = 1 + random.nextInt(8);
                LoaderState after = deliver(ORDER, state, batch, world, random.nextInt(100));
                state = random.nextInt(4) == 0 ? state : after;
                if (state != null && random.nextInt(3) == 0) {
                    state = state.edit(batches(ORDER, batch, 0, world)).exciseSamples(random.nextLong(500),
                            500 + random.nextLong(20)).state();
                }
                saved.add(state);
            }
            deliver(ORDER, state, 3, 4, 5);
            assertEquals(List.of(), audit().problems(), "run " + run);
            Path one = files().get(1 + random.nextInt(3));
            byte[] bytes = Files.readAllBytes(one);
            Files.write(one, Arrays.copyOf(bytes, bytes.length - 64));
            assertEquals(1, audit().problems().size(), "run " + run + " " + saved);
        }
    }

    private List<Path> files() throws IOException {
        try (var all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }
}
