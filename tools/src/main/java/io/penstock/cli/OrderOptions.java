// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Sampler;
import io.penstock.stream.StreamDataset;
import io.penstock.text.NumberText;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The order of samples. */
final class OrderOptions {

    static final long DEFAULT_SEED = 42;
    private static final int BLOCKS_IN_A_WINDOW = 16;
    private static final String SEQUENTIAL_WINDOW = "--shuffle-window and --no-shuffle: found both, expected one of"
            + " them";

    @ArgGroup
    private Shuffle shuffle = new Shuffle();

    /** Either a seed, or no shuffling. */
    static final class Shuffle {
        @Option(names = "--seed", paramLabel = "NUMBER",
                description = "Seed of the order of every epoch; default: " + DEFAULT_SEED + ".")
        private long seed = DEFAULT_SEED;

        @Option(names = "--no-shuffle", description = "Keep the order of the store.")
        private boolean sequential;
    }

    @Option(names = "--order", paramLabel = "KIND=FILE",
            description = "Order samples by the numbers in FILE (.npy or any tensor store). KIND is weighted or"
                    + " weighted-once (FILE has each sample's weight), balanced or stratified (its class), or subset"
                    + " (the indices to use).")
    private Map<String, Path> orders = new LinkedHashMap<>();

    @Option(names = "--shuffle-window", paramLabel = "SAMPLES",
            description = "For storage that reads sequentially: shuffle blocks, then samples within a window of"
                    + " SAMPLES. A block is a shard of a WebDataset, or a 16th of the window in other stores. With"
                    + " --source: shuffle windows of SAMPLES; default: keep the order.")
    private @Nullable Long shuffleWindow;

    @Option(names = "--weights", paramLabel = "W", split = ",",
            description = "Mix the stores in these proportions, one weight per store, and then per --source; every"
                    + " prefix of an epoch is as close to them as possible.")
    private List<Double> weights = List.of();

    @Option(names = "--store-epochs", paramLabel = "E", split = ",",
            description = "Mix the stores; one epoch of the mixture has E epochs of each.")
    private List<Double> storeEpochs = List.of();

    @Option(names = "--draws", paramLabel = "SAMPLES",
            description = "Samples per epoch, with --weights or --order weighted, weighted-once or balanced; default:"
                    + " as many as the stores have.")
    private @Nullable Long draws;

    @Option(names = "--then", paramLabel = "DRAW=W:…",
            description = "Change the weights of the mixture from sample DRAW of each epoch, for example"
                    + " 600000=0.4:0.6.")
    private Map<Long, String> then = new LinkedHashMap<>();

    @Option(names = "--by-chance", description = "Mix the stores at random instead of evenly.")
    private boolean byChance;

    /** Whether samples are a stream's, which is shuffled only on request. */
    private boolean isStream;

    boolean isSequential() {
        return shuffle.sequential || isStream && shuffleWindow == null;
    }

    /** The order of a stream. */
    StreamDataset.Builder shuffled(StreamDataset.Builder stream) {
        if (!orders.isEmpty() || !storeEpochs.isEmpty() || draws != null || byChance || !then.isEmpty()) {
            throw new IllegalArgumentException("--order, --store-epochs, --draws, --then and --by-chance: found one of"
                    + " them with --source, expected stores");
        }
        isStream = true;
        if (shuffle.sequential && shuffleWindow != null) {
            throw new IllegalArgumentException(SEQUENTIAL_WINDOW);
        }
        return shuffleWindow == null ? stream : stream.shuffle(shuffle.seed, Math.toIntExact(shuffleWindow));
    }

    /** The tars of a stream, in another order in each pass if samples are shuffled. */
    WebDatasetSource shuffled(WebDatasetSource tars) {
        return shuffleWindow == null ? tars : tars.shuffled(shuffle.seed);
    }

    /** The order of a store that is mixed with streams. */
    Sampler ofStore(long size) {
        return shuffle.sequential ? Sampler.sequential(size) : Sampler.shuffled(size, shuffle.seed);
    }

    List<Double> weights() {
        return weights;
    }

    long seed() {
        return shuffle.seed;
    }

    String text() {
        return (orders.isEmpty() ? "" : orders.keySet().iterator().next() + ", ")
                + (isSequential() ? "in order" : "shuffled with seed " + shuffle.seed);
    }

    /** The order that the options describe; an {@link IllegalArgumentException} names options that conflict. */
    Sampler sampler(SampleSource source) {
        if (source.dataset().arrivals().isPresent()) {
            return source.dataset().arrivals().get().order();
        }
        long size = source.dataset().size();
        if (!weights.isEmpty() || !storeEpochs.isEmpty()) {
            if (!orders.isEmpty()) {
                throw new IllegalArgumentException("--order and "
                        + (weights.isEmpty() ? "--store-epochs" : "--weights") + ": found both, expected one of them");
            }
            return mixture(source.sizes());
        }
        if (!orders.isEmpty()) {
            if (orders.size() > 1 || shuffleWindow != null || byChance || !then.isEmpty()) {
                throw new IllegalArgumentException("--order: found with another --order, --shuffle-window, --by-chance"
                        + " or --then, expected one of them");
            }
            Map.Entry<String, Path> one = orders.entrySet().iterator().next();
            return ListedOrder.of(one.getKey(), one.getValue(), size, draws, shuffle.sequential, shuffle.seed);
        }
        if (draws != null || byChance || !then.isEmpty()) {
            throw new IllegalArgumentException("--draws, --then and --by-chance need a mixture: add --weights or"
                    + " --store-epochs");
        }
        if (shuffle.sequential) {
            if (shuffleWindow != null) {
                throw new IllegalArgumentException(SEQUENTIAL_WINDOW);
            }
            return Sampler.sequential(size);
        }
        if (shuffleWindow == null) {
            return Sampler.shuffled(size, shuffle.seed);
        }
        if (shuffleWindow < 1) {
            throw new IllegalArgumentException("--shuffle-window: found " + shuffleWindow + ", expected at least 1");
        }
        long[] blocks = source.blockStarts().length > 0 ? source.blockStarts()
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
        boolean weighted = !weights.isEmpty();
        List<Double> shares = weighted ? weights : storeEpochs;
        if (weighted && !storeEpochs.isEmpty() || shuffleWindow != null) {
            throw new IllegalArgumentException("--weights, --store-epochs and --shuffle-window: found two of"
                    + " them, expected one");
        }
        if (!weighted && draws != null) {
            throw new IllegalArgumentException("--draws and --store-epochs: found both, expected one of them, as each"
                    + " sets the samples per epoch");
        }
        if (shares.size() != sizes.size()) {
            throw new IllegalArgumentException((weighted ? "--weights" : "--store-epochs") + ": found " + shares.size()
                    + " numbers, expected one per store (" + NumberText.count(sizes.size(), "store") + ")");
        }
        Mixture.Source[] sources = new Mixture.Source[sizes.size()];
        for (int s = 0; s < sources.length; s++) {
            sources[s] = new Mixture.Source(ofStore(sizes.get(s)), shares.get(s));
        }
        long epochDraws = draws != null ? draws : sizes.stream().mapToLong(size -> size).sum();
        Mixture mixture = weighted ? Mixture.of(epochDraws, sources) : Mixture.ofEpochs(sources);
        for (Map.Entry<Long, String> phase : new TreeMap<>(then).entrySet()) {
            mixture = mixture.then(phase.getKey(), Arrays.stream(phase.getValue().split(":"))
                    .mapToDouble(Double::parseDouble).toArray());
        }
        return byChance ? mixture.byChance(shuffle.seed) : mixture;
    }
}
