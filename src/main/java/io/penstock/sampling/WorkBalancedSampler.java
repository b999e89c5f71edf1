// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/** Deals the samples of a window of another order to steps and ranks, so that ranks have about the same work. */
final class WorkBalancedSampler {

    /** Separates these permutations from any others: "BALANCE". */
    private static final long TAG = 0x42414C414E4345L;

    private WorkBalancedSampler() {
    }

    static Sampler of(Sampler base, LongUnaryOperator costs, WorkBalance balance, long seed) {
        Objects.requireNonNull(costs, "costs");
        String fingerprint = "work-balanced ranks=" + balance.ranks() + " batch=" + balance.batchSize() + " steps="
                + balance.steps() + (balance.isAlike() ? " alike" : "") + " costs="
                + Sha256.hex(base.datasetSize(), sample -> CostlyFirst.cost(costs, sample)) + " seed=" + seed + " of "
                + base.fingerprint();
        return new ComputedSampler(base.size(), base.datasetSize(), seed, base.epochs(), fingerprint,
                epoch -> new Balanced(base.epoch(epoch), costs, balance, SplitMix64.key(seed, epoch, TAG)));
    }

    private static final class Balanced extends WindowedOrder {

        private final LongUnaryOperator costs;
        private final WorkBalance balance;
        private final long key;

        Balanced(Order base, LongUnaryOperator costs, WorkBalance balance, long key) {
            super(base, balance.window());
            this.costs = costs;
            this.balance = balance;
            this.key = key;
        }

        /** As positions take them: slot j of rank r in step k is at {@code k·R·B + j·R + r}. */
        @Override
        long[] arranged(long number, long[] samples) {
            int count = samples.length;
            CostlyFirst sorted = CostlyFirst.of(samples, costs);
            long[] result = new long[count];
            if (balance.isAlike()) {
                dealSteps(number, sorted, result);
            } else {
                int ranks = balance.ranks();
                int steps = Math.ceilDiv(count, balance.stepSize());
                var places = new Permutation((long) steps * ranks, key, number);
                var hands = new Hands(balance, steps * ranks, count, i -> (int) places.at(i));
                hands.deal(sorted, 0, count, result);
            }
            return result;
        }

        /** Whole steps of samples alike, shuffled, and behind them what is left: the samples that cost least. */
        private void dealSteps(long number, CostlyFirst sorted, long[] result) {
            int count = result.length;
            int ranks = balance.ranks();
            int step = balance.stepSize();
            int whole = count / step;
            Permutation places = whole == 0 ? null : new Permutation(whole, key, number);
            for (int from = 0; from < count; from += step) {
                int like = from / step;
                int place = places != null && like < whole ? (int) places.at(like) : like;
                int end = Math.min(count, (place + 1) * step);
                var hands = new Hands(balance, ranks, end, i -> place * ranks + (i + like) % ranks);
                hands.deal(sorted, from, Math.min(count, from + step), result);
            }
        }
    }

    /** The hand of each rank in each step. */
    private static final class Hands {

        /** Of a hand, by its order: which rank and step, {@code step · ranks + rank}. */
        private interface Places {
            int of(int hand);
        }

        private final int ranks;
        private final int stepSize;
        private final int count;
        private final int[] places;
        private final long[] work;
        private final int[] taken;
        /** The hands with room: the one with the least work first, ties by their order. */
        private final IntHeap open;

        /** Makes so many hands, of a window of {@code count} positions. */
        Hands(WorkBalance balance, int hands, int count, Places places) {
            this.ranks = balance.ranks();
            this.stepSize = balance.stepSize();
            this.count = count;
            this.places = new int[hands];
            Arrays.setAll(this.places, places::of);
            this.work = new long[hands];
            this.taken = new int[hands];
            this.open = new IntHeap(hands) {
                @Override
                boolean isBefore(int a, int b) {
                    return work[a] != work[b] ? work[a] < work[b] : a < b;
                }
            };
            for (int hand = 0; hand < hands; hand++) {
                if (position(hand) < count) {
                    open.append(hand);
                }
            }
        }

        /** The position of a hand's next slot. */
        private int position(int hand) {
            return places[hand] / ranks * stepSize + taken[hand] * ranks + places[hand] % ranks;
        }

        private boolean hasRoom(int hand) {
            return taken[hand] * ranks < stepSize && position(hand) < count;
        }

        void deal(CostlyFirst sorted, int from, int to, long[] result) {
            for (int i = from; i < to; i++) {
                int hand = open.top();
                result[position(hand)] = sorted.samples()[i];
                work[hand] += sorted.costs()[i];
                taken[hand]++;
                if (hasRoom(hand)) {
                    open.sink();
                } else {
                    open.pop();
                }
            }
        }
    }
}
