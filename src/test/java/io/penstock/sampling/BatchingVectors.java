// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static io.penstock.json.Json.members;

import io.penstock.sampling.TokenBudget.Cost;
import io.penstock.state.LoaderState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Vectors of the specification's page on lengths. */
final class BatchingVectors {

    private static final long SEED = 11;
    private static final int RUNS = 40;

    private BatchingVectors() {
    }

    static Map<String, Object> batching() {
        var random = new SplittableRandom(SEED);
        List<Object> orders = new ArrayList<>();
        for (int n : new int[] {1, 2, 17, 100, 300}) {
            for (int window : new int[] {1, 10, 64, 1 << 24}) {
                long[] lengths = random.longs(n, 0, window == 10 ? 4 : 1000).toArray();
                long group = random.nextInt(1, 9);
                long seed = random.nextLong();
                long epoch = random.nextInt(3);
                Sampler sampler = Sampler.lengthBucketed(Sampler.shuffled(n, ~seed), s -> lengths[(int) s], window,
                        group, seed);
                Order order = sampler.epoch(epoch);
                orders.add(members("lengths", boxed(lengths), "base_seed", ~seed, "window", window, "group", group,
                        "seed", seed, "epoch", epoch, "fingerprint", sampler.fingerprint(), "samples",
                        LongStream.range(0, n).map(order::at).boxed().toList()));
            }
        }
        List<Object> runs = new ArrayList<>();
        while (runs.size() < RUNS) {
            long[] lengths = random.longs(random.nextInt(1, 120), 0, 60).toArray();
            int multiple = random.nextInt(1, 9);
            var budget = new TokenBudget(60 + multiple + random.nextInt(300), random.nextInt(1, 20), multiple,
                    Cost.values()[random.nextInt(2)]);
            int world = random.nextInt(1, 7);
            var shard = new Shard(random.nextInt(world), world, TailPolicy.values()[random.nextInt(3)]);
            long seed = random.nextLong();
            long startEpoch = random.nextInt(2);
            long start = random.nextBoolean() ? 0 : random.nextLong(lengths.length);
            boolean dropLast = random.nextInt(4) == 0 && lengths.length > 20 * world;
            if (shard.tail() != TailPolicy.DROP || lengths.length >= world) {
                runs.add(run(lengths, budget, shard, dropLast, seed, startEpoch, start));
            }
        }
        return members("orders", orders, "runs", runs, "with_empty_epochs", withEmptyEpochs(random),
                "with_samples_too_long", withSamplesTooLong(random), "balanced", balanced(new SplittableRandom(SEED)),
                "by_work", byWork(new SplittableRandom(SEED)));
    }

    /** Orders with even work. */
    private static List<Object> balanced(SplittableRandom random) {
        List<Object> orders = new ArrayList<>();
        for (int n : new int[] {1, 7, 60, 200}) {
            for (int ranks : new int[] {1, 3, 4}) {
                for (boolean alike : new boolean[] {false, true}) {
                    long[] costs = random.longs(n, 0, ranks == 3 ? 5 : 1_000_000).toArray();
                    var balance = new WorkBalance(ranks, random.nextInt(1, 6), random.nextInt(1, 5), alike);
                    long seed = random.nextLong();
                    long epoch = random.nextInt(3);
                    Sampler sampler = Sampler.workBalanced(Sampler.shuffled(n, ~seed), s -> costs[(int) s], balance,
                            seed);
                    Order order = sampler.epoch(epoch);
                    orders.add(members("costs", boxed(costs), "base_seed", ~seed, "ranks", ranks, "batch",
                            balance.batchSize(), "steps", balance.steps(), "alike", alike, "seed", seed, "epoch", epoch,
                            "fingerprint", sampler.fingerprint(), "samples",
                            LongStream.range(0, n).map(order::at).boxed().toList()));
                }
            }
        }
        return orders;
    }

    /** Runs of batches by work, of any rank, some of which start within an epoch. */
    private static List<Object> byWork(SplittableRandom random) {
        List<Object> runs = new ArrayList<>();
        for (int round = 0; round < 24; round++) {
            int n = new int[] {1, 5, 30, 60}[round % 4];
            long[] costs = random.longs(n, 0, round % 3 == 0 ? 5 : 1000).toArray();
            var budget = new WorkBudget(s -> costs[(int) s], random.nextInt(1, 4), random.nextInt(1, 6),
                    random.nextInt(1, 5), random.nextInt(1, 12), List.of());
            List<Object> limits = new ArrayList<>();
            for (String unit : List.of("tokens", "pixels").subList(0, round % 3)) {
                long[] sizes = random.longs(n, 0, 40).toArray();
                boolean isPadded = random.nextBoolean();
                var limit = new WorkBudget.Limit(unit, random.nextInt(45, 150), s -> sizes[(int) s], isPadded,
                        isPadded ? random.nextInt(1, 5) : 1);
                budget = budget.limit(limit);
                limits.add(members("unit", unit, "most", limit.most(), "padded", isPadded, "multiple_of",
                        limit.multipleOf(), "sizes", boxed(sizes)));
            }
            int world = random.nextInt(1, 5);
            var shard = new Shard(random.nextInt(world), world, random.nextBoolean() ? TailPolicy.PAD
                    : TailPolicy.EXACT);
            long seed = random.nextLong();
            BatchSampler whole = BatchSampler.of(Sampler.shuffled(n, seed), budget, shard);
            long start = round % 2 == 0 ? 0 : whole.positionAfter(whole.batchesInEpoch(0) / 2);
            runs.add(members("costs", boxed(costs), "seed", seed, "group", budget.group(), "batch", budget.batchSize(),
                    "steps", budget.steps(), "max_samples", budget.maxSamples(), "limits", limits, "world", world,
                    "rank", shard.rank(), "tail", shard.tail().name().toLowerCase(Locale.ROOT), "start_position", start,
                    "fingerprint", whole.sampler().fingerprint(), "batches",
                    given(whole.startingAt(0, start), costs)));
        }
        return runs;
    }

    private static List<Object> given(BatchSampler batches, long[] tokens) {
        List<Object> given = new ArrayList<>();
        BatchPlan plan = new BatchPlan(batches.batchSize());
        for (long number = 0; number < batches.firstBatchOf(2); number++) {
            long globalSamples = 0;
            long globalTokens = 0;
            for (int rank = 0; rank < batches.shard().worldSize(); rank++) {
                batches.ofRank(rank).plan(number, plan);
                globalSamples += plan.valid();
                globalTokens += Arrays.stream(plan.samples(), 0, plan.valid()).map(s -> tokens[(int) s]).sum();
            }
            batches.plan(number, plan);
            LoaderState after = LoaderState.after(batches, number);
            given.add(members("epoch", plan.epoch(), "first_position", plan.firstPosition(), "valid", plan.valid(),
                    "samples", Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList(), "after",
                    List.of(after.epoch(), after.position()), "global_samples", globalSamples, "global_tokens",
                    globalTokens));
        }
        return given;
    }

    /** Runs in which a step of some rank fits in no batch. */
    private static List<Object> withSamplesTooLong(SplittableRandom random) {
        List<Object> runs = new ArrayList<>();
        while (runs.size() < 20) {
            long[] lengths = random.longs(30, 1, 20).toArray();
            for (int i = 0; i < 4; i++) {
                lengths[random.nextInt(lengths.length)] = 41 + random.nextInt(100);
            }
            long[] chosen = random.longs(random.nextInt(5, 40), 0, lengths.length).toArray();
            if (chosen.length == lengths.length) {
                continue;                                       // every sample is looked at, then
            }
            var budget = new TokenBudget(40, random.nextInt(1, 6), random.nextInt(1, 9),
                    Cost.values()[random.nextInt(2)]);
            int world = random.nextInt(1, 4);
            var shard = new Shard(random.nextInt(world), world, TailPolicy.values()[random.nextInt(3)]);
            boolean dropLast = random.nextBoolean();
            BatchSampler batches = batches(Sampler.subset(chosen, lengths.length, Sampler.sequential(chosen.length)),
                    budget, lengths, shard, dropLast);
            List<Object> given = new ArrayList<>();
            BatchPlan plan = new BatchPlan(budget.maxSamples());
            for (long n = 0; n < batches.batchesInEpoch(0); n++) {
                List<Long> samples = null;
                try {
                    batches.plan(n, plan);
                    samples = Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList();
                } catch (IllegalStateException _) {
                    // A sample is too long: the batch is null.
                }
                LoaderState after = LoaderState.after(batches, n);
                given.add(members("samples", samples, "after", List.of(after.epoch(), after.position())));
            }
            runs.add(described(lengths, budget, shard, dropLast, 0, 0, 0, "chosen", boxed(chosen), "batches", given));
        }
        return runs;
    }

    /** Runs of which some epochs, or all, have no batch. */
    private static List<Object> withEmptyEpochs(SplittableRandom random) {
        List<Object> runs = new ArrayList<>();
        while (runs.size() < 10) {
            int world = random.nextInt(2, 4);
            int steps = random.nextInt(2, 8);
            Map<String, Object> run = withEmptyEpochs(steps * world - random.nextInt(world),
                    random.nextInt(2, steps + 1), steps + 1,
                    new Shard(random.nextInt(world), world, TailPolicy.values()[random.nextInt(3)]),
                    random.nextLong(), random.nextInt(3), 12);
            if (run.get("refused").equals(false)) {
                runs.add(run);
            }
        }
        // Seeds that were looked for: the first epoch with a batch is the 64th, and the 65th.
        runs.add(withEmptyEpochs(8, 4, 5, new Shard(1, 2, TailPolicy.PAD), -597970759500987696L, 0, 66));
        runs.add(withEmptyEpochs(13, 5, 8, new Shard(1, 2, TailPolicy.DROP), 694115938272471518L, 0, 66));
        return runs;
    }

    /** An epoch is over the budget only where one rank has all the long samples. */
    private static Map<String, Object> withEmptyEpochs(int samples, int longOnes, int maxSamples, Shard shard,
            long seed, long startEpoch, int epochCount) {
        long[] lengths = new long[samples];
        Arrays.fill(lengths, 1);
        Arrays.fill(lengths, 0, Math.min(longOnes, samples), 100);
        var budget = new TokenBudget(100L * longOnes - 1, maxSamples, 1, Cost.SUM);
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(samples, seed), budget, s -> lengths[(int) s], shard)
                .droppingLast().startingAt(startEpoch, 0);
        List<Long> counts = LongStream.range(startEpoch, startEpoch + epochCount).map(batches::batchesInEpoch).boxed()
                .toList();
        boolean refused = isRefused(batches);
        List<Long> epochs = LongStream.range(0, refused ? 0 : Math.min(8, counts.stream().mapToLong(n -> n).sum()))
                .map(batches::epochOf).boxed().toList();
        return described(lengths, budget, shard, true, seed, startEpoch, 0, "batches_in_epochs", counts,
                "refused", refused, "epochs_of_batches", epochs);
    }

    private static boolean isRefused(BatchSampler batches) {
        try {
            batches.requireBatch(Long.MAX_VALUE);
            return false;
        } catch (IllegalArgumentException _) {
            return true;
        }
    }

    private static Map<String, Object> described(long[] lengths, TokenBudget budget, Shard shard, boolean dropLast,
            long seed, long startEpoch, long start, Object... more) {
        Map<String, Object> run = members("lengths", boxed(lengths), "seed", seed, "tokens", budget.tokens(),
                "max_samples", budget.maxSamples(), "multiple_of", budget.multipleOf(), "cost",
                budget.cost().name().toLowerCase(Locale.ROOT), "world", shard.worldSize(), "rank", shard.rank(),
                "tail", shard.tail().name().toLowerCase(Locale.ROOT), "drop_last", dropLast, "start_epoch", startEpoch,
                "start_position", start);
        run.putAll(members(more));
        return run;
    }

    private static Map<String, Object> run(long[] lengths, TokenBudget budget, Shard shard, boolean dropLast,
            long seed, long startEpoch, long start) {
        BatchSampler batches = batches(Sampler.shuffled(lengths.length, seed), budget, lengths, shard, dropLast)
                .startingAt(startEpoch, start);
        List<Object> given = new ArrayList<>();
        BatchPlan plan = new BatchPlan(budget.maxSamples());
        for (long n = 0; n < batches.firstBatchOf(startEpoch + 2); n++) {
            batches.plan(n, plan);
            LoaderState after = LoaderState.after(batches, n);
            given.add(members("number", n, "epoch", plan.epoch(), "index", plan.indexInEpoch(), "first_position",
                    plan.firstPosition(), "valid", plan.valid(), "samples",
                    Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList(),
                    "after", List.of(after.epoch(), after.position())));
        }
        return described(lengths, budget, shard, dropLast, seed, startEpoch, start, "batches_in_first_epochs",
                List.of(batches.batchesInEpoch(startEpoch), batches.batchesInEpoch(startEpoch + 1)),
                "batches", given);
    }

    private static List<Long> boxed(long[] values) {
        return LongStream.of(values).boxed().toList();
    }

    private static BatchSampler batches(Sampler sampler, TokenBudget budget, long[] lengths, Shard shard,
            boolean dropLast) {
        BatchSampler batches = BatchSampler.of(sampler, budget, s -> lengths[(int) s], shard);
        return dropLast ? batches.droppingLast() : batches;
    }
}
