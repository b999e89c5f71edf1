// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.internal.SplitMix64;
import io.penstock.testing.HeapUse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkBalancedSamplerTest {

    private static final long SEED = 20261127;

    private static long[] epoch(Sampler sampler, long epoch) {
        Order order = sampler.epoch(epoch);
        long[] all = new long[(int) order.size()];
        order.fill(0, 1, all.length, all);
        return all;
    }

    /** A hand of a window: the positions that it takes, and the samples dealt to it. */
    private record Hand(List<Integer> positions, List<Long> samples) {
        boolean hasRoom() {
            return samples.size() < positions.size();
        }

        long work(long[] costs) {
            return samples.stream().mapToLong(sample -> costs[Math.toIntExact(sample)]).sum();
        }
    }

    private static void deal(List<Long> samples, List<Hand> hands, long[] costs) {
        for (long sample : samples) {
            hands.stream().filter(Hand::hasRoom).min(Comparator.comparingLong(hand -> hand.work(costs))).orElseThrow()
                    .samples().add(sample);
        }
    }

    /** By lists, as the specification says it. */
    private static long[] model(long[] base, long[] costs, WorkBalance of, long key) {
        int step = of.ranks() * of.batchSize();
        int window = step * of.steps();
        long[] all = new long[base.length];
        for (int from = 0; from < base.length; from += window) {
            int count = Math.min(window, base.length - from);
            List<Long> sorted = new ArrayList<>(LongStream.of(base).skip(from).limit(count).boxed().toList());
            sorted.sort(Comparator.comparingLong(sample -> -costs[Math.toIntExact(sample)]));
            List<Hand> hands = new ArrayList<>();
            for (int k = 0; k * step < count; k++) {
                for (int r = 0; r < of.ranks(); r++) {
                    List<Integer> positions = new ArrayList<>();
                    for (int j = 0; j < of.batchSize(); j++) {
                        int position = k * step + j * of.ranks() + r;
                        if (position < count) {
                            positions.add(position);
                        }
                    }
                    hands.add(new Hand(positions, new ArrayList<>()));
                }
            }
            if (of.isAlike()) {
                int whole = count / step;
                for (int j = 0; j * step < count; j++) {
                    int place = j < whole ? (int) new Permutation(whole, key, from / window).at(j) : j;
                    List<Hand> turn = new ArrayList<>();
                    for (int i = 0; i < of.ranks(); i++) {
                        turn.add(hands.get(place * of.ranks() + (i + j) % of.ranks()));
                    }
                    deal(sorted.subList(j * step, Math.min(count, (j + 1) * step)), turn, costs);
                }
            } else {
                Permutation places = new Permutation(hands.size(), key, from / window);
                List<Hand> turn = new ArrayList<>();
                for (int i = 0; i < hands.size(); i++) {
                    turn.add(hands.get((int) places.at(i)));
                }
                deal(sorted, turn, costs);
            }
            for (Hand hand : hands) {
                for (int j = 0; j < hand.samples().size(); j++) {
                    all[from + hand.positions().get(j)] = hand.samples().get(j);
                }
            }
        }
        return all;
    }

    @Test
    void windowsAreDealtAsAModelOfListsDealsThem() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < 600; round++) {
            int n = random.nextInt(1, 150);
            long[] costs = random.longs(n, 0, random.nextInt(1, 60)).toArray();
            var balance = new WorkBalance(random.nextInt(1, 6), random.nextInt(1, 5), random.nextInt(1, 6),
                    random.nextBoolean());
            Sampler base = random.nextBoolean() ? Sampler.shuffled(n, round)
                    : Sampler.withReplacement(n, random.nextInt(1, 2 * n), round);
            long seed = random.nextLong();
            long[] found = epoch(Sampler.workBalanced(base, s -> costs[(int) s], balance, seed), round);
            assertArrayEquals(model(epoch(base, round), costs, balance, SplitMix64.key(seed, round, 0x42414C414E4345L)),
                    found, "seed " + SEED + ", round " + round);
        }
    }

    /** Lengths of 16 to 32,768 tokens, as many of each magnitude; attention costs their square. */
    private static long[] costs(int count) {
        var random = new SplittableRandom(SEED + 1);
        return LongStream.range(0, count).map(_ -> {
            long length = (long) (16 * Math.pow(2048, random.nextDouble()));
            return 4096 * length + length * length;
        }).toArray();
    }

    @Test
    void theSlowestOf64RanksHasHardlyMoreThanTheMean() {
        long[] costs = costs(64 * 32 * 40);
        for (int batch : new int[] {16, 32}) {
            WorkBalance balance = WorkBalance.of(64, batch);
            Sampler shuffled = Sampler.shuffled(costs.length, 1);
            var before = balance.measure(shuffled.epoch(0), s -> costs[(int) s], 40);
            var after = balance.measure(Sampler.workBalanced(shuffled, s -> costs[(int) s], balance, 2).epoch(0),
                    s -> costs[(int) s], 40);
            assertEquals(40, after.steps());
            assertTrue(before.mean() > 2, before::toString);
            assertTrue(after.mean() <= 1.01, after::toString);
        }
        WorkBalance few = WorkBalance.of(64, 8).alike();
        var after = few.measure(Sampler.workBalanced(Sampler.shuffled(costs.length, 1), s -> costs[(int) s], few, 2)
                .epoch(0), s -> costs[(int) s], 160);
        assertTrue(after.mean() <= 1.01, after::toString);
    }

    @Test
    void everySampleComesOnceAndRanksThatResumeAtAnotherWorldSizeLoseNone() {
        long[] costs = costs(1000);
        Sampler sampler = Sampler.workBalanced(Sampler.shuffled(1000, 3), s -> costs[(int) s],
                WorkBalance.of(4, 5).over(3), 9);
        Set<Long> seen = new HashSet<>();
        BatchPlan plan = new BatchPlan(5);
        for (int rank = 0; rank < 4; rank++) {
            BatchSampler batches = BatchSampler.of(sampler, 5, new Shard(rank, 4, TailPolicy.PAD));
            for (int n = 0; n < 17; n++) {
                batches.plan(n, plan);
                Arrays.stream(plan.samples(), 0, plan.count()).forEach(sample -> assertTrue(seen.add(sample)));
            }
        }
        for (int rank = 0; rank < 3; rank++) {
            BatchSampler batches = BatchSampler.of(sampler, 5, new Shard(rank, 3, TailPolicy.EXACT))
                    .startingAt(0, 17 * 20);
            for (int n = 0; n < batches.batchesInEpoch(0); n++) {
                batches.plan(n, plan);
                Arrays.stream(plan.samples(), 0, plan.valid()).forEach(sample -> assertTrue(seen.add(sample)));
            }
        }
        assertEquals(1000, seen.size());
    }

    @Test
    void aFingerprintTellsCostsAndSettings() {
        Sampler base = Sampler.shuffled(100, 1);
        WorkBalance balance = new WorkBalance(2, 3, 4, false);
        String one = Sampler.workBalanced(base, s -> s, balance, 3).fingerprint();
        assertEquals(one, Sampler.workBalanced(base, s -> s, balance, 3).fingerprint());
        for (Sampler other : List.of(Sampler.workBalanced(base, s -> s == 99 ? 0 : s, balance, 3),
                Sampler.workBalanced(base, s -> s, new WorkBalance(3, 2, 4, false), 3),
                Sampler.workBalanced(base, s -> s, balance.over(5), 3),
                Sampler.workBalanced(base, s -> s, balance.alike(), 3),
                Sampler.workBalanced(base, s -> s, balance, 4),
                Sampler.workBalanced(Sampler.sequential(100), s -> s, balance, 3))) {
            assertNotEquals(one, other.fingerprint());
        }
    }

    @Test
    void whatIsOutOfRangeIsRefused() {
        Sampler base = Sampler.sequential(10);
        WorkBalance balance = WorkBalance.of(2, 2);
        for (long cost : new long[] {-1, CostlyFirst.MAX_COST}) {
            var error = assertThrows(IllegalArgumentException.class,
                    () -> Sampler.workBalanced(base, s -> s == 7 ? cost : s, balance, 0));
            assertTrue(error.getMessage().startsWith("sample 7 has cost " + cost), error.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> WorkBalance.of(0, 1));
        assertThrows(IllegalArgumentException.class, () -> WorkBalance.of(1, 0));
        assertThrows(IllegalArgumentException.class, () -> WorkBalance.of(1 << 13, 1 << 12));
        assertThrows(IllegalArgumentException.class, () -> balance.over(0));
        assertThrows(IllegalArgumentException.class, () -> balance.over(1 << 23));
        assertEquals(1, WorkBalance.of(1 << 12, 1 << 12).steps());
        long most = CostlyFirst.MAX_COST - 1;
        assertEquals(10, Arrays.stream(epoch(Sampler.workBalanced(base, _ -> most, balance, 0), 0)).distinct().count());
    }

    @Test
    void aWindowThatWasDealtIsReadWithoutAllocating() {
        Order order = Sampler.workBalanced(Sampler.shuffled(100_000, 5), s -> s % 1000, WorkBalance.of(8, 64), 1)
                .epoch(0);
        long[] into = new long[64];
        long[] sum = new long[1];
        long allocated = HeapUse.fewest(10_000, () -> {
            for (int i = 0; i < 100_000; i++) {
                order.fill(i * 31 % 60_000, 8, 64, into);
                sum[0] += into[3];
            }
        });
        assertTrue(allocated < 10_000, allocated + " bytes");
    }
}
