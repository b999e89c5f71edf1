// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.internal.SplitMix64;
import io.penstock.sampling.WorkBudget.Limit;
import io.penstock.state.LoaderState;
import io.penstock.testing.CountingSampler;
import io.penstock.testing.HeapUse;
import io.penstock.testing.PipelineClock;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class WorkBatchesTest {

    private static final long SEED = 20261128;

    /** What a batch is in the tests: its first position, its samples, and how many have weight. */
    private record Given(long position, List<Long> samples, int valid) {
    }

    private static Given given(BatchSampler batches, long number) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        batches.plan(number, plan);
        assertEquals(plan.count(), batches.countOf(number));
        for (int i = 0; i < plan.count(); i++) {
            assertEquals(plan.firstPosition() + i, plan.position(i));
        }
        return new Given(plan.firstPosition(), Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList(),
                plan.valid());
    }

    /** A dataset with costs and two sizes, and a budget for it, drawn at random. */
    private record Case(long[] costs, long[] tokens, long[] pixels, WorkBudget budget) {

        static Case of(SplittableRandom random, int most) {
            int n = random.nextInt(1, most);
            long[] costs = random.longs(n, 0, random.nextInt(1, 60)).toArray();
            long[] tokens = random.longs(n, 0, 30).toArray();
            long[] pixels = random.longs(n, 1, 12).toArray();
            var budget = new WorkBudget(s -> costs[(int) s], random.nextInt(1, 5), random.nextInt(1, 5),
                    random.nextInt(1, 5), random.nextInt(1, 9), List.of());
            if (random.nextInt(3) > 0) {
                budget = budget.limit(new Limit("tokens", random.nextInt(32, 120), s -> tokens[(int) s],
                        random.nextBoolean(), random.nextInt(1, 4)));
            }
            if (random.nextInt(3) == 0) {
                budget = budget.limit(Limit.sum("pixels", random.nextInt(12, 40), s -> pixels[(int) s]));
            }
            return new Case(costs, tokens, pixels, budget);
        }
    }

    /** Without limits, how many batches a window has follows from its samples alone: nothing is dealt up to there. */
    @Test
    void aFarStepIsComputedWithoutLimits() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 200; i++) {
            int n = random.nextInt(1, 200);
            long[] costs = random.longs(n, 0, 60).toArray();
            var budget = new WorkBudget(s -> costs[(int) s], random.nextInt(1, 5), random.nextInt(1, 5),
                    random.nextInt(1, 5), random.nextInt(1, 9), List.of());
            int world = random.nextInt(1, 5);
            BatchSampler batches = BatchSampler.of(Sampler.shuffled(n, i), budget,
                    new Shard(random.nextInt(world), world, TailPolicy.EXACT));
            long number = 0;
            for (long epoch = 0; epoch < 5; epoch++) {
                BatchSampler ofEpoch = batches.startingAt(epoch, 0);
                assertEquals(number, batches.firstBatchOf(epoch));
                for (long index = 0; index < ofEpoch.batchesInEpoch(epoch); index++) {
                    assertEquals(epoch, batches.epochOf(number));
                    assertEquals(given(ofEpoch, index), given(batches, number++));
                }
            }
            long far = 1_000_000_000L * batches.batchesInEpoch(1);
            assertEquals(given(batches.startingAt(1_000_000_000, 0), 0), given(batches, far));
        }
    }

    /** With limits a step from the start needs all windows before it; a state says where its window is. */
    @Test
    void aRunThatResumesDealsOnlyTheWindowThatItIsIn() {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] tokens = random.longs(20_000, 1, 30).toArray();
        WorkBudget budget = new WorkBudget(s -> tokens[(int) s], 4, 4, 4, 16, List.of())
                .limit(Limit.sum("tokens", 64, s -> tokens[(int) s]));
        Set<Long> dealt = new HashSet<>();
        Sampler counted = new CountingSampler(tokens.length, epoch -> new Order() {

            private final Order order = Sampler.shuffled(tokens.length, 3).epoch(epoch);

            @Override
            public long size() {
                return order.size();
            }

            @Override
            public long at(long position) {
                dealt.add(position / budget.window());
                return order.at(position);
            }
        });
        BatchSampler run = BatchSampler.of(counted, budget, new Shard(1, 4, TailPolicy.EXACT));
        LoaderState state = LoaderState.after(run, 500);
        Given next = given(run, 501);
        assertTrue(dealt.size() > 100, dealt::toString);
        dealt.clear();
        BatchSampler resumed = state.resume(BatchSampler.of(counted, budget, new Shard(1, 4, TailPolicy.EXACT)));
        assertEquals(next, given(resumed, 0));
        assertTrue(dealt.size() <= 2, dealt::toString);
    }

    /**
     * Micro-batches of even work leave a pipeline only the wait that its stages have anyway, in any order; those
     * of equal numbers of samples do not.
     */
    @Test
    void aPipelineOfStagesWaitsNoLongerThanForEqualMicroBatches() {
        int stages = 8;
        int micro = 16;
        int ranks = 4;
        SplittableRandom random = new SplittableRandom(SEED);
        long[] lengths = LongStream.range(0, 64 * ranks * micro * 4)
                .map(_ -> (long) (16 * Math.pow(2048, random.nextDouble()))).toArray();
        WorkBudget budget = WorkBudget.of(ranks * micro, 4, s -> lengths[(int) s] * (4096 + lengths[(int) s]))
                .maxSamples(256);
        double least = (stages - 1) / (double) (micro + stages - 1);
        for (long[][] step : steps(BatchSampler.of(Sampler.shuffled(lengths.length, 1), budget,
                new Shard(0, ranks, TailPolicy.EXACT)), budget, micro)) {
            double idle = PipelineClock.idle(stages, step);
            assertTrue(idle < least + 0.02, idle + ", with equal ones " + least);
        }
        for (long[][] step : steps(BatchSampler.of(Sampler.shuffled(lengths.length, 1), 4,
                new Shard(0, ranks, TailPolicy.EXACT)), budget, micro)) {
            assertTrue(PipelineClock.idle(stages, step) > least + 0.1);
        }
    }

    /** The work of each micro-batch, of each rank, of each of some steps. */
    private static List<long[][]> steps(BatchSampler batches, WorkBudget budget, int micro) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        List<long[][]> steps = new ArrayList<>();
        for (int step = 0; step < 16; step++) {
            long[][] work = new long[batches.shard().worldSize()][micro];
            for (int rank = 0; rank < work.length; rank++) {
                for (int i = 0; i < micro; i++) {
                    batches.ofRank(rank).plan((long) step * micro + i, plan);
                    work[rank][i] = work(budget, Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList());
                }
            }
            steps.add(work);
        }
        return steps;
    }

    private static long used(Limit limit, List<Long> samples) {
        long[] sizes = samples.stream().mapToLong(limit.sizes()::applyAsLong).toArray();
        long greatest = Arrays.stream(sizes).max().orElse(0);
        long rounded = (greatest + limit.multipleOf() - 1) / limit.multipleOf() * limit.multipleOf();
        return limit.isPadded() ? sizes.length * rounded : Arrays.stream(sizes).sum();
    }

    private static boolean fits(WorkBudget budget, List<Long> samples) {
        return samples.size() <= budget.maxSamples()
                && budget.limits().stream().allMatch(limit -> used(limit, samples) <= limit.most());
    }

    private static long work(WorkBudget budget, List<Long> samples) {
        return samples.stream().mapToLong(budget.costs()::applyAsLong).sum();
    }

    /** The batches of a window, by lists, as the specification says it. */
    private static List<List<Long>> model(WorkBudget budget, List<Long> window, long key, long number) {
        int c = window.size();
        List<Long> sorted = new ArrayList<>(window);
        sorted.sort(Comparator.comparingLong(sample -> -budget.costs().applyAsLong(sample)));
        int g = budget.group();
        long h = Math.max(-Math.floorDiv(-c, budget.batchSize()), -Math.floorDiv(-c, budget.maxSamples()));
        for (Limit limit : budget.limits()) {
            long sum = window.stream().mapToLong(limit.sizes()::applyAsLong).sum();
            h = Math.max(h, -Math.floorDiv(-sum, limit.most()));
        }
        h = Math.min(c, -Math.floorDiv(-h, g) * g);
        List<List<Long>> bins = null;
        while (bins == null) {
            bins = new ArrayList<>();
            for (int i = 0; i < h; i++) {
                bins.add(new ArrayList<>());
            }
            for (long sample : sorted) {
                List<Long> best = null;
                for (List<Long> bin : bins) {
                    List<Long> more = new ArrayList<>(bin);
                    more.add(sample);
                    if (fits(budget, more) && (best == null || work(budget, bin) < work(budget, best)
                            || work(budget, bin) == work(budget, best) && bin.size() < best.size())) {
                        best = bin;
                    }
                }
                if (best == null) {
                    bins = null;
                    break;
                }
                best.add(sample);
            }
            if (bins == null) {
                h = Math.min(c, h + Math.max(1, h / (8L * g)) * g);
            }
        }
        bins.sort(Comparator.comparingLong(bin -> -work(budget, bin)));
        List<List<Long>> placed = new ArrayList<>(bins);
        int whole = bins.size() / g;
        for (int i = 0; i < bins.size(); i++) {
            int j = i / g;
            int size = j < whole ? g : bins.size() - whole * g;
            int place = j < whole ? (int) new Permutation(whole, key, number).at(j) : j;
            placed.set(place * g + (i % g + j) % size, bins.get(i));
        }
        return placed;
    }

    private static List<List<Long>> model(Sampler base, WorkBudget budget, long epoch) {
        long key = SplitMix64.key(base.seed(), epoch, 0x574F524B42494E53L);
        Order order = base.epoch(epoch);
        int window = budget.group() * budget.batchSize() * budget.steps();
        List<List<Long>> all = new ArrayList<>();
        for (long from = 0; from < order.size(); from += window) {
            all.addAll(model(budget, LongStream.range(from, Math.min(order.size(), from + window)).map(order::at)
                    .boxed().toList(), key, from / window));
        }
        return all;
    }

    @Test
    void batchesAreThoseThatAModelOfListsDeals() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < Thorough.times(100, 400); round++) {
            Case of = Case.of(random, 120);
            int n = of.costs.length;
            Sampler base = random.nextBoolean() ? Sampler.shuffled(n, round)
                    : Sampler.withReplacement(n, random.nextInt(1, 2 * n), round);
            int world = random.nextInt(1, 5);
            TailPolicy tail = random.nextBoolean() ? TailPolicy.PAD : TailPolicy.EXACT;
            List<List<Long>> first = model(base, of.budget, 0);
            List<List<Long>> second = model(base, of.budget, 1);
            for (int rank = 0; rank < world; rank++) {
                BatchSampler batches = BatchSampler.of(base, of.budget, new Shard(rank, world, tail));
                long steps = -Math.floorDiv(-first.size(), world);
                long number = 0;
                for (long epoch = 0; epoch < 2; epoch++) {
                    List<List<Long>> bins = epoch == 0 ? first : second;
                    for (int step = 0; step * world < bins.size(); step++, number++) {
                        int bin = step * world + rank;
                        int taken = bin % bins.size();
                        Given found = given(batches, number);
                        assertEquals(epoch, batches.epochOf(number));
                        assertEquals(bins.get(taken), found.samples, "seed " + SEED + ", round " + round);
                        assertEquals(bin >= bins.size() && tail == TailPolicy.EXACT ? 0 : bins.get(taken).size(),
                                found.valid);
                        long position = bins.subList(0, taken).stream().mapToInt(List::size).sum();
                        assertEquals(position + (bin >= bins.size() ? base.size() : 0), found.position);
                        if (bin < bins.size()) {
                            assertEquals(found.samples.getFirst(), batches.order(epoch).at(position));
                        }
                    }
                }
                assertEquals(steps, batches.batchesInEpoch(0));
                assertEquals(steps, batches.firstBatchOf(1));
            }
        }
    }

    /** Windows of a few samples each. */
    @Tag("slow")
    @Test
    void noLimitIsEverExceededNoBatchIsEmptyAndEachSampleComesOnce() {
        var random = new SplittableRandom(SEED + 1);
        long windows = 0;
        while (windows < Thorough.times(25_000, 100_000)) {
            Case of = Case.of(random, 4000);
            int n = of.costs.length;
            WorkBins order = (WorkBins) WorkBins.sampler(Sampler.shuffled(n, windows), of.budget).epoch(0);
            Set<Long> seen = new HashSet<>();
            for (long w = 0; w < order.windowCount(); w++, windows++) {
                WorkBins.Window window = order.window(w);
                for (int bin = 0; bin < window.ends().length; bin++) {
                    List<Long> samples = Arrays.stream(window.samples(), window.begin(bin), window.ends()[bin]).boxed()
                            .toList();
                    assertTrue(!samples.isEmpty() && fits(of.budget, samples), () -> "seed " + (SEED + 1) + ": "
                            + samples + " of " + of.budget);
                    samples.forEach(sample -> assertTrue(seen.add(sample)));
                }
            }
            assertEquals(n, seen.size());
        }
    }

    private static long[] lengths(int count) {
        var random = new SplittableRandom(SEED + 2);
        return LongStream.range(0, count).map(_ -> (long) (16 * Math.pow(2048, random.nextDouble()))).toArray();
    }

    /** The slowest rank's work over the mean, the mean over the first steps of an epoch. */
    private static double slowest(BatchSampler any, WorkBudget budget, int steps) {
        double sum = 0;
        int world = any.shard().worldSize();
        for (int step = 0; step < steps; step++) {
            long total = 0;
            long most = 0;
            for (int rank = 0; rank < world; rank++) {
                long work = work(budget, given(any.ofRank(rank), step).samples);
                total += work;
                most = Math.max(most, work);
            }
            sum += (double) most * world / total;
        }
        return sum / steps;
    }

    @Test
    void theSlowestOf64RanksHasHardlyMoreThanTheMeanWithinALimitOfTokens() {
        long[] lengths = lengths(64 * 32 * 32);
        for (int batch : new int[] {16, 32}) {
            WorkBudget budget = WorkBudget.of(64, batch, s -> lengths[(int) s] * (4096 + lengths[(int) s]))
                    .limit(Limit.sum("tokens", 5200L * batch, s -> lengths[(int) s])).maxSamples(32 * batch);
            BatchSampler batches = BatchSampler.of(Sampler.shuffled(lengths.length, 1), budget,
                    new Shard(0, 64, TailPolicy.EXACT));
            double found = slowest(batches, budget, 32);
            assertTrue(found <= 1.01, batch + ": " + found);
            double other = slowest(BatchSampler.of(Sampler.shuffled(lengths.length, 1), budget,
                    new Shard(0, 48, TailPolicy.EXACT)), budget, 20);
            assertTrue(other <= 1.01, batch + " at 48 ranks: " + other);
        }
        WorkBudget few = WorkBudget.of(64, 8, s -> lengths[(int) s] * (4096 + lengths[(int) s])).over(64)
                .maxSamples(512);
        double found = slowest(BatchSampler.of(Sampler.shuffled(lengths.length, 1), few,
                new Shard(0, 64, TailPolicy.EXACT)), few, 64);
        assertTrue(found <= 1.01, "8: " + found);
    }

    @Test
    void aRunThatResumesWithOtherRanksAtAnyStepGivesEachSampleOnce() {
        var random = new SplittableRandom(SEED + 3);
        for (int round = 0; round < Thorough.times(50, 200); round++) {
            Case of = Case.of(random, 300);
            int n = of.costs.length;
            Sampler base = Sampler.shuffled(n, round);
            Map<Long, Integer> given = new HashMap<>();
            LoaderState state = null;
            long epoch = 0;
            while (epoch == 0) {
                int world = random.nextInt(1, 6);
                BatchSampler whole = BatchSampler.of(base, of.budget, new Shard(0, world, TailPolicy.EXACT));
                BatchSampler batches = state == null ? whole : state.resume(whole);
                int steps = random.nextInt(1, 6);
                for (int step = 0; step < steps && batches.epochOf(step) == 0; step++) {
                    for (int rank = 0; rank < world; rank++) {
                        Given batch = given(batches.ofRank(rank), step);
                        batch.samples.subList(0, batch.valid).forEach(sample -> given.merge(sample, 1, Integer::sum));
                    }
                    state = LoaderState.after(batches, step);
                    assertEquals(batches.positionOf(step) + batches.positionsOf(step),
                            state.epoch() == 0 ? state.position() : n);
                }
                epoch = state.epoch();
            }
            assertEquals(n, given.size());
            assertTrue(given.values().stream().allMatch(times -> times == 1), "seed " + (SEED + 3));
        }
    }

    @Test
    void whatIsOutOfRangeOrWithoutMeaningIsRefused() {
        Sampler base = Sampler.shuffled(20, 1);
        WorkBudget budget = WorkBudget.of(2, 2, s -> s);
        Shard shard = new Shard(0, 2, TailPolicy.PAD);
        for (WorkBudget above : List.of(budget.limit(Limit.sum("tokens", 18, s -> s)),
                budget.limit(Limit.padded("tokens", 18, s -> s)))) {
            String message = assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(base, above, shard))
                    .getMessage();
            assertTrue(message.startsWith("sample 19 has 19 tokens: expected 0 to the limit of 18"), message);
        }
        String rounded = assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(base, budget.limit(
                new Limit("tokens", 19, s -> s, true, 8)), shard)).getMessage();
        assertTrue(rounded.startsWith("sample 17 has 17 tokens, padded to a multiple of 8"), rounded);
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(base, WorkBudget.of(1, 1, _ -> -1), shard));
        assertThrows(IllegalArgumentException.class,
                () -> BatchSampler.of(base, budget, new Shard(0, 2, TailPolicy.DROP)));
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(base, budget, shard).droppingLast());
        assertThrows(IllegalArgumentException.class, () -> budget.maxSamples(0));
        assertThrows(IllegalArgumentException.class, () -> budget.over(1 << 23));
        assertThrows(IllegalArgumentException.class, () -> Limit.sum("a b", 1, s -> s));
        assertThrows(IllegalArgumentException.class, () -> Limit.sum("a", 0, s -> s));
        BatchSampler batches = BatchSampler.of(base, WorkBudget.of(1, 5, _ -> 1).maxSamples(5), shard);
        assertEquals(2, batches.batchesInEpoch(0));
        String within = assertThrows(IllegalArgumentException.class, () -> batches.startingAt(0, 7)).getMessage();
        assertTrue(within.startsWith("position 7 is within a batch"), within);
        assertEquals(5, given(batches.startingAt(0, 5), 0).position);
    }

    @Test
    void aFingerprintTellsCostsLimitsAndSettingsButNotRanks() {
        Sampler base = Sampler.shuffled(100, 1);
        WorkBudget budget = WorkBudget.of(2, 3, s -> s).limit(Limit.sum("tokens", 500, s -> s));
        Shard shard = new Shard(0, 2, TailPolicy.PAD);
        String one = BatchSampler.of(base, budget, shard).sampler().fingerprint();
        assertEquals(one, BatchSampler.of(base, budget, new Shard(2, 5, TailPolicy.PAD)).sampler().fingerprint());
        for (WorkBudget other : List.of(WorkBudget.of(2, 3, s -> s), budget.over(3), budget.maxSamples(7),
                WorkBudget.of(2, 3, s -> s + 1).limit(budget.limits().getFirst()),
                WorkBudget.of(2, 3, s -> s).limit(Limit.sum("tokens", 501, s -> s)),
                WorkBudget.of(2, 3, s -> s).limit(Limit.padded("tokens", 500, s -> s)),
                WorkBudget.of(2, 3, s -> s).limit(Limit.sum("tokens", 500, s -> s / 2)))) {
            assertNotEquals(one, BatchSampler.of(base, other, shard).sampler().fingerprint());
        }
    }

    @Test
    void aWindowThatWasDealtIsPlannedWithoutAllocating() {
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(100_000, 5), WorkBudget.of(8, 64, s -> s % 1000),
                new Shard(3, 8, TailPolicy.PAD));
        BatchPlan plan = new BatchPlan(batches.batchSize());
        long allocated = HeapUse.fewest(10_000, () -> {
            for (int i = 0; i < 10_000; i++) {
                batches.plan(i * 31 % 100, plan);
            }
        });
        assertTrue(allocated < 10_000, allocated + " bytes");
    }
}
