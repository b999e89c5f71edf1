// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.collate.CausalLm;
import io.penstock.collate.Collator;
import io.penstock.collate.PackedLm;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.memory.DType;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.Thorough;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Loaders that are abandoned at any batch and go on with other workers, prefetch, ranks and batch size give what one
 * undisturbed loader gives, through mixtures and packing.
 */
class ElasticLoaderTest {

    private static final int CASES = Thorough.times("penstock.properties.loaders", 20, 60);
    private static final long SEED = Long.getLong("penstock.properties.seed", 20261121);

    private static long[] starts(SplittableRandom random) {
        long[] starts = new long[random.nextInt(3, 40)];
        for (int d = 1; d < starts.length; d++) {
            starts[d] = starts[d - 1] + random.nextInt(1, 60);
        }
        return starts;
    }

    /** The samples of some steps of all ranks in the order of positions; what weighs nothing is left out. */
    private static LoaderState run(Dataset dataset, Sampler sampler, Collator collator, LoaderState state,
            SplittableRandom random, List<Long> given) {
        int world = random.nextInt(1, 4);
        int batch = random.nextInt(1, 6);
        int steps = random.nextInt(1, 8);
        List<List<long[]>> rows = new ArrayList<>();
        LoaderState after = null;
        for (int rank = 0; rank < world; rank++) {
            DataLoaderBuilder builder = DataLoader.builder(dataset).sampler(sampler).collator(collator).batchSize(batch)
                    .shard(new Shard(rank, world, TailPolicy.EXACT)).workers(random.nextInt(4))
                    .prefetch(random.nextInt(1, 6));
            try (DataLoader loader = (state == null ? builder : builder.resume(state)).open()) {
                List<long[]> own = new ArrayList<>();
                for (int step = 0; step < steps; step++) {
                    try (Batch taken = loader.next()) {
                        long[] samples = new long[taken.valid()];
                        for (int row = 0; row < samples.length; row++) {
                            samples[row] = taken.sample(row);
                        }
                        own.add(samples);
                    }
                }
                rows.add(own);
                after = loader.state();
            }
        }
        for (int step = 0; step < steps; step++) {
            for (int row = 0; row < batch; row++) {
                for (List<long[]> own : rows) {
                    if (row < own.get(step).length) {
                        given.add(own.get(step)[row]);
                    }
                }
            }
        }
        return after;
    }

    private static void check(Dataset dataset, Sampler sampler, Collator collator, SplittableRandom random, int round) {
        List<Long> given = new ArrayList<>();
        LoaderState state = null;
        for (int run = 0; run < 4; run++) {
            state = run(dataset, sampler, collator, state, random, given);
        }
        for (int i = 0; i < given.size(); i++) {
            assertEquals(sampler.epoch(i / sampler.size()).at(i % sampler.size()), given.get(i),
                    "seed " + SEED + ", round " + round + ", sample " + i + " of " + sampler.fingerprint());
        }
    }

    @Test
    void mixturesGoOnWhereTheyWere() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < CASES; round++) {
            try (var first = new MemoryTokenStore(DType.U16, starts(random));
                    var second = new MemoryTokenStore(DType.U16, starts(random))) {
                Dataset a = TokenWindows.of(first, 1, 1);
                Dataset b = TokenWindows.of(second, 1, 1);
                Mixture mixture = Mixture.of(random.nextInt(1, 200),
                        new Mixture.Source(Sampler.shuffled(a.size(), round), random.nextInt(1, 9)),
                        new Mixture.Source(Sampler.shuffled(b.size(), round + 1), random.nextInt(1, 9)));
                check(a.concat(b), random.nextBoolean() ? mixture : mixture.byChance(round),
                        CausalLm.narrow(), random, round);
            }
        }
    }

    @Tag("slow")
    @Test
    void packedSequencesGoOnWhereTheyWere() {
        var random = new SplittableRandom(SEED + 1);
        for (int round = 0; round < CASES; round++) {
            try (var store = new MemoryTokenStore(DType.U16, starts(random));
                    PackedSequences packed = Packing.of(Documents.of(store), random.nextInt(1, 80)).pack()) {
                check(packed, Sampler.shuffled(packed.size(), round), PackedLm.of(DType.I32), random, round);
            }
        }
    }
}
