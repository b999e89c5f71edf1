// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static io.penstock.json.Json.members;

import io.penstock.internal.SplitMix64;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Vectors of the specification's pages on samplers and mixtures. */
final class SamplerVectors {

    private static final long SEED = 7;

    private SamplerVectors() {
    }

    /** A case: what the sampler is, its fingerprint, and the samples of the whole epoch. */
    private static Map<String, Object> all(Map<String, Object> fields, Sampler sampler, long epoch) {
        Order order = sampler.epoch(epoch);
        fields.put("epoch", epoch);
        fields.put("fingerprint", sampler.fingerprint());
        fields.put("epochs", sampler.epochs());
        if (sampler instanceof Mixture) {
            fields.put("augmentation_seed", sampler.augmentationSeed());
        }
        fields.put("samples", LongStream.range(0, order.size()).map(order::at).boxed().toList());
        return fields;
    }

    /** The same, at some positions. */
    private static Map<String, Object> at(Map<String, Object> fields, Sampler sampler, long epoch, long... positions) {
        Order order = sampler.epoch(epoch);
        fields.put("epoch", epoch);
        fields.put("fingerprint", sampler.fingerprint());
        fields.put("epochs", sampler.epochs());
        if (sampler instanceof Mixture) {
            fields.put("augmentation_seed", sampler.augmentationSeed());
        }
        fields.put("positions", boxed(positions));
        fields.put("samples", LongStream.of(positions).map(order::at).boxed().toList());
        return fields;
    }

    private static List<Long> boxed(long[] values) {
        return LongStream.of(values).boxed().toList();
    }

    private static List<Double> boxed(double[] values) {
        return Arrays.stream(values).boxed().toList();
    }

    static Map<String, Object> samplers() {
        var random = new SplittableRandom(SEED);
        List<Object> cases = new ArrayList<>();
        blocks(cases, random);
        for (long[] choice : new long[][] {{4, 4, 0, 9, 7}, {9}, {1L << 61, 0, 3, 5, 7, 11, 3}}) {
            long size = Math.max(10, choice[0] + 1);
            for (long epoch = 0; epoch < 2; epoch++) {
                cases.add(all(members("kind", "subset", "dataset_size", size, "choice", boxed(choice), "seed", 3L),
                        Sampler.subset(choice, size, Sampler.shuffled(choice.length, 3)), epoch));
            }
        }
        for (long n : new long[] {1, 10, 1L << 62}) {
            cases.add(all(members("kind", "with_replacement", "n", n, "draws", 20L, "seed", -n),
                    Sampler.withReplacement(n, 20, -n), n >> 40));
        }
        for (double[] weights : weights(random)) {
            long seed = random.nextLong();
            cases.add(all(members("kind", "weighted", "weights", boxed(weights), "draws", 40L, "seed", seed),
                    Sampler.weighted(weights, 40, seed), 2));
            long positive = Arrays.stream(weights).filter(w -> w > 0).count();
            for (long draws : new long[] {positive, (positive + 1) / 2}) {
                cases.add(all(members("kind", "weighted_without_replacement", "weights", boxed(weights), "draws", draws,
                        "seed", seed), Sampler.weightedWithoutReplacement(weights, draws, seed), draws));
            }
        }
        threshold(cases);
        classes(cases, random);
        buckets(cases);
        List<Object> tables = new ArrayList<>();
        for (double[] weights : weights(random)) {
            WeightedSampler table = (WeightedSampler) Sampler.weighted(weights, 1, 0);
            tables.add(members("weights", boxed(weights), "whole", boxed(WeightedSampler.wholeWeights(weights)),
                    "thresholds", IntStream.range(0, weights.length).mapToObj(table::threshold).toList(),
                    "aliases", IntStream.range(0, weights.length).mapToObj(table::alias).toList()));
        }
        List<Object> logarithms = new ArrayList<>();
        for (long word : new long[] {0, 1, 2, -1, -2, Long.MAX_VALUE, Long.MIN_VALUE, 0x123456789ABCDEFL, 1L << 40,
            0xB504F333F9DE6483L, 0xB504F333F9DE6484L}) {
            logarithms.add(members("word", String.format("0x%016x", word), "log",
                    WeightedOnceSampler.minusLog2(word)));
        }
        return members("samplers", cases, "tables", tables, "logarithms", logarithms);
    }

    private static void blocks(List<Object> cases, SplittableRandom random) {
        for (long[] starts : new long[][] {{0, 1}, {0, 5}, {0, 3, 4, 9, 20}, {0, 7, 14, 21, 28, 35}}) {
            long size = starts[starts.length - 1];
            for (long window : new long[] {1, 4, 10, size, size + 1}) {
                for (long epoch = 0; epoch < 2; epoch++) {
                    long seed = random.nextLong();
                    cases.add(all(members("kind", "block_shuffled", "starts", boxed(starts), "window", window, "seed",
                            seed), Sampler.blockShuffled(starts, window, seed), epoch));
                }
            }
        }
        long[] many = LongStream.rangeClosed(0, 1000).map(i -> i * i * 1000 + i).toArray();
        cases.add(at(members("kind", "block_shuffled", "starts", boxed(many), "window", 123_456_789L, "seed", -1L),
                Sampler.blockShuffled(many, 123_456_789, -1), 5, 0, 1, 123_456_788, 123_456_789, 999_999_999,
                many[1000] - 1));
        long[] great = {0, 1L << 40, (1L << 40) + 1, 1L << 62};
        cases.add(at(members("kind", "block_shuffled", "starts", boxed(great), "window", Long.MAX_VALUE, "seed",
                Long.MIN_VALUE), Sampler.blockShuffled(great, Long.MAX_VALUE, Long.MIN_VALUE), 1L << 62, 0, 1,
                (1L << 62) - 1));
    }

    /** A draw whose second word is the threshold itself of the place it falls on: found first, the weights follow. */
    private static void threshold(List<Object> cases) {
        long seed = 99;
        long key = SplitMix64.first(SplitMix64.first(SplitMix64.first(seed)) + 0x5745494748544544L);
        long position = 0;
        while (SplitMix64.first(key + position) < 0
                || (SplitMix64.first(SplitMix64.first(key + position)) >>> 1) % 4096 != 0) {
            position++;
        }
        double weight = (SplitMix64.first(SplitMix64.first(key + position)) >>> 1) / 4096;
        double[] weights = {weight, 0x1p52 - weight};
        if (((WeightedSampler) Sampler.weighted(weights, 1, 0)).threshold(0) != 4096 * (long) weight) {
            throw new AssertionError("the threshold is another");
        }
        cases.add(at(members("kind", "weighted", "weights", boxed(weights), "draws", 1L << 62, "seed", seed),
                Sampler.weighted(weights, 1L << 62, seed), 0, position - 1, position, position + 1));
    }

    private static void classes(List<Object> cases, SplittableRandom random) {
        int[] drawn = new int[40];
        for (int i = 0; i < drawn.length; i++) {
            drawn[i] = i < 6 ? 5 - i : Math.min(random.nextInt(6), random.nextInt(6));
        }
        for (int[] classes : new int[][] {{0}, {0, 1, 1, 1, 1}, {2, 0, 1, 0, 0, 1, 0, 2, 0, 0, 0}, {1, 0, 1, 0},
            {2, 2, 2, 1, 1, 1, 0, 0, 0}, drawn}) {
            List<Integer> list = Arrays.stream(classes).boxed().toList();
            for (long epoch = 0; epoch < 2; epoch++) {
                cases.add(all(members("kind", "stratified", "classes", list, "seed", 5L),
                        Sampler.stratified(classes, 5), epoch));
                cases.add(all(members("kind", "balanced", "classes", list, "draws", 17L, "seed", 5L),
                        Sampler.balanced(classes, 17, 5), epoch));
            }
            cases.add(at(members("kind", "balanced", "classes", list, "draws", 1L << 40, "seed", -5L),
                    Sampler.balanced(classes, 1L << 40, -5), 1 << 20, 0, 1, 2, 3, 4, 5, 6, 7, (1L << 40) - 1));
        }
    }

    private static void buckets(List<Object> cases) {
        int[] many = IntStream.range(0, 60).map(i -> i * i % 7 == 4 ? 9 : i % 5 == 0 ? 3 : 0).toArray();
        for (int[] buckets : new int[][] {{0}, {2, 2, 0, 2, 0, 2, 2}, {0, 1, 2, 3, 4, 4}, many}) {
            List<Integer> list = Arrays.stream(buckets).boxed().toList();
            for (TailPolicy rest : List.of(TailPolicy.PAD, TailPolicy.DROP)) {
                for (long group : new long[] {1, 2, 4}) {
                    if (rest == TailPolicy.PAD || group <= 2 && buckets.length > 1) {
                        cases.add(all(members("kind", "bucketed", "buckets", list, "group", group, "rest",
                                rest.toString(), "seed", 11L), Sampler.bucketed(buckets, group, rest, 11), group));
                    }
                }
            }
        }
    }

    private static List<double[]> weights(SplittableRandom random) {
        double[] wide = new double[30];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = i % 7 == 0 ? 0 : Math.scalb(1 + random.nextInt(1000) / 1024.0, random.nextInt(-30, 30));
        }
        double[] even = random.doubles(20, 0.5, 1.5).toArray();
        return List.of(new double[] {1}, new double[] {1, 1, 1}, new double[] {0.5, 0, 0.25, 3}, new double[] {0, 7},
                new double[] {1e-300, 1e300, 1}, wide, even,
                // The quotient is beyond the greatest number; a sum just below it, at it and above it.
                new double[] {Double.MIN_VALUE, 0, 3 * Double.MIN_VALUE}, new double[] {0x1p-972, 0x1p-1000},
                new double[] {0x1p-973, 0x1p-974}, new double[] {Double.MAX_VALUE, 1},
                // Keys beyond the greatest number.
                new double[] {0, 1e-300, Double.MIN_VALUE, 0, 1e-320, 1},
                // Sums that depend on the order; halves.
                new double[] {0x1p53, 1, 1}, new double[] {1, 1, 0x1p53}, new double[] {2, 6, 10, 0x1p54, 0x1p53},
                // A share that is just a place's.
                new double[] {2, 1, 3});
    }

    static Map<String, Object> mixtures() {
        List<Object> proportions = new ArrayList<>();
        for (double[] weights : new double[][] {{1}, {0, 2}, {0.7, 0.3}, {0.1, 0.2, 0.7}, {1, 2, 3, 4}, {0.3, 0, 0.35},
            {1, 1, 1}, {5, 1, 1, 1, 1, 1}, {1e-7, 1}, {Math.PI, Math.E, 0.5}, {Double.MIN_VALUE, 2 * Double.MIN_VALUE},
            {0x1p-44, 3 * 5.684341886080802e-14}, {1e23, 2e23}, {4_194_303, 1}, {4_194_304, 1},
            {4_194_305, 1, 4_194_305}, {1, 1, 8_388_606}, {1, 4_194_304, 2, 4_194_304, 1, 4_194_304}}) {
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
            proportions.add(members("weights", Arrays.stream(weights).boxed().toList(), "whole", whole, "sources",
                    sources, "ranks", ranks));
        }
        return members("proportions", proportions, "mixtures", mixtureCases(), "by_epochs", byEpochs());
    }

    private static List<Object> mixtureCases() {
        List<Object> cases = new ArrayList<>();
        long[] all = LongStream.range(0, 100).toArray();
        List<Object> two = List.of(source(10, null), source(200, 3L));
        List<Object> three = List.of(source(10, 1L), source(200, null), source(7, -5L));
        List<Object> one = List.of(phase(0, 0.7, 0.3));
        List<Object> curriculum = List.of(phase(0, 1, 2, 3), phase(13, 0, 0.5, 0.25), phase(60, 1, 0, 0));
        for (long epoch : new long[] {0, 1, 2}) {
            cases.add(mixture(100, two, one, null, epoch, all));
        }
        cases.add(mixture(100, three, curriculum, null, 1, all));
        cases.add(mixture(100, three, List.of(phase(0, 1, 2, 3), phase(13, 0, 0.5, 0.25), phase(60, 1, 1, 0),
                phase(99, 3, 2, 1)), 11L, 1, all));
        cases.add(mixture(1L << 40, List.of(source(1L << 45, 1L), source(1000, 2L)),
                List.of(phase(0, 0.9, 0.1), phase(1L << 30, 0.5, 0.5)), 12L, 3, 0, 1, 65_539, 65_540, 65_541,
                (1L << 30) - 1, 1L << 30, (1L << 40) - 65_537, (1L << 40) - 1));
        cases.add(mixture(200_000, List.of(source(300_000, 9L), source(40, 8L)), List.of(phase(0, Math.PI, Math.E)),
                null, 4, 0, 1, 2, 3, 4, 199_998, 199_999));
        // Blocks of draws: of 65,538, of one period that is longer, of 65,536 exactly.
        cases.add(mixture(200_000, three, List.of(phase(0, 1, 1, 1)), -1L, 2, 0, 65_536, 65_537, 65_538, 131_075,
                131_076, 196_613, 196_614, 199_999));
        cases.add(mixture(150_000, two, List.of(phase(0, 1, 70_000)), -2L, 1, 0, 70_000, 70_001, 140_001, 140_002,
                149_999));
        cases.add(mixture(131_072, two, List.of(phase(0, 1, 3)), -3L, 1, 0, 65_535, 65_536, 131_071));
        // A source of fewer draws an epoch than samples, one of more, and a mixture as a source.
        Map<String, Object> inner = mixture(9, List.of(source(3, null), source(4, 1L)), List.of(phase(0, 1, 1)), 4L, 0);
        cases.add(mixture(40, List.of(inner, drawn(1000, 3, 5), drawn(2, 9, 6)), List.of(phase(0, 2, 1, 1)), null, 3,
                LongStream.range(0, 40).toArray()));
        return cases;
    }

    private static List<Object> byEpochs() {
        List<Object> cases = new ArrayList<>();
        long[] sizes = {5, 7, (1L << 60) + 1, 1000};
        for (double[] epochs : new double[][] {{0.5, 0, 0, 0}, {0.3, 2, 0, 0}, {0.1, 0.1, 0, 0.1}, {0, 0, 1, 0},
            {0.3, 0.3, 0, 0.001}, {1, 1, 0, 1}, {0.7, 0.1, 0, 0.0007}}) {
            List<Object> sources = new ArrayList<>();
            List<Mixture.Source> made = new ArrayList<>();
            for (int s = 0; s < sizes.length; s++) {
                Map<String, Object> source = source(sizes[s], (long) s);
                made.add(new Mixture.Source(sampler(source), epochs[s]));
                source.put("epochs", epochs[s]);
                sources.add(source);
            }
            Mixture mixture = Mixture.ofEpochs(made.toArray(Mixture.Source[]::new));
            cases.add(at(members("sources", sources, "size", mixture.size()), mixture, 1, 0, Math.min(1,
                    mixture.size() - 1), mixture.size() - 1));
        }
        return cases;
    }

    private static Map<String, Object> source(long size, Long seed) {
        return seed == null ? members("size", size) : members("size", size, "seed", seed);
    }

    private static Map<String, Object> drawn(long size, long draws, long seed) {
        return members("size", size, "draws", draws, "seed", seed);
    }

    private static Map<String, Object> phase(long first, double... weights) {
        return members("first", first, "weights", boxed(weights));
    }

    /** The sampler that a source's members say; a mixture is a source that has sources. */
    private static Sampler sampler(Map<?, ?> source) {
        long size = (Long) source.get("size");
        Long seed = (Long) source.get("seed");
        if (source.containsKey("sources")) {
            return mixture(size, (List<?>) source.get("sources"), (List<?>) source.get("phases"), seed);
        }
        if (source.containsKey("draws")) {
            return Sampler.withReplacement(size, (Long) source.get("draws"), seed);
        }
        return seed == null ? Sampler.sequential(size) : Sampler.shuffled(size, seed);
    }

    private static Mixture mixture(long size, List<?> sources, List<?> phases, Long chance) {
        Mixture mixture = null;
        for (Object phase : phases) {
            long first = (Long) ((Map<?, ?>) phase).get("first");
            double[] weights = ((List<?>) ((Map<?, ?>) phase).get("weights")).stream()
                    .mapToDouble(weight -> (Double) weight).toArray();
            mixture = mixture != null ? mixture.then(first, weights)
                    : Mixture.of(size, IntStream.range(0, weights.length).mapToObj(s ->
                            new Mixture.Source(sampler((Map<?, ?>) sources.get(s)), weights[s]))
                                    .toArray(Mixture.Source[]::new));
        }
        return chance == null ? mixture : mixture.byChance(chance);
    }

    private static Map<String, Object> mixture(long size, List<Object> sources, List<Object> phases, Long chance,
            long epoch, long... positions) {
        Map<String, Object> fields = members("size", size, "sources", sources, "phases", phases);
        if (chance != null) {
            fields.put("seed", chance);
        }
        return positions.length == 0 ? fields
                : at(fields, mixture(size, sources, phases, chance), epoch, positions);
    }
}
