// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.state.LoaderState;
import io.penstock.testing.HeapUse;
import io.penstock.testing.Thorough;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BatchSamplerTest {

    private static final TailPolicy[] TAILS = TailPolicy.values();

    /** Everything that shapes batches but the rank. */
    interface RankSetup {

        Sampler sampler();

        int world();

        TailPolicy tail();

        boolean dropLast();

        BatchSampler rank(int rank);

        /** Another setup, which can resume from the states of this one. */
        RankSetup resumedBy(SplittableRandom random);
    }

    private record Setup(Sampler sampler, int world, TailPolicy tail, int batchSize, boolean dropLast)
            implements RankSetup {

        static Setup random(SplittableRandom random) {
            while (true) {
                int size = random.nextInt(1, random.nextBoolean() ? 20 : 300);
                Setup setup = new Setup(
                        random.nextBoolean() ? Sampler.shuffled(size, random.nextLong()) : Sampler.sequential(size),
                        random.nextInt(1, 14), TAILS[random.nextInt(TAILS.length)], random.nextInt(1, 20),
                        random.nextInt(4) == 0);
                if (setup.batchesOfWholeEpoch() > 0) {
                    return setup;
                }
            }
        }

        @Override
        public Setup resumedBy(SplittableRandom random) {
            while (true) {
                Setup setup = new Setup(sampler, random.nextInt(1, 14), TAILS[random.nextInt(TAILS.length)],
                        random.nextInt(1, 20), random.nextInt(4) == 0);
                if (setup.batchesOfWholeEpoch() > 0) {
                    return setup;
                }
            }
        }

        long batchesOfWholeEpoch() {
            long size = sampler.size();
            long each = tail == TailPolicy.DROP ? size / world : (size + world - 1) / world;
            return dropLast ? each / batchSize : (each + batchSize - 1) / batchSize;
        }

        @Override
        public BatchSampler rank(int rank) {
            BatchSampler batches = BatchSampler.of(sampler, batchSize, new Shard(rank, world, tail));
            return dropLast ? batches.droppingLast() : batches;
        }
    }

    /**
     * The reference: deals the positions from {@code start} out one by one, as cards, to ranks in turn, and cuts each
     * rank's hand into batches. Returns for each rank its batches, each a list of positions, the tail's counted on
     * past the size.
     */
    private static List<List<List<Long>>> deal(Setup setup, long start) {
        long size = setup.sampler.size();
        List<List<Long>> hands = new ArrayList<>();
        for (int rank = 0; rank < setup.world; rank++) {
            hands.add(new ArrayList<>());
        }
        long position = start;
        while (position < size || setup.tail != TailPolicy.DROP && (position - start) % setup.world != 0) {
            hands.get((int) ((position - start) % setup.world)).add(position);
            position++;
        }
        if (setup.tail == TailPolicy.DROP) {
            int shortest = hands.getLast().size();
            hands.replaceAll(hand -> hand.subList(0, shortest));
        }
        List<List<List<Long>>> dealt = new ArrayList<>();
        for (List<Long> hand : hands) {
            List<List<Long>> batches = new ArrayList<>();
            for (int i = 0; i < hand.size(); i += setup.batchSize) {
                batches.add(hand.subList(i, Math.min(hand.size(), i + setup.batchSize)));
            }
            if (setup.dropLast && !batches.isEmpty() && batches.getLast().size() < setup.batchSize) {
                batches.removeLast();
            }
            dealt.add(batches);
        }
        return dealt;
    }

    @Test
    void batchesAreWhatDealingThePositionsOutOneByOneGives() {
        SplittableRandom random = new SplittableRandom(31);
        for (int i = 0; i < Thorough.times(800, 3000); i++) {
            Setup setup = Setup.random(random);
            long startEpoch = random.nextInt(3);
            long start = random.nextBoolean() ? 0 : random.nextLong(setup.sampler.size());
            String which = "case " + i + ": " + setup + " from " + startEpoch + ":" + start;
            for (int rank = 0; rank < setup.world; rank++) {
                BatchSampler batches = setup.rank(rank).startingAt(startEpoch, start);
                BatchPlan plan = new BatchPlan(setup.batchSize);
                long n = 0;
                for (long epoch = startEpoch; epoch < startEpoch + 3; epoch++) {
                    Order order = setup.sampler.epoch(epoch);
                    List<List<Long>> expected = deal(setup, epoch == startEpoch ? start : 0).get(rank);
                    assertEquals(n, batches.firstBatchOf(epoch), which);
                    assertEquals(expected.size(), batches.batchesInEpoch(epoch), which);
                    for (int index = 0; index < expected.size(); index++, n++) {
                        batches.plan(n, plan);
                        assertBatch(which, setup, order, expected.get(index), plan);
                        assertEquals(n, plan.number(), which);
                        assertEquals(epoch, plan.epoch(), which);
                        assertEquals(index, plan.indexInEpoch(), which);
                        assertEquals(epoch, batches.epochOf(n), which);
                        assertEquals(index, n - batches.firstBatchOf(batches.epochOf(n)), which);
                    }
                }
            }
        }
    }

    private static void assertBatch(String which, Setup setup, Order order, List<Long> positions, BatchPlan plan) {
        long size = setup.sampler.size();
        assertEquals(positions.size(), plan.count(), which);
        assertEquals(positions.getFirst(), plan.firstPosition(), which);
        int valid = 0;
        for (int i = 0; i < positions.size(); i++) {
            long position = positions.get(i);
            assertEquals(order.at(position % size), plan.sample(i), which);
            valid += position < size || setup.tail != TailPolicy.EXACT ? 1 : 0;
        }
        assertEquals(valid, plan.valid(), which);
    }

    @Test
    void everySampleCountsAsOftenAsTheTailPolicySays() {
        SplittableRandom random = new SplittableRandom(32);
        for (int i = 0; i < Thorough.times(800, 3000); i++) {
            Setup setup = Setup.random(random);
            long[] counts = new long[(int) setup.sampler.size()];
            long ranksBatches = -1;
            for (int rank = 0; rank < setup.world; rank++) {
                BatchSampler batches = setup.rank(rank);
                assertTrue(ranksBatches < 0 || ranksBatches == batches.batchesInEpoch(0), "equal steps");
                ranksBatches = batches.batchesInEpoch(0);
                count(batches, 0, Long.MAX_VALUE, counts);
            }
            long given = Arrays.stream(counts).sum();
            long size = setup.sampler.size();
            String which = "case " + i + ": " + setup + ": " + Arrays.toString(counts);
            if (setup.dropLast) {
                // Whole batches on every rank, of samples that otherwise follow the policy.
                assertTrue(setup.tail == TailPolicy.EXACT || given == ranksBatches * setup.batchSize * setup.world,
                        which);
                continue;
            }
            long rounded = (size + setup.world - 1) / setup.world * setup.world;
            switch (setup.tail) {
                case EXACT -> assertTrue(Arrays.stream(counts).allMatch(c -> c == 1), which);
                case DROP -> assertTrue(Arrays.stream(counts).allMatch(c -> c <= 1)
                        && given == size / setup.world * setup.world, which);
                case PAD -> assertTrue(Arrays.stream(counts).allMatch(c -> c >= 1 && c <= 1 + rounded / size)
                        && given == rounded, which);
            }
        }
    }

    /** Counts the samples with weight in batches {@code from} to {@code to} of the run's start epoch. */
    private static void count(BatchSampler batches, long from, long to, long[] counts) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        long epoch = batches.startEpoch();
        for (long n = from; n < Math.min(to, batches.batchesInEpoch(epoch)); n++) {
            batches.plan(n, plan);
            for (int i = 0; i < plan.valid(); i++) {
                counts[(int) plan.sample(i)]++;
            }
        }
    }

    @Tag("slow")
    @Test
    void aRunKilledAfterAnyBatchAndResumedWithOtherRanksAndBatchSizesRepeatsAndSkipsNothing() {
        SplittableRandom random = new SplittableRandom(33);
        int resumedInside = 0;
        for (int i = 0; i < 10_000; i++) {
            resumedInside += assertResumes("case " + i, Setup.random(random), random);
        }
        assertTrue(resumedInside > 4000, "resumed inside an epoch: " + resumedInside);
    }

    /**
     * A chain of runs, each killed after some batches and resumed with another setup: what they give must be positions
     * 0, 1, 2, … of epoch 0.
     *
     * @return how many runs began inside the epoch
     */
    static int assertResumes(String chain, RankSetup first, SplittableRandom random) {
        RankSetup setup = first;
        Order order = setup.sampler().epoch(0);
        long size = setup.sampler().size();
        LoaderState state = LoaderState.before(setup.rank(0));
        long position = 0;
        int resumedInside = 0;
        for (int run = 0; state.epoch() == 0; run++) {
            String which = chain + " run " + run + ": " + setup + " from " + state;
            BatchSampler ofFirst = state.resume(setup.rank(0));
            long batches = ofFirst.batchesInEpoch(0);
            boolean mayOmit = setup.dropLast() || setup.tail() == TailPolicy.DROP;
            if (batches == 0) {
                assertEquals(1, ofFirst.epochOf(0), which);
                assertTrue(mayOmit, which);
                break;
            }
            long kill = random.nextLong(batches);
            List<Long> given = new ArrayList<>();
            for (int rank = 0; rank < setup.world(); rank++) {
                BatchSampler own = state.resume(setup.rank(rank));
                assertEquals(LoaderState.after(ofFirst, kill), LoaderState.after(own, kill), which);
                BatchPlan plan = new BatchPlan(own.batchSize());
                for (long n = 0; n <= kill; n++) {
                    own.plan(n, plan);
                    for (int i = 0; i < plan.count(); i++) {
                        long at = plan.firstPosition() + (long) i * setup.world();
                        assertEquals(order.at(at % size), plan.sample(i), which);
                        given.add(at);
                    }
                }
            }
            given.sort(null);
            for (long p : given) {
                if (p < size) {
                    assertEquals(position++, p, which);
                }
            }
            LoaderState next = LoaderState.fromJson(LoaderState.after(ofFirst, kill).toJson());
            if (next.epoch() == 0) {
                assertEquals(position, next.position(), which);
                resumedInside++;
            } else {
                assertEquals(new LoaderState(1, 0, state.seed(), state.sampler(), ""), next, which);
                assertTrue(position == size || mayOmit, which);
            }
            state = next;
            setup = setup.resumedBy(random);
        }
        return resumedInside;
    }

    @Test
    void theSameSetupResumedGivesTheBatchesThatWouldHaveFollowed() {
        SplittableRandom random = new SplittableRandom(34);
        for (int i = 0; i < Thorough.times(600, 2000); i++) {
            Setup setup = Setup.random(random);
            String named = "case " + i + ": " + setup;
            int rank = random.nextInt(setup.world);
            BatchSampler run = setup.rank(rank);
            long kill = random.nextLong(3 * run.batchesInEpoch(0));
            BatchSampler resumed = LoaderState.after(run, kill).resume(setup.rank(rank));
            BatchPlan expected = new BatchPlan(setup.batchSize);
            BatchPlan found = new BatchPlan(setup.batchSize);
            for (long n = 0; n < 2 * run.batchesInEpoch(0) + 3; n++) {
                run.plan(kill + 1 + n, expected);
                resumed.plan(n, found);
                long at = n;
                Supplier<String> which = () -> named + " killed after " + kill + " batch " + at;
                assertEquals(expected.epoch(), found.epoch(), which);
                assertEquals(expected.firstPosition(), found.firstPosition(), which);
                assertEquals(expected.valid(), found.valid(), which);
                assertEquals(samples(expected), samples(found), which);
                assertEquals(LoaderState.after(run, kill + 1 + n), LoaderState.after(resumed, n), which);
            }
        }
    }

    static List<Long> samples(BatchPlan plan) {
        List<Long> samples = new ArrayList<>();
        for (int i = 0; i < plan.count(); i++) {
            samples.add(plan.sample(i));
        }
        return samples;
    }

    @Test
    void atATrillionSamplesAnyPlaceIsReachedAtOnce() {
        long size = 1_000_000_000_000L;
        // Going through the samples would take days.
        Assertions.assertTimeoutPreemptively(Duration.ofMinutes(10), () -> {
            SplittableRandom random = new SplittableRandom(35);
            BatchPlan plan = new BatchPlan(512);
            for (int i = 0; i < Thorough.times(300, 1000); i++) {
                BatchSampler batches = BatchSampler.of(Sampler.shuffled(size, 3), 512,
                        new Shard(random.nextInt(1000), 1000, TailPolicy.EXACT));
                long n = random.nextLong(10 * batches.batchesInEpoch(0));
                batches.plan(n, plan);
                long expectedFirst = plan.sample(0);
                BatchSampler resumed = n == 0 ? batches : LoaderState.after(batches, n - 1).resume(batches);
                resumed.plan(0, plan);
                assertEquals(expectedFirst, plan.sample(0));
                Permutation order = new Permutation(size, 3, plan.epoch());
                assertEquals(plan.firstPosition(), order.positionOf(expectedFirst));
            }
        });
    }

    @Test
    void theLargestPlansDoNotOverflow() {
        long size = 1L << 62;
        int world = Integer.MAX_VALUE;
        int batch = 1 << 16;
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(size, 1), batch,
                new Shard(world - 1, world, TailPolicy.EXACT)).startingAt(1L << 61, size - 5);
        BatchPlan plan = new BatchPlan(batch);
        batches.plan(0, plan);
        assertEquals(1, plan.count());
        assertEquals(0, plan.valid());
        batches.plan(batches.batchesInEpoch(1L << 61) + batches.batchesInEpoch(1L + (1L << 61)) - 1, plan);
        assertEquals((1L << 61) + 1, plan.epoch());
        assertTrue(plan.firstPosition() > 0 && plan.count() > 0);
        assertEquals(0, LoaderState.after(batches, plan.number()).position());
    }

    @Tag("slow")
    @Test
    void batchesDoNotDependOnTheThreadsThatPlanThem() throws Exception {
        // Epochs of three batches: 8 threads are in many epochs at once and contend for the cached orders.
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(96, 77), 32, Shard.whole());
        List<List<Long>> expected = new ArrayList<>();
        BatchPlan plan = new BatchPlan(32);
        for (long n = 0; n < 600; n++) {
            BatchSampler.of(Sampler.shuffled(96, 77), 32, Shard.whole()).plan(n, plan);
            expected.add(samples(plan));
        }
        assertThreadsPlan(expected, batches, 32, 20_000);
    }

    /** Eight threads plan batches at random, each as expected. */
    static void assertThreadsPlan(List<List<Long>> expected, BatchSampler batches, int maxSamples, int times)
            throws Exception {
        try (ExecutorService workers = Executors.newFixedThreadPool(8)) {
            List<Future<?>> done = new ArrayList<>();
            for (int worker = 0; worker < 8; worker++) {
                long seed = worker;
                done.add(workers.submit(() -> {
                    SplittableRandom random = new SplittableRandom(seed);
                    BatchPlan own = new BatchPlan(maxSamples);
                    for (int i = 0; i < times; i++) {
                        int n = random.nextInt(expected.size());
                        batches.plan(n, own);
                        assertEquals(expected.get(n), samples(own));
                    }
                }));
            }
            for (Future<?> future : done) {
                future.get();
            }
        }
    }

    @Test
    void refillingAPlanAllocatesNothing() {
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(1_000_000_000, 5), 64, new Shard(3, 8, TailPolicy.PAD))
                .droppingLast();
        BatchPlan plan = new BatchPlan(64);
        long[] samples = plan.samples();
        // A byte a batch would be 100,000.
        long allocated = HeapUse.fewest(10_000, () -> {
            for (long n = 20_000; n < 120_000; n++) {
                batches.plan(n, plan);
            }
        });
        assertTrue(allocated <= 10_000, "allocated " + allocated + " bytes in 100,000 plans");
        assertSame(samples, plan.samples());
    }

    @Test
    void wrongArgumentsAreRefused() {
        Sampler sampler = Sampler.sequential(10);
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(sampler, 0, Shard.whole()));
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(sampler, 11, Shard.whole()).droppingLast());
        Shard dropped = new Shard(0, 11, TailPolicy.DROP);
        assertThrows(IllegalArgumentException.class, () -> BatchSampler.of(sampler, 1, dropped));
        BatchSampler batches = BatchSampler.of(sampler, 4, Shard.whole());
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(0, 10));
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(0, -1));
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(-1, 0));
        assertThrows(IllegalArgumentException.class, () -> batches.plan(0, new BatchPlan(3)));
        assertThrows(IndexOutOfBoundsException.class, () -> batches.plan(-1, new BatchPlan(4)));
        assertThrows(IndexOutOfBoundsException.class, () -> LoaderState.after(batches, -1));
        assertThrows(IllegalArgumentException.class, () -> batches.startingAt(2, 0).batchesInEpoch(1));
        BatchPlan plan = new BatchPlan(4);
        batches.plan(2, plan);
        assertEquals(2, plan.count());
        assertThrows(IndexOutOfBoundsException.class, () -> plan.sample(2));
        assertFalse(plan.samples().length < 4);
    }

    @Test
    void samplersRefuseSizesOutsideTheirRange() {
        for (long size : new long[] {0, -1, (1L << 62) + 1, Long.MIN_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> Sampler.sequential(size));
            assertThrows(IllegalArgumentException.class, () -> Sampler.shuffled(size, 1));
        }
    }
}
