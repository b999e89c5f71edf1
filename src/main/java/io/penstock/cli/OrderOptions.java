package io.penstock.cli;

import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.text.NumberText;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The order of samples. */
final class OrderOptions {

    private static final long DEFAULT_SEED = 42;
    private static final int BLOCKS_IN_A_WINDOW = 16;

    @ArgGroup
    private Shuffle shuffle = new Shuffle();

    /** Either a seed, or no shuffling. */
    static final class Shuffle {
        @Option(names = "--seed", paramLabel = "NUMBER",
                description = "What each epoch's order is drawn from; default: " + DEFAULT_SEED + ".")
        private long seed = DEFAULT_SEED;

        @Option(names = "--no-shuffle", description = "Take samples in the order of the store.")
        private boolean sequential;
    }

    @Option(names = "--order", paramLabel = "KIND=FILE",
            description = "weighted, weighted-once, balanced, stratified or subset, by an array of numbers in FILE"
                    + " (.npy or any tensor store): each sample's weight or class, or the samples that are chosen.")
    private Map<String, Path> orders = new LinkedHashMap<>();

    @Option(names = "--shuffle-window", paramLabel = "SAMPLES",
            description = "Shuffle blocks of neighbours, then samples within so many: for storage that reads neighbours"
                    + " faster. Blocks are a WebDataset's shards, of other stores a 16th of the window.")
    private Long shuffleWindow;

    @Option(names = "--weights", paramLabel = "W,…", split = ",",
            description = "Mix several stores, one weight each: at every draw as near to these proportions as can be.")
    private List<Double> weights;

    @Option(names = "--store-epochs", paramLabel = "E,…", split = ",",
            description = "Mix several stores, so many epochs of each in one of the mixture.")
    private List<Double> storeEpochs;

    @Option(names = "--draws", paramLabel = "SAMPLES",
            description = "Samples of an epoch of a mixture by --weights, or of a weighted, weighted-once or balanced"
                    + " order; default: as many as there are.")
    private Long draws;

    @Option(names = "--then", paramLabel = "DRAW=W:…",
            description = "Other weights of a mixture from a draw of each epoch on, for example 600000=0.4:0.6.")
    private Map<Long, String> then = new LinkedHashMap<>();

    @Option(names = "--by-chance", description = "Mix in a random order, instead of evenly.")
    private boolean byChance;

    boolean isSequential() {
        return shuffle.sequential;
    }

    long seed() {
        return shuffle.seed;
    }

    /** For people. */
    String text() {
        return (orders.isEmpty() ? "" : orders.keySet().iterator().next() + ", ")
                + (shuffle.sequential ? "in order" : "shuffled with seed " + shuffle.seed);
    }

    /** The order that was asked for; an {@link IllegalArgumentException} says what contradicts it. */
    Sampler sampler(SampleSource source) {
        long size = source.dataset().size();
        if (weights != null || storeEpochs != null) {
            if (!orders.isEmpty()) {
                throw new IllegalArgumentException("--order: found beside " + (weights != null ? "--weights"
                        : "--store-epochs") + ", expected one of them");
            }
            return mixture(source.sizes());
        }
        if (!orders.isEmpty()) {
            if (orders.size() > 1 || shuffleWindow != null || byChance || !then.isEmpty()) {
                throw new IllegalArgumentException("--order: found beside another one, --shuffle-window, --by-chance or"
                        + " --then, expected one of them");
            }
            Map.Entry<String, Path> one = orders.entrySet().iterator().next();
            return ListedOrder.of(one.getKey(), one.getValue(), size, draws, shuffle.sequential, shuffle.seed);
        }
        if (draws != null || byChance || !then.isEmpty()) {
            throw new IllegalArgumentException("--draws, --then and --by-chance are for a mixture, by --weights or"
                    + " --store-epochs");
        }
        if (shuffle.sequential) {
            if (shuffleWindow != null) {
                throw new IllegalArgumentException("--shuffle-window: found beside --no-shuffle, expected one of them");
            }
            return Sampler.sequential(size);
        }
        if (shuffleWindow == null) {
            return Sampler.shuffled(size, shuffle.seed);
        }
        if (shuffleWindow < 1) {
            throw new IllegalArgumentException("--shuffle-window: found " + shuffleWindow + ", expected at least 1");
        }
        long[] blocks = source.blockStarts() != null ? source.blockStarts()
                : equalBlocks(size, Math.max(1, shuffleWindow / BLOCKS_IN_A_WINDOW));
        return Sampler.blockShuffled(blocks, shuffleWindow, shuffle.seed);
    }

    private static long[] equalBlocks(long size, long block) {
        long[] starts = new long[Math.toIntExact(Math.ceilDiv(size, block)) + 1];
        for (int b = 0; b < starts.length; b++) {
            starts[b] = Math.min(size, b * block);
        }
        return starts;
    }

    private Sampler mixture(List<Long> sizes) {
        List<Double> shares = weights != null ? weights : storeEpochs;
        if (weights != null && storeEpochs != null || shuffleWindow != null) {
            throw new IllegalArgumentException("--weights, --store-epochs and --shuffle-window: found two of"
                    + " them, expected one");
        }
        if (storeEpochs != null && draws != null) {
            throw new IllegalArgumentException("--draws: found beside --store-epochs, which say how many samples an"
                    + " epoch has; expected one of them");
        }
        if (shares.size() != sizes.size()) {
            throw new IllegalArgumentException((weights != null ? "--weights" : "--store-epochs") + ": found "
                    + shares.size()
                    + " numbers, expected one for each of " + NumberText.count(sizes.size(), "store"));
        }
        Mixture.Source[] sources = new Mixture.Source[sizes.size()];
        for (int s = 0; s < sources.length; s++) {
            sources[s] = new Mixture.Source(shuffle.sequential ? Sampler.sequential(sizes.get(s))
                    : Sampler.shuffled(sizes.get(s), shuffle.seed), shares.get(s));
        }
        long epochDraws = draws != null ? draws : sizes.stream().mapToLong(size -> size).sum();
        Mixture mixture = weights != null ? Mixture.of(epochDraws, sources) : Mixture.ofEpochs(sources);
        for (Map.Entry<Long, String> phase : new TreeMap<>(then).entrySet()) {
            mixture = mixture.then(phase.getKey(), Arrays.stream(phase.getValue().split(":"))
                    .mapToDouble(Double::parseDouble).toArray());
        }
        return byChance ? mixture.byChance(shuffle.seed) : mixture;
    }
}
