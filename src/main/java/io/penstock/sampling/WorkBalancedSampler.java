// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.internal.SplitMix64;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

/** Deals the samples of a window of another order to steps and ranks, so that ranks have about the same work. */
final class WorkBalancedSampler {

    static final long MAX_COST = 1L << 38;

    /** Separates these permutations from any others: "BALANCE". */
    private static final long TAG = 0x42414C414E4345L;

    private WorkBalancedSampler() {
    }

    static Sampler of(Sampler base, LongUnaryOperator costs, WorkBalance balance, long seed) {
        Objects.requireNonNull(costs, "costs");
        String fingerprint = "work-balanced ranks=" + balance.ranks() + " batch=" + balance.batchSize() + " steps="
                + balance.steps() + (balance.isAlike() ? " alike" : "") + " costs="
                + Sha256.hex(base.datasetSize(), sample -> cost(costs, sample)) + " seed=" + seed + " of "
                + base.fingerprint();
        return new ComputedSampler(base.size(), base.datasetSize(), seed, base.epochs(), fingerprint,
                epoch -> new Balanced(base.epoch(epoch), costs, balance, SplitMix64.key(seed, epoch, TAG)));
    }

    static long cost(LongUnaryOperator costs, long sample) {
        long cost = costs.applyAsLong(sample);
        if (cost < 0 || cost >= MAX_COST) {
            throw new IllegalArgumentException("sample " + sample + " has cost " + cost + ", expected 0 to "
                    + (MAX_COST - 1));
        }
        return cost;
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
            long[] keys = new long[count];
            for (int i = 0; i < count; i++) {           // the most costly first, equal ones by position
                keys[i] = (MAX_COST - 1 - cost(costs, samples[i])) * WorkBalance.MAX_WINDOW + i;
            }
            Arrays.sort(keys);
            long[] result = new long[count];
            if (balance.isAlike()) {
                dealSteps(number, samples, keys, result);
            } else {
                int ranks = balance.ranks();
                int steps = Math.ceilDiv(count, balance.stepSize());
                var places = new Permutation((long) steps * ranks, key, number);
                var hands = new Hands(balance, steps * ranks, count, i -> (int) places.at(i));
                hands.deal(samples, keys, 0, count, result);
            }
            return result;
        }

        /** Whole steps of samples alike, shuffled, and behind them what is left: the samples that cost least. */
        private void dealSteps(long number, long[] samples, long[] keys, long[] result) {
            int ranks = balance.ranks();
            int step = balance.stepSize();
            int whole = keys.length / step;
            Permutation places = whole == 0 ? null : new Permutation(whole, key, number);
            for (int from = 0; from < keys.length; from += step) {
                int like = from / step;
                int place = places != null && like < whole ? (int) places.at(like) : like;
                int end = Math.min(keys.length, (place + 1) * step);
                var hands = new Hands(balance, ranks, end, i -> place * ranks + (i + like) % ranks);
                hands.deal(samples, keys, from, Math.min(keys.length, from + step), result);
            }
        }
    }

    /** The hand of each rank in each step: a heap, the hand with the least work and room first, ties by their order. */
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
        private final int[] heap;
        private int size;

        /** Makes so many hands, of a window of {@code count} positions. */
        Hands(WorkBalance balance, int hands, int count, Places places) {
            this.ranks = balance.ranks();
            this.stepSize = balance.stepSize();
            this.count = count;
            this.places = new int[hands];
            Arrays.setAll(this.places, places::of);
            this.work = new long[hands];
            this.taken = new int[hands];
            this.heap = new int[hands];
            for (int hand = 0; hand < hands; hand++) {
                if (position(hand) < count) {
                    heap[size++] = hand;                // ascending: a heap already
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

        void deal(long[] samples, long[] keys, int from, int to, long[] result) {
            for (int i = from; i < to; i++) {
                int hand = heap[0];
                result[position(hand)] = samples[(int) (keys[i] & WorkBalance.MAX_WINDOW - 1)];
                work[hand] += MAX_COST - 1 - (keys[i] >>> 24);
                taken[hand]++;
                if (!hasRoom(hand)) {
                    heap[0] = heap[--size];
                }
                sink();
            }
        }

        private boolean isBefore(int a, int b) {
            return work[a] != work[b] ? work[a] < work[b] : a < b;
        }

        private void sink() {
            int at = 0;
            while (2 * at + 1 < size) {
                int child = 2 * at + 1;
                if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
                    child++;
                }
                if (!isBefore(heap[child], heap[at])) {
                    return;
                }
                int moved = heap[at];
                heap[at] = heap[child];
                heap[child] = moved;
                at = child;
            }
        }
    }
}
