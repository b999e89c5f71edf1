// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.sampling.TokenBudget.Cost;
import io.penstock.state.LoaderState;
import io.penstock.testing.HeapUse;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TokenBudgetTest {

    private static final TailPolicy[] TAILS = TailPolicy.values();

    /** A random plan: everything that shapes batches but the rank. */
    private record Setup(Sampler sampler, long[] lengths, int world, TailPolicy tail, TokenBudget budget,
            boolean dropLast) implements BatchSamplerTest.RankSetup {

        static Setup random(SplittableRandom random) {
            int size = random.nextInt(1, random.nextBoolean() ? 20 : 300);
            long[] lengths = random.longs(size, 0, random.nextInt(1, 60)).toArray();
            Sampler order = random.nextBoolean() ? Sampler.shuffled(size, random.nextLong())
                    : Sampler.sequential(size);
            Sampler sampler = random.nextBoolean() ? order : Sampler.lengthBucketed(order, s -> lengths[(int) s],
                    random.nextInt(1, size + 1), random.nextInt(1, 9), random.nextLong());
            return of(sampler, lengths, random);
        }

        private static Setup of(Sampler sampler, long[] lengths, SplittableRandom random) {
            while (true) {
                int multiple = random.nextInt(1, 9);
                long longest = Arrays.stream(lengths).max().orElseThrow() + multiple;
                var budget = new TokenBudget(longest + random.nextInt(0, 300), random.nextInt(1, 30), multiple,
                        random.nextInt(4) == 0 ? Cost.SUM : Cost.PADDED);
                int world = random.nextInt(1, 14);
                TailPolicy tail = TAILS[random.nextInt(TAILS.length)];
                if (tail != TailPolicy.DROP || world <= sampler.size()) {
                    return new Setup(sampler, lengths, world, tail, budget, false);
                }
            }
        }

        @Override
        public Setup resumedBy(SplittableRandom random) {
            return of(sampler, lengths, random);
        }

        @Override
        public BatchSampler rank(int rank) {
            BatchSampler batches = BatchSampler.of(sampler, budget, s -> lengths[(int) s],
                    new Shard(rank, world, tail));
            return dropLast ? batches.droppingLast() : batches;
        }

        /** What a batch of samples costs a rank, counted as plainly as can be. */
        long cost(List<Long> samples) {
            long longest = 0;
            long sum = 0;
            for (long sample : samples) {
                longest = Math.max(longest, lengths[(int) sample]);
                sum += lengths[(int) sample];
            }
            while (longest % budget.multipleOf() != 0) {
                longest++;
            }
            return budget.cost() == Cost.SUM ? sum : longest * samples.size();
        }
    }

    /**
     * The reference: deals a step at a time to hands, and begins anew when a hand would cost too much. Returns for each
     * batch the hands of all ranks: lists of positions, the tail's counted on past the size.
     */
    private static List<List<List<Long>>> deal(Setup setup, Order order, long start) {
        long size = setup.sampler.size();
        long steps = setup.tail == TailPolicy.DROP ? (size - start) / setup.world
                : (size - start + setup.world - 1) / setup.world;
        List<List<List<Long>>> batches = new ArrayList<>();
        List<List<Long>> hands = null;
        for (long step = 0; step < steps; step++) {
            boolean fits = hands != null && hands.getFirst().size() < setup.budget.maxSamples();
            for (int rank = 0; fits && rank < setup.world; rank++) {
                List<Long> more = new ArrayList<>(hands.get(rank));
                more.add(start + step * setup.world + rank);
                fits = setup.cost(more.stream().map(p -> order.at(p % size)).toList()) <= setup.budget.tokens();
            }
            if (!fits) {
                hands = new ArrayList<>();
                for (int rank = 0; rank < setup.world; rank++) {
                    hands.add(new ArrayList<>());
                }
                batches.add(hands);
            }
            for (int rank = 0; rank < setup.world; rank++) {
                hands.get(rank).add(start + step * setup.world + rank);
            }
        }
        if (setup.dropLast && hands != null && hands.getFirst().size() < setup.budget.maxSamples()) {
            batches.removeLast();
        }
        return batches;
    }

    @Tag("slow")
    @Test
    void batchesAreWhatDealingStepByStepGives() {
        var random = new SplittableRandom(41);
        int full = 0;
        int empty = 0;
        for (int i = 0; i < Thorough.times(200, 600); i++) {
            Setup made = Setup.random(random);
            Setup setup = i % 3 != 0 ? made
                    : new Setup(made.sampler, made.lengths, made.world, made.tail, made.budget, true);
            long startEpoch = random.nextInt(3);
            long start = random.nextBoolean() ? 0 : random.nextLong(setup.sampler.size());
            String which = "case " + i + ": " + setup + " from " + startEpoch + ":" + start;
            List<Order> orders = new ArrayList<>();
            List<List<List<List<Long>>>> dealt = new ArrayList<>();
            for (long epoch = startEpoch; epoch < startEpoch + 3; epoch++) {
                orders.add(setup.sampler.epoch(epoch));
                dealt.add(deal(setup, orders.getLast(), epoch == startEpoch ? start : 0));
            }
            for (int rank = 0; rank < setup.world; rank++) {
                BatchSampler batches = setup.rank(rank).startingAt(startEpoch, start);
                BatchPlan plan = new BatchPlan(setup.budget.maxSamples());
                long n = 0;
                for (long epoch = startEpoch; epoch < startEpoch + 3; epoch++) {
                    Order order = orders.get((int) (epoch - startEpoch));
                    var expected = dealt.get((int) (epoch - startEpoch));
                    assertEquals(n, batches.firstBatchOf(epoch), which);
                    empty += expected.isEmpty() && epoch > startEpoch ? 1 : 0;
                    assertEquals(expected.size(), batches.batchesInEpoch(epoch), which);
                    for (int index = 0; index < expected.size(); index++, n++) {
                        List<Long> positions = expected.get(index).get(rank);
                        batches.plan(n, plan);
                        assertEquals(positions.size(), plan.count(), which);
                        assertEquals(positions.getFirst(), plan.firstPosition(), which);
                        assertEquals(epoch, plan.epoch(), which);
                        assertEquals(index, plan.indexInEpoch(), which);
                        assertEquals(epoch, batches.epochOf(n), which);
                        assertEquals(index, n - batches.firstBatchOf(batches.epochOf(n)), which);
                        int valid = 0;
                        for (int k = 0; k < positions.size(); k++) {
                            assertEquals(order.at(positions.get(k) % setup.sampler.size()), plan.sample(k), which);
                            valid += positions.get(k) < setup.sampler.size() || setup.tail != TailPolicy.EXACT ? 1 : 0;
                        }
                        assertEquals(valid, plan.valid(), which);
                        assertTrue(setup.cost(BatchSamplerTest.samples(plan)) <= setup.budget.tokens(), which);
                        full += plan.count() == setup.budget.maxSamples() ? 1 : 0;
                    }
                }
            }
        }
        assertTrue(full > 400, "batches with the most samples: " + full);
        assertTrue(empty > 20, "epochs without batches: " + empty);
    }

    @Tag("slow")
    @Test
    void anEpochHasEachSampleOnceAndEveryRankEquallyManySteps() {
        var random = new SplittableRandom(42);
        for (int i = 0; i < Thorough.times(600, 2000); i++) {
            Setup setup = Setup.random(random);
            int size = (int) setup.sampler.size();
            long[] counts = new long[size];
            long steps = -1;
            long given = 0;
            for (int rank = 0; rank < setup.world; rank++) {
                BatchSampler batches = setup.rank(rank);
                assertTrue(steps < 0 || steps == batches.batchesInEpoch(0), "equal steps");
                steps = batches.batchesInEpoch(0);
                BatchPlan plan = new BatchPlan(batches.batchSize());
                for (long n = 0; n < steps; n++) {
                    batches.plan(n, plan);
                    for (int k = 0; k < plan.valid(); k++) {
                        counts[(int) plan.sample(k)]++;
                        given++;
                    }
                }
            }
            String which = "case " + i + ": " + setup + ": " + Arrays.toString(counts);
            long rounded = Math.ceilDiv(size, setup.world) * setup.world;
            switch (setup.tail) {
                case EXACT -> assertTrue(Arrays.stream(counts).allMatch(c -> c == 1), which);
                case DROP -> assertTrue(Arrays.stream(counts).allMatch(c -> c <= 1)
                        && given == size / setup.world * setup.world, which);
                case PAD -> assertTrue(Arrays.stream(counts).allMatch(c -> c >= 1) && given == rounded, which);
            }
        }
    }

    @Tag("slow")
    @Test
    void aRunKilledAfterAnyBatchAndResumedWithOtherRanksAndBudgetsRepeatsAndSkipsNothing() {
        var random = new SplittableRandom(43);
        int resumedInside = 0;
        int cases = Thorough.times(250, 800);
        for (int i = 0; i < cases; i++) {
            resumedInside += BatchSamplerTest.assertResumes("case " + i, Setup.random(random), random);
        }
        assertTrue(resumedInside > cases / 2, "resumed inside an epoch: " + resumedInside);
    }

    @Tag("slow")
    @Test
    void theSameSetupResumedGivesTheBatchesThatWouldHaveFollowed() {
        var random = new SplittableRandom(44);
        for (int i = 0; i < Thorough.times(300, 1000); i++) {
            Setup setup = Setup.random(random);
            String named = "case " + i + ": " + setup;
            int rank = random.nextInt(setup.world);
            BatchSampler run = setup.rank(rank);
            long kill = random.nextLong(3 * run.batchesInEpoch(0));
            BatchSampler resumed = LoaderState.after(run, kill).resume(setup.rank(rank));
            BatchPlan expected = new BatchPlan(run.batchSize());
            BatchPlan found = new BatchPlan(run.batchSize());
            for (long n = 0; n < 2 * run.batchesInEpoch(0) + 3; n++) {
                run.plan(kill + 1 + n, expected);
                resumed.plan(n, found);
                long at = n;
                Supplier<String> which = () -> named + " killed after " + kill + " batch " + at;
                assertEquals(expected.epoch(), found.epoch(), which);
                assertEquals(expected.firstPosition(), found.firstPosition(), which);
                assertEquals(expected.valid(), found.valid(), which);
                assertEquals(BatchSamplerTest.samples(expected), BatchSamplerTest.samples(found), which);
                assertEquals(LoaderState.after(run, kill + 1 + n), LoaderState.after(resumed, n), which);
            }
        }
    }

    @Test
    void aStateOfFixedBatchesIsResumedWithABudgetAndBack() {
        Sampler sampler = Sampler.shuffled(1000, 4);
        BatchSampler fixed = BatchSampler.of(sampler, 7, new Shard(1, 3, TailPolicy.EXACT));
        BatchSampler budgeted = LoaderState.after(fixed, 9).resume(
                BatchSampler.of(sampler, TokenBudget.padded(500), s -> s % 90,
                new Shard(0, 2, TailPolicy.EXACT)));
        BatchPlan plan = new BatchPlan(budgeted.batchSize());
        budgeted.plan(0, plan);
        assertEquals(10 * 7 * 3, plan.firstPosition());
        LoaderState state = LoaderState.after(budgeted, 0);
        assertEquals(210 + 2L * plan.count(), state.position());
        state.resume(fixed).plan(0, plan);
        assertEquals(state.position() + 1, plan.firstPosition());
    }

    @Tag("slow")
    @Test
    void batchesDoNotDependOnTheThreadsThatPlanThem() throws Exception {
        LongUnaryOperator lengths = s -> s * 31 % 77;
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(400, 77), TokenBudget.padded(600), lengths,
                Shard.whole());
        List<List<Long>> expected = new ArrayList<>();
        BatchSampler alone = BatchSampler.of(Sampler.shuffled(400, 77), TokenBudget.padded(600), lengths,
                Shard.whole());
        BatchPlan plan = new BatchPlan(600);
        for (long n = 0; n < 900; n++) {
            alone.plan(n, plan);
            expected.add(BatchSamplerTest.samples(plan));
        }
        assertTrue(alone.epochOf(899) > 12);
        BatchSamplerTest.assertThreadsPlan(expected, batches, 600, 5_000);
    }

    @Test
    void anEpochIsGoneThroughOnlyAsFarAsItIsAskedFor() {
        long size = 1L << 40;
        long[] furthest = {0};
        Sampler some = Sampler.withReplacement(10, size, 1);
        BatchSampler batches = BatchSampler.of(some, TokenBudget.padded(100), s -> {
            furthest[0]++;
            return s;
        }, Shard.whole());
        BatchPlan plan = new BatchPlan(100);
        batches.plan(1000, plan);
        assertTrue(furthest[0] < 40_000, "asked for " + furthest[0] + " lengths");
        assertEquals(0, LoaderState.after(batches, 1000).epoch());
    }

    @Test
    void planningAllocatesNothingOnceABatchesEndIsKnown() {
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(1_000_000, 5), TokenBudget.padded(4096), s -> s % 512,
                new Shard(3, 8, TailPolicy.PAD)).droppingLast();
        BatchPlan plan = new BatchPlan(4096);
        batches.batchesInEpoch(0);
        long allocated = HeapUse.fewest(10_000, () -> {
            for (long n = 0; n < 10_000; n++) {
                batches.plan(n, plan);
            }
        });
        assertTrue(allocated <= 10_000, "allocated " + allocated + " bytes in 10,000 plans");
    }

    @Test
    void aSampleThatDoesNotFitAloneIsNamed() {
        Sampler all = Sampler.shuffled(100, 1);
        LongUnaryOperator lengths = s -> s == 40 ? 17 : 3;
        var open = assertThrows(IllegalArgumentException.class, () ->
                BatchSampler.of(all, TokenBudget.padded(16), lengths, Shard.whole()));
        assertTrue(open.getMessage().startsWith("sample 40 has 17 tokens"), open.getMessage());
        // 17 tokens fit in 20, but not padded to 24.
        var padded = assertThrows(IllegalArgumentException.class, () ->
                BatchSampler.of(all, TokenBudget.padded(20).toMultipleOf(8), lengths, Shard.whole()));
        assertTrue(padded.getMessage().contains("padded to a multiple of 8"), padded.getMessage());
        BatchSampler.of(all, TokenBudget.padded(24).toMultipleOf(8), lengths, Shard.whole());
        // A sampler that leaves it out may do so; one that comes to it says so then.
        BatchSampler without = BatchSampler.of(Sampler.subset(new long[] {1, 2}, 100, Sampler.sequential(2)),
                TokenBudget.padded(16), lengths, Shard.whole());
        assertEquals(1, without.batchesInEpoch(0));
        long[] more = LongStream.range(0, 60).toArray();
        BatchSampler with = BatchSampler.of(Sampler.subset(more, 100, Sampler.sequential(60)), TokenBudget.padded(16),
                lengths, Shard.whole());
        // It is a batch of its own, which alone is not given: those before it and behind it are.
        assertEquals(8 + 1 + 4, with.batchesInEpoch(0));
        BatchPlan plan = new BatchPlan(16);
        for (long n = 0; n < 13; n++) {
            assertEquals(0, with.epochOf(n));
            if (n != 8) {
                with.plan(n, plan);
                assertEquals(n == 12 ? 4 : 5, plan.count());
            }
        }
        assertEquals(40, LoaderState.after(with, 7).position());
        assertEquals(41, LoaderState.after(with, 8).position());
        var met = assertThrows(IllegalStateException.class, () -> with.plan(8, plan));
        assertTrue(met.getMessage().startsWith("sample 40 has 17 tokens"), met.getMessage());
    }

    /** Two samples a batch of 10 tokens; an epoch in which all three fit in one batch has none. */
    private static BatchSampler somethingNowAndThen(double lengthy) {
        Sampler drawn = Sampler.weighted(new double[] {1, lengthy}, 3, 7);
        return BatchSampler.of(drawn, TokenBudget.padded(10).maxSamples(4), s -> s == 0 ? 3 : 5, Shard.whole())
                .droppingLast();
    }

    @Test
    void anEpochWithoutBatchesIsPassedOverAndTheRunGoesOn() {
        BatchSampler batches = somethingNowAndThen(0.15);
        batches.requireBatch(Long.MAX_VALUE);
        Sampler sampler = batches.sampler();
        BatchPlan plan = new BatchPlan(4);
        long n = 0;
        int empty = 0;
        for (long epoch = 0; epoch < 60; epoch++) {
            Order order = sampler.epoch(epoch);
            // One of the longer ones among the three, and they take two batches, the last of which is dropped.
            boolean full = LongStream.range(0, 3).map(order::at).anyMatch(sample -> sample == 1);
            assertEquals(full ? 1 : 0, batches.batchesInEpoch(epoch), "epoch " + epoch);
            assertEquals(n, batches.firstBatchOf(epoch));
            if (full) {
                assertEquals(epoch, batches.epochOf(n));
                assertEquals(epoch, batches.epochOf(n, epoch + 1));
                assertEquals(epoch, batches.epochOf(n, epoch));
                batches.plan(n, plan);
                assertEquals(epoch, plan.epoch());
                LoaderState after = LoaderState.after(batches, n);
                assertEquals(List.of(epoch + 1, 0L), List.of(after.epoch(), after.position()));
                // A run that goes on from there gives the same next batch, be the epoch empty.
                assertEquals(batches.epochOf(n + 1), after.resume(batches).epochOf(0));
                n++;
            } else {
                empty++;
                assertEquals(batches.epochOf(n), batches.startingAt(epoch, 0).epochOf(0));
            }
        }
        assertTrue(empty > 10 && n > 10, empty + " empty, " + n + " with a batch");
    }

    @Test
    void aRunWithoutAnyBatchIsRefusedAndNotSearchedForEver() {
        BatchSampler none = somethingNowAndThen(0);
        for (long end : new long[] {Long.MAX_VALUE, 1, 5, 1000}) {
            var refused = assertThrows(IllegalArgumentException.class, () -> somethingNowAndThen(0).requireBatch(end));
            assertTrue(refused.getMessage().startsWith("no batch in epochs 0 to " + (Math.min(end, 64) - 1)),
                    refused.getMessage());
        }
        none.requireBatch(0);                                       // a run that is at its end
        assertEquals(3, none.epochOf(0, 3));
        assertEquals(63, none.epochOf(5));
        var said = assertThrows(IllegalStateException.class, () -> none.plan(0, new BatchPlan(4)));
        assertTrue(said.getMessage().startsWith("no batch in epochs 0 to 63"), said.getMessage());
        assertThrows(IllegalStateException.class, () -> none.firstBatchOf(100));
    }

    @Test
    void wrongArgumentsAreRefused() {
        Sampler sampler = Sampler.sequential(10);
        assertThrows(IllegalArgumentException.class, () -> TokenBudget.padded(0));
        assertThrows(IllegalArgumentException.class, () -> TokenBudget.padded((1L << 40) + 1));
        assertThrows(IllegalArgumentException.class, () -> TokenBudget.padded(9).maxSamples(0));
        assertThrows(IllegalArgumentException.class, () -> TokenBudget.padded(9).toMultipleOf(0));
        assertThrows(IllegalArgumentException.class, () ->
                BatchSampler.of(sampler, TokenBudget.padded(9), _ -> 1, new Shard(0, 11, TailPolicy.DROP)));
        assertThrows(IllegalArgumentException.class, () ->
                BatchSampler.of(sampler, TokenBudget.padded(90).maxSamples(11), _ -> 1, Shard.whole()).droppingLast()
                .requireBatch(Long.MAX_VALUE));
        BatchSampler batches = BatchSampler.of(sampler, TokenBudget.padded(9), _ -> 1, Shard.whole());
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(0, 10));
        assertThrows(IllegalArgumentException.class, () -> batches.plan(0, new BatchPlan(3)));
        assertThrows(IndexOutOfBoundsException.class, () -> batches.plan(-1, new BatchPlan(9)));
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(2, 0).batchesInEpoch(1));
        assertFalse(batches.dropsLast());
        assertEquals(65_536, TokenBudget.sum(1L << 30).maxSamples());
    }

    @Test
    void aLengthThatCannotBeReadOnceChangesNoBatch() {
        Sampler all = Sampler.sequential(200);
        TokenBudget budget = new TokenBudget(100, 30, 1, Cost.SUM);
        Shard shard = new Shard(1, 2, TailPolicy.EXACT);
        LongUnaryOperator lengths = sample -> sample * 7 % 23;
        BatchSampler sound = BatchSampler.of(all, budget, lengths, shard);
        BatchPlan expected = new BatchPlan(30);
        BatchPlan found = new BatchPlan(30);
        for (int failing = 1; failing < 60; failing++) {
            AtomicInteger left = new AtomicInteger();
            BatchSampler batches = BatchSampler.of(all, budget, sample -> {
                if (left.decrementAndGet() == 0) {
                    throw new IllegalStateException("not read");
                }
                return lengths.applyAsLong(sample);
            }, shard);
            left.set(failing);
            assertThrows(IllegalStateException.class, () -> batches.batchesInEpoch(0));
            assertEquals(sound.batchesInEpoch(0), batches.batchesInEpoch(0), "failed at " + failing);
            for (long n = 0; n < sound.batchesInEpoch(0); n++) {
                sound.plan(n, expected);
                batches.plan(n, found);
                assertEquals(expected.count(), found.count(), "batch " + n + ", failed at " + failing);
                assertEquals(expected.sample(0), found.sample(0), "batch " + n + ", failed at " + failing);
            }
        }
    }
}
