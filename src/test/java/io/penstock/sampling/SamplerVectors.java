package io.penstock.sampling;

import static io.penstock.testing.Members.fields;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Vectors of the specification's pages on samplers and mixtures. */
final class SamplerVectors {

    private static final long SEED = 7;

    private SamplerVectors() {
    }

    private static List<Long> samples(Sampler sampler, long epoch) {
        Order order = sampler.epoch(epoch);
        return LongStream.range(0, order.size()).map(order::at).boxed().toList();
    }

    private static Map<String, Object> at(Map<String, Object> fields, Sampler sampler, long epoch, long... positions) {
        Order order = sampler.epoch(epoch);
        fields.put("epoch", epoch);
        fields.put("positions", LongStream.of(positions).boxed().toList());
        fields.put("samples", LongStream.of(positions).map(order::at).boxed().toList());
        return fields;
    }

    private static List<Long> boxed(long[] values) {
        return LongStream.of(values).boxed().toList();
    }

    static Map<String, Object> samplers() {
        var random = new SplittableRandom(SEED);
        List<Object> cases = new ArrayList<>();
        for (long[] starts : new long[][] {{0, 1}, {0, 5}, {0, 3, 4, 9, 20}, {0, 7, 14, 21, 28, 35}}) {
            for (long window : new long[] {1, 4, 10, 1000}) {
                for (long epoch = 0; epoch < 2; epoch++) {
                    long seed = random.nextLong();
                    cases.add(fields("kind", "block_shuffled", "starts", boxed(starts), "window", window, "seed", seed,
                            "epoch", epoch, "samples", samples(Sampler.blockShuffled(starts, window, seed), epoch)));
                }
            }
        }
        long[] many = LongStream.rangeClosed(0, 1000).map(i -> i * i * 1000 + i).toArray();
        cases.add(at(fields("kind", "block_shuffled", "starts", boxed(many), "window", 123_456_789L, "seed", -1L),
                Sampler.blockShuffled(many, 123_456_789, -1), 5, 0, 1, 123_456_788, 123_456_789, 999_999_999,
                many[1000] - 1));
        long[] choice = {4, 4, 0, 9, 7};
        cases.add(fields("kind", "subset", "choice", boxed(choice), "seed", 3L, "epoch", 1L, "samples",
                samples(Sampler.subset(choice, 10, Sampler.shuffled(5, 3)), 1)));
        for (long n : new long[] {1, 10, 1L << 62}) {
            cases.add(fields("kind", "with_replacement", "n", n, "seed", -n, "epoch", n >> 40, "samples",
                    samples(Sampler.withReplacement(n, 20, -n), n >> 40)));
        }
        for (double[] weights : weights(random)) {
            long seed = random.nextLong();
            cases.add(fields("kind", "weighted", "weights", Arrays.stream(weights).boxed().toList(), "seed", seed,
                    "epoch", 2L, "samples", samples(Sampler.weighted(weights, 40, seed), 2)));
            long positive = Arrays.stream(weights).filter(w -> w > 0).count();
            cases.add(fields("kind", "weighted_without_replacement", "weights",
                    Arrays.stream(weights).boxed().toList(), "seed", seed, "epoch", 2L, "samples",
                    samples(Sampler.weightedWithoutReplacement(weights, positive, seed), 2)));
        }
        for (int[] classes : new int[][] {{0}, {0, 1, 1, 1, 1}, {2, 0, 1, 0, 0, 1, 0, 2, 0, 0, 0}, {1, 0, 1, 0}}) {
            List<Integer> list = Arrays.stream(classes).boxed().toList();
            for (long epoch = 0; epoch < 2; epoch++) {
                cases.add(fields("kind", "stratified", "classes", list, "seed", 5L, "epoch", epoch, "samples",
                        samples(Sampler.stratified(classes, 5), epoch)));
                cases.add(fields("kind", "balanced", "classes", list, "seed", 5L, "epoch", epoch, "samples",
                        samples(Sampler.balanced(classes, 17, 5), epoch)));
            }
        }
        List<Object> logarithms = new ArrayList<>();
        for (long word : new long[] {0, 1, 2, -1, -2, Long.MAX_VALUE, Long.MIN_VALUE, 0x123456789ABCDEFL, 1L << 40}) {
            logarithms.add(fields("word", String.format("0x%016x", word), "log",
                    WeightedOnceSampler.minusLog2(word)));
        }
        return fields("samplers", cases, "logarithms", logarithms);
    }

    private static List<double[]> weights(SplittableRandom random) {
        double[] wide = new double[30];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = i % 7 == 0 ? 0 : Math.scalb(1 + random.nextInt(1000) / 1024.0, random.nextInt(-30, 30));
        }
        return List.of(new double[] {1}, new double[] {1, 1, 1}, new double[] {0.5, 0, 0.25, 3}, new double[] {0, 7},
                new double[] {1e-300, 1e300, 1}, wide);
    }

    static Map<String, Object> mixtures() {
        List<Object> proportions = new ArrayList<>();
        for (double[] weights : new double[][] {{1}, {0, 2}, {0.7, 0.3}, {0.1, 0.2, 0.7}, {1, 2, 3, 4}, {0.3, 0, 0.35},
            {1, 1, 1}, {5, 1, 1, 1, 1, 1}, {1e-7, 1}, {Math.PI, Math.E, 0.5}}) {
            Proportions table = Proportions.of(weights);
            int draws = (int) Math.min(60, 3L * table.period());
            List<Integer> sources = new ArrayList<>();
            List<Long> ranks = new ArrayList<>();
            for (int i = 0; i < draws; i++) {
                sources.add(table.source(i));
                ranks.add(table.rank(i));
            }
            List<Integer> whole = new ArrayList<>();
            for (int s = 0; s < weights.length; s++) {
                whole.add(table.weight(s));
            }
            proportions.add(fields("weights", Arrays.stream(weights).boxed().toList(), "whole", whole, "sources",
                    sources, "ranks", ranks));
        }
        return fields("proportions", proportions, "mixtures", mixtureCases());
    }

    private static List<Object> mixtureCases() {
        List<Object> cases = new ArrayList<>();
        long[] all = LongStream.range(0, 100).toArray();
        cases.add(mixture(100, new long[] {10, 200}, new Long[] {null, 3L}, new long[] {0},
                new double[][] {{0.7, 0.3}}, null, 0, all));
        cases.add(mixture(100, new long[] {10, 200}, new Long[] {null, 3L}, new long[] {0},
                new double[][] {{0.7, 0.3}}, null, 2, all));
        cases.add(mixture(100, new long[] {10, 200, 7}, new Long[] {1L, null, -5L}, new long[] {0, 13, 60},
                new double[][] {{1, 2, 3}, {0, 0.5, 0.25}, {1, 0, 0}}, null, 1, all));
        cases.add(mixture(100, new long[] {10, 200, 7}, new Long[] {1L, null, -5L}, new long[] {0, 13, 60},
                new double[][] {{1, 2, 3}, {0, 0.5, 0.25}, {1, 1, 0}}, 11L, 1, all));
        cases.add(mixture(1L << 40, new long[] {1L << 45, 1000}, new Long[] {1L, 2L}, new long[] {0, 1L << 30},
                new double[][] {{0.9, 0.1}, {0.5, 0.5}}, 12L, 3, new long[] {0, 1, 65_539, 65_540, 65_541,
                    (1L << 30) - 1, 1L << 30, (1L << 40) - 65_537, (1L << 40) - 1}));
        cases.add(mixture(200_000, new long[] {300_000, 40}, new Long[] {9L, 8L}, new long[] {0},
                new double[][] {{Math.PI, Math.E}}, null, 4, new long[] {0, 1, 2, 3, 4, 199_998, 199_999}));
        return cases;
    }

    private static Map<String, Object> mixture(long size, long[] sizes, Long[] seeds, long[] firsts, double[][] weights,
            Long chance, long epoch, long[] positions) {
        List<Object> sources = new ArrayList<>();
        List<Mixture.Source> made = new ArrayList<>();
        for (int s = 0; s < sizes.length; s++) {
            sources.add(seeds[s] == null ? fields("size", sizes[s]) : fields("size", sizes[s], "seed", seeds[s]));
            made.add(new Mixture.Source(seeds[s] == null ? Sampler.sequential(sizes[s])
                    : Sampler.shuffled(sizes[s], seeds[s]), weights[0][s]));
        }
        Mixture mixture = Mixture.of(size, made);
        List<Object> phases = new ArrayList<>();
        for (int p = 0; p < firsts.length; p++) {
            phases.add(fields("first", firsts[p], "weights", Arrays.stream(weights[p]).boxed().toList()));
            mixture = p == 0 ? mixture : mixture.then(firsts[p], weights[p]);
        }
        Map<String, Object> fields = fields("size", size, "sources", sources, "phases", phases);
        if (chance != null) {
            fields.put("seed", chance);
            mixture = mixture.byChance(chance);
        }
        return at(fields, mixture, epoch, positions);
    }
}
