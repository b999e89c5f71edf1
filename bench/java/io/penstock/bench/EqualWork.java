// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBalance;
import io.penstock.sampling.WorkBudget;
import io.penstock.testing.PipelineClock;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * How even the work of 64 ranks is, by several rules, on lengths that are log-uniform from 16 to 32,768 tokens with a
 * cost of L + L²/4096; how long the stages of pipelines wait; and what planning costs.
 *
 * <p>{@code java … io.penstock.bench.EqualWork [--pipelines]}
 */
final class EqualWork {

    private static final int RANKS = 64;
    private static final int STEPS = 64;
    private static final long SQUARE = 4096;

    private final int batch;
    private final long[] lengths;
    private final LongUnaryOperator length;
    private final LongUnaryOperator cost;
    private final Sampler shuffled;

    private EqualWork(int batch) {
        this.batch = batch;
        var random = new SplittableRandom(20261128);
        lengths = LongStream.range(0, (long) RANKS * batch * STEPS)
                .map(_ -> (long) (16 * Math.pow(2048, random.nextDouble()))).toArray();
        length = sample -> lengths[(int) sample];
        cost = sample -> lengths[(int) sample] * (SQUARE + lengths[(int) sample]);
        shuffled = Sampler.shuffled(lengths.length, 1);
    }

    public static void main(String[] args) {
        if (List.of(args).contains("--pipelines")) {
            pipelines();
            return;
        }
        System.out.println("| samples a rank | rule | slowest over mean, mean | worst step | most tokens of a rank |");
        System.out.println("|---:|---|---:|---:|---:|");
        for (int batch : new int[] {8, 16, 32}) {
            new EqualWork(batch).print();
        }
        cost();
    }

    private static void pipelines() {
        System.out.println("| stages | micro-batches | samples of each | least | in turn | token budget"
                + " | `WorkBudget` |");
        System.out.println("|---:|---:|---:|---:|---:|---:|---:|");
        for (int stages : new int[] {4, 8}) {
            for (int micro : new int[] {8, 32}) {
                for (int batch : new int[] {4, 16}) {
                    new EqualWork(batch).printPipeline(stages, micro);
                }
            }
        }
    }

    private void print() {
        row("as `DistributedSampler` deals", steps(shuffled));
        long budget = Arrays.stream(lengths).sum() / (RANKS * STEPS) * 3 / 2;
        row("token budgets alone (sum, " + budget + " tokens)", steps(BatchSampler.of(shuffled,
                TokenBudget.sum(Math.max(budget, 32_768)), length, new Shard(0, RANKS, TailPolicy.DROP))));
        row("Karmarkar–Karp by length, equal counts (verl; slime's `--balance-data`)", differencing(length, true));
        row("Karmarkar–Karp by length, free counts", differencing(length, false));
        row("Karmarkar–Karp by cost, equal counts", differencing(cost, true));
        row("`WorkBalance`, equal counts", steps(Sampler.workBalanced(shuffled, cost, WorkBalance.of(RANKS, batch),
                2)));
        row("`WorkBalance.alike()`", steps(Sampler.workBalanced(shuffled, cost,
                WorkBalance.of(RANKS, batch).over(STEPS).alike(), 2)));
        WorkBudget free = WorkBudget.of(RANKS, batch, cost).over(STEPS).maxSamples(64 * batch);
        row("`WorkBudget`, free counts", steps(batches(free, RANKS)));
        long most = Math.max(32_768, budget);
        WorkBudget limited = free.limit(WorkBudget.Limit.sum("tokens", most, length));
        row("`WorkBudget`, at most " + most + " tokens", steps(batches(limited, RANKS)));
        row("the same at 48 ranks", steps(batches(limited, 48)));
    }

    /** How long the stages of a pipeline wait, of as many pipelines as make 64 GPUs. */
    private void printPipeline(int stages, int micro) {
        int pipelines = RANKS / stages;
        Shard shard = new Shard(0, pipelines, TailPolicy.DROP);
        long tokens = Math.max(32_768, (long) (Arrays.stream(lengths).average().orElseThrow() * batch * 3 / 2));
        WorkBudget budget = WorkBudget.of(pipelines * micro, batch, cost).maxSamples(64 * batch);
        System.out.printf(Locale.ROOT, "| %d | %d | %d | %.3f | %.3f | %.3f | %.3f |%n", stages, micro, batch,
                (stages - 1) / (double) (micro + stages - 1),
                idle(BatchSampler.of(shuffled, batch, shard), stages, micro),
                idle(BatchSampler.of(shuffled, TokenBudget.sum(tokens), length, shard), stages, micro),
                idle(batches(budget, pipelines), stages, micro));
    }

    private double idle(BatchSampler batches, int stages, int micro) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        long[][] work = new long[batches.shard().worldSize()][micro];
        int steps = (int) Math.min(STEPS, batches.batchesInEpoch(0) / micro);
        double sum = 0;
        for (int step = 0; step < steps; step++) {
            for (int rank = 0; rank < work.length; rank++) {
                for (int i = 0; i < micro; i++) {
                    batches.ofRank(rank).plan((long) step * micro + i, plan);
                    work[rank][i] = Arrays.stream(plan.samples(), 0, plan.count()).map(cost).sum();
                }
            }
            sum += PipelineClock.idle(stages, work);
        }
        return sum / steps;
    }

    private BatchSampler batches(WorkBudget budget, int ranks) {
        return BatchSampler.of(shuffled, budget, new Shard(0, ranks, TailPolicy.EXACT));
    }

    private void row(String rule, List<List<long[]>> steps) {
        double sum = 0;
        double worst = 0;
        long most = 0;
        for (List<long[]> ranks : steps) {
            long[] work = ranks.stream().mapToLong(rank -> Arrays.stream(rank).map(cost).sum()).toArray();
            double over = Arrays.stream(work).max().orElseThrow() / Arrays.stream(work).average().orElseThrow();
            sum += over;
            worst = Math.max(worst, over);
            most = Math.max(most, ranks.stream().mapToLong(rank -> Arrays.stream(rank).map(length).sum()).max()
                    .orElseThrow());
        }
        System.out.printf(Locale.ROOT, "| %d | %s | %.3f | %.3f | %,d |%n", batch, rule, sum / steps.size(), worst,
                most);
    }

    /** The samples of each rank, of each step of a sampler. */
    private List<List<long[]>> steps(Sampler sampler) {
        Order order = sampler.epoch(0);
        List<List<long[]>> steps = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            List<long[]> ranks = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                long[] samples = new long[batch];
                order.fill((long) step * RANKS * batch + rank, RANKS, batch, samples);
                ranks.add(samples);
            }
            steps.add(ranks);
        }
        return steps;
    }

    private static List<List<long[]>> steps(BatchSampler batches) {
        BatchPlan plan = new BatchPlan(batches.batchSize());
        int ranks = batches.shard().worldSize();
        List<List<long[]>> steps = new ArrayList<>();
        long count = batches.batchesInEpoch(0);
        for (long step = 0; step < count; step++) {
            List<long[]> all = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                batches.ofRank(rank).plan(step, plan);
                all.add(Arrays.copyOf(plan.samples(), plan.valid()));
            }
            if (all.stream().allMatch(rank -> rank.length > 0)) {
                steps.add(all);
            }
        }
        return steps;
    }

    /** Sets of samples, the one with the greatest sum first. */
    private record Parts(List<List<Long>> sets, long[] sums) {
        long spread() {
            return sums[0] - sums[sums.length - 1];
        }
    }

    /**
     * The samples of each step, divided by the largest differencing method (Karmarkar and Karp, 1982): of all partial
     * divisions the two with the greatest spread are joined, the greatest set of one with the least of the other. For
     * equal counts each first one has a sample in every set.
     */
    private List<List<long[]>> differencing(LongUnaryOperator size, boolean equal) {
        List<List<long[]>> steps = new ArrayList<>();
        for (List<long[]> ranks : steps(shuffled)) {
            long[] all = ranks.stream().flatMapToLong(Arrays::stream).boxed()
                    .sorted(Comparator.comparingLong(size::applyAsLong).reversed()).mapToLong(s -> s).toArray();
            var queue = new PriorityQueue<Parts>(Comparator.comparingLong(Parts::spread).reversed());
            for (int from = 0; from < all.length; from += equal ? RANKS : 1) {
                int first = from;
                int count = equal ? RANKS : 1;
                queue.add(sorted(IntStream.range(0, RANKS).mapToObj(set -> set < count ? List.of(all[first + set])
                        : List.<Long>of()).toList(), size));
            }
            while (queue.size() > 1) {
                Parts one = queue.remove();
                Parts other = queue.remove();
                queue.add(sorted(IntStream.range(0, RANKS).mapToObj(set -> {
                    List<Long> joined = new ArrayList<>(one.sets.get(set));
                    joined.addAll(other.sets.get(RANKS - 1 - set));
                    return joined;
                }).toList(), size));
            }
            steps.add(queue.remove().sets.stream().map(set -> set.stream().mapToLong(s -> s).toArray()).toList());
        }
        return steps;
    }

    private static Parts sorted(List<? extends List<Long>> sets, LongUnaryOperator size) {
        List<List<Long>> result = new ArrayList<>(sets);
        result.sort(Comparator.comparingLong((List<Long> set) -> sum(set, size)).reversed());
        return new Parts(result, result.stream().mapToLong(set -> sum(set, size)).toArray());
    }

    private static long sum(List<Long> set, LongUnaryOperator size) {
        return set.stream().mapToLong(size::applyAsLong).sum();
    }

    /** Plans an epoch of 4 million samples on one thread, again and again, and prints the median of CPU time. */
    private static void cost() {
        int batch = 16;
        int count = 1 << 22;
        var random = new SplittableRandom(5);
        int[] lengths = IntStream.range(0, count).map(_ -> (int) (16 * Math.pow(2048, random.nextDouble()))).toArray();
        WorkBudget budget = WorkBudget.of(RANKS, batch, s -> lengths[(int) s] * (SQUARE + lengths[(int) s]))
                .maxSamples(64 * batch);
        WorkBudget limited = budget.limit(WorkBudget.Limit.sum("tokens", 103_104, s -> lengths[(int) s]));
        System.out.println();
        for (WorkBudget each : List.of(budget, limited)) {
            BatchSampler batches = BatchSampler.of(Sampler.shuffled(count, 1), each,
                    new Shard(0, RANKS, TailPolicy.EXACT));
            double[] nanos = new double[7];
            for (int round = 0; round < nanos.length; round++) {
                long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                batches.batchesInEpoch(round);
                nanos[round] = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begin) / (double) count;
            }
            Arrays.sort(nanos);
            System.out.printf(Locale.ROOT, "planning, %d limits: %.0f ns a sample of CPU time, median of %d epochs of"
                    + " %,d samples (%.0f to %.0f)%n", each.limits().size(), nanos[nanos.length / 2], nanos.length,
                    count, nanos[0], nanos[nanos.length - 1]);
        }
    }
}
