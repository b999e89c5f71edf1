package io.penstock.sampling;

import static io.penstock.testing.Members.fields;

import io.penstock.sampling.TokenBudget.Cost;
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
                Order order = Sampler.lengthBucketed(Sampler.shuffled(n, ~seed), s -> lengths[(int) s], window, group,
                        seed).epoch(epoch);
                orders.add(fields("lengths", boxed(lengths), "base_seed", ~seed, "window", window, "group", group,
                        "seed", seed, "epoch", epoch, "samples",
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
        return fields("orders", orders, "runs", runs);
    }

    private static Map<String, Object> run(long[] lengths, TokenBudget budget, Shard shard, boolean dropLast,
            long seed, long startEpoch, long start) {
        BatchSampler batches = BatchSampler.of(Sampler.shuffled(lengths.length, seed), budget, s -> lengths[(int) s],
                shard, dropLast).startingAt(startEpoch, start);
        List<Object> given = new ArrayList<>();
        BatchPlan plan = new BatchPlan(budget.maxSamples());
        for (long n = 0; n < batches.firstBatchOf(startEpoch + 2); n++) {
            batches.plan(n, plan);
            LoaderState after = batches.stateAfter(n);
            given.add(fields("number", n, "epoch", plan.epoch(), "index", plan.indexInEpoch(), "first_position",
                    plan.firstPosition(), "valid", plan.valid(), "samples",
                    Arrays.stream(plan.samples(), 0, plan.count()).boxed().toList(),
                    "after", List.of(after.epoch(), after.position())));
        }
        return fields("lengths", boxed(lengths), "seed", seed, "tokens", budget.tokens(), "max_samples",
                budget.maxSamples(), "multiple_of", budget.multipleOf(), "cost",
                budget.cost().name().toLowerCase(Locale.ROOT), "world", shard.worldSize(), "rank", shard.rank(),
                "tail", shard.tail().name().toLowerCase(Locale.ROOT), "drop_last", dropLast, "start_epoch", startEpoch,
                "start_position", start, "batches_in_first_epochs", List.of(batches.batchesInEpoch(startEpoch),
                        batches.batchesInEpoch(startEpoch + 1)), "batches", given);
    }

    private static List<Long> boxed(long[] values) {
        return LongStream.of(values).boxed().toList();
    }
}
