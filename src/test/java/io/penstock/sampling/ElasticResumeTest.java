// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.state.LoaderState;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the order, and however often a run is killed and goes on with other ranks and another batch size: the
 * samples that were given, all ranks together, are the order's, one after another, each once.
 *
 * <p>{@code -Dpenstock.properties.cases=1000000} runs more plans than a build does.
 */
@Tag("slow")
class ElasticResumeTest {

    private static final int CASES = Thorough.times("penstock.properties.cases", 400, 1_500);
    private static final long SEED = Long.getLong("penstock.properties.seed", 20261121);

    private static int[] classes(SplittableRandom random) {
        int count = random.nextInt(1, 8);
        int[] classes = new int[random.nextInt(count, 120)];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = i < count ? i : random.nextInt(count);
        }
        return classes;
    }

    private static double[] weights(SplittableRandom random) {
        double[] weights = new double[random.nextInt(1, 80)];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = random.nextInt(3) == 0 ? 0 : random.nextDouble();
        }
        weights[0] += 0.1;
        return weights;
    }

    private static Mixture mixture(SplittableRandom random, int depth) {
        List<Mixture.Source> sources = new ArrayList<>();
        int count = random.nextInt(1, 5);
        for (int s = 0; s < count; s++) {
            sources.add(new Mixture.Source(sampler(random, depth + 1), random.nextInt(1, 50) / 10.0));
        }
        long size = random.nextInt(1, 400);
        Mixture mixture = Mixture.of(size, sources.toArray(Mixture.Source[]::new));
        if (size > 2 && random.nextBoolean()) {
            double[] others = random.doubles(count, 0.1, 1).map(w -> Math.rint(w * 10) / 10).toArray();
            mixture = mixture.then(random.nextLong(1, size), others);
        }
        return random.nextBoolean() ? mixture.byChance(random.nextLong()) : mixture;
    }

    private static Sampler sampler(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth < 2 ? 10 : 9)) {
            case 0 -> Sampler.sequential(random.nextInt(1, 300));
            case 1 -> Sampler.shuffled(random.nextInt(1, 300), random.nextLong());
            case 2 -> {
                long[] starts = new long[random.nextInt(2, 12)];
                for (int b = 1; b < starts.length; b++) {
                    starts[b] = starts[b - 1] + random.nextInt(1, 30);
                }
                yield Sampler.blockShuffled(starts, random.nextInt(1, 200), random.nextLong());
            }
            case 3 -> Sampler.withReplacement(random.nextInt(1, 100), random.nextInt(1, 300), random.nextLong());
            case 4 -> Sampler.weighted(weights(random), random.nextInt(1, 300), random.nextLong());
            case 5 -> {
                double[] weights = weights(random);
                long positive = Arrays.stream(weights).filter(w -> w > 0).count();
                yield Sampler.weightedWithoutReplacement(weights, random.nextLong(1, positive + 1), random.nextLong());
            }
            case 6 -> Sampler.stratified(classes(random), random.nextLong());
            case 7 -> Sampler.balanced(classes(random), random.nextInt(1, 300), random.nextLong());
            case 8 -> {
                long size = random.nextInt(1, 200);
                long[] chosen = random.longs(random.nextInt(1, 150), 0, size).toArray();
                yield Sampler.subset(chosen, size, Sampler.shuffled(chosen.length, random.nextLong()));
            }
            default -> mixture(random, depth);
        };
    }

    /** Takes some steps on all ranks; returns where the run stands then. */
    private static LoaderState run(Sampler sampler, LoaderState state, SplittableRandom random, List<Long> given) {
        int world = random.nextInt(1, 8);
        int batch = random.nextInt(1, 12);
        List<BatchSampler> ranks = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            BatchSampler whole = BatchSampler.of(sampler, batch, new Shard(rank, world, TailPolicy.EXACT))
                    .withDataset("data");
            ranks.add(state == null ? whole : state.resume(whole));
        }
        BatchPlan plan = new BatchPlan(batch);
        int steps = random.nextInt(1, 12);
        for (int step = 0; step < steps; step++) {
            long[][] rows = new long[world][];
            for (int rank = 0; rank < world; rank++) {
                ranks.get(rank).plan(step, plan);
                rows[rank] = Arrays.copyOf(plan.samples(), plan.valid());
            }
            for (int i = 0; i < batch; i++) {
                for (long[] row : rows) {
                    if (i < row.length) {
                        given.add(row[i]);
                    }
                }
            }
        }
        LoaderState after = LoaderState.after(ranks.getFirst(), steps - 1);
        for (BatchSampler rank : ranks) {
            assertEquals(after, LoaderState.after(rank, steps - 1));
        }
        return LoaderState.fromJson(after.toJson());
    }

    @Test
    void noSampleIsRepeatedOrLostHoweverOftenARunGoesOnOtherwise() {
        var random = new SplittableRandom(SEED);
        for (int plan = 0; plan < CASES; plan++) {
            SplittableRandom own = random.split();
            Sampler sampler = sampler(own, 0);
            List<Long> given = new ArrayList<>();
            LoaderState state = null;
            int runs = own.nextInt(2, 8);
            for (int run = 0; run < runs; run++) {
                state = run(sampler, state, own, given);
            }
            long epoch = 0;
            long position = 0;
            Order order = sampler.epoch(0);
            for (int i = 0; i < given.size(); i++) {
                if (order.at(position) != given.get(i)) {
                    assertEquals(order.at(position), given.get(i), "seed " + SEED + ", plan " + plan + ", sample " + i
                            + " of " + sampler.fingerprint());
                }
                if (++position == order.size()) {
                    position = 0;
                    order = sampler.epoch(++epoch);
                }
            }
            assertEquals(epoch, state.epoch(), "seed " + SEED + ", plan " + plan);
            assertEquals(position, state.position(), "seed " + SEED + ", plan " + plan);
        }
    }
}
