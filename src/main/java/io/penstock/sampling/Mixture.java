// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Mixes several datasets in given proportions, each in its own sampler's order. An epoch of the mixture is a fixed
 * number of draws, and each draw is the next sample of one source. A source that ends starts its next epoch; a source
 * that does not end continues in the mixture's next epoch. So no source repeats or loses a sample before all its
 * samples were drawn.
 *
 * <p>Samples are numbered across the sources: sample {@code i} of the second source is the size of the first plus
 * {@code i}, as {@code io.penstock.dataset.Dataset.concat} numbers them.
 *
 * <p>Proportions are exact if the weights, as whole numbers in lowest terms, sum to at most 2^22 = 4,194,304. Others
 * are rounded to multiples of 2^-22. A source whose share rounds to 0 is never drawn: {@link #drawsPerEpoch} tells.
 *
 * <p>Any draw is computed on its own in constant time; nothing is replayed, and memory does not grow with the sources.
 * {@code docs/spec/mixtures.md} specifies all of it for ports.
 *
 * {@snippet :
 * Sampler mix = Mixture.of(1_000_000, new Mixture.Source(Sampler.shuffled(web.size(), 1), 0.7),
 *         new Mixture.Source(Sampler.shuffled(books.size(), 1), 0.2),
 *         new Mixture.Source(Sampler.shuffled(code.size(), 1), 0.1))
 *         .then(600_000, 0.4, 0.3, 0.3);            // from draw 600,000 of each epoch on
 * }
 */
public final class Mixture implements Sampler {

    /** The smallest block of shuffled draws; a smaller one would not look random. */
    private static final int MIN_BLOCK = 1 << 16;

    /** Separates the order of draws from the sources' own orders. */
    private static final long TAG = 0x4D49585455524553L;

    /**
     * A source and its share.
     *
     * @param sampler the source's order
     * @param weight its share of the draws relative to the other sources: finite, not negative; taken as the decimal
     *     number that it prints as
     */
    public record Source(Sampler sampler, double weight) {

        /** Checks the weight. */
        public Source {
            Objects.requireNonNull(sampler, "sampler");
            WeightedSampler.checkWeight(weight);
        }
    }

    /** Proportions from a draw of each epoch on, and the draws of each source before it in the epoch. */
    private record Phase(long firstDraw, Proportions proportions, long[] drawnBefore) { }

    private final long size;
    private final List<Sampler> samplers;
    private final List<Phase> phases;
    private final boolean shuffled;
    private final long seed;

    private final OrderCache[] orders;
    /** The start of each source's samples, and the number of all samples. */
    private final PrefixSums firstSamples;
    /** The draws of each source in an epoch. */
    private final long[] drawsPerEpoch;

    private Mixture(long size, List<Sampler> samplers, List<Phase> phases, boolean shuffled, long seed) {
        this.size = Positions.checkSize(size);
        this.samplers = samplers;
        this.phases = phases;
        this.shuffled = shuffled;
        this.seed = seed;
        this.orders = samplers.stream().map(OrderCache::new).toArray(OrderCache[]::new);
        long[] starts = new long[samplers.size() + 1];
        for (int s = 0; s < samplers.size(); s++) {
            starts[s + 1] = Positions.checkSize(starts[s] + samplers.get(s).datasetSize());
        }
        this.firstSamples = PrefixSums.of(starts);
        this.drawsPerEpoch = drawnBy(phases.getLast(), size);
    }

    /**
     * {@return a mixture whose proportions are as close to the weights as possible at every draw: each draw takes the
     * source that is furthest below its share, as Megatron-LM blends datasets}
     *
     * @param size draws in an epoch, 1 to 2^62
     * @param sources the sources, 1 to 32,767
     * @throws IllegalArgumentException if a size is outside its range, or all weights are 0
     */
    public static Mixture of(long size, Source... sources) {
        Proportions proportions = Proportions.of(Stream.of(sources).mapToDouble(Source::weight).toArray());
        return new Mixture(size, Stream.of(sources).map(Source::sampler).toList(),
                List.of(new Phase(0, proportions, new long[sources.length])), false, 0);
    }

    /**
     * A mixture by epochs: draws the given number of epochs from each source, evenly spread. The numbers are
     * exact where the proportions are, so always up to 2^22 whole draws in total. Where these are rounded, a source has
     * up to about one draw in 2^22 more or fewer; one with a share below 2^-22 may have none.
     *
     * @param sources the sources; each weight is a number of its epochs: 2 draws every sample twice, 0.5 draws half of
     *     them
     * @return the sampler; its size is the sum, rounded to a whole number of draws
     * @throws IllegalArgumentException if it has no draws, or more than 2^62
     */
    public static Mixture ofEpochs(Source... sources) {
        Source[] byDraws = Stream.of(sources)
                .map(source -> new Source(source.sampler, source.weight * source.sampler.size()))
                .toArray(Source[]::new);
        double size = 0;
        for (Source source : byDraws) {
            size += source.weight;
        }
        return of(Math.round(size), byDraws);
    }

    /**
     * {@return this mixture with other proportions from a draw on: a curriculum} The sources continue where they are.
     *
     * @param firstDraw the draw of each epoch where the weights take effect; after those of earlier calls
     * @param weights one for each source
     * @throws IllegalArgumentException if the draw is outside the epoch or not after the earlier ones, or the number of
     *     weights differs from the number of sources
     */
    public Mixture then(long firstDraw, double... weights) {
        Phase last = phases.getLast();
        if (firstDraw <= last.firstDraw || firstDraw >= size) {
            throw new IllegalArgumentException("weights from draw " + firstDraw + " on, expected "
                    + (last.firstDraw + 1) + " to " + (size - 1));
        }
        if (weights.length != samplers.size()) {
            throw new IllegalArgumentException(weights.length + " weights, expected one for each of the "
                    + samplers.size() + " sources");
        }
        List<Phase> more = new ArrayList<>(phases);
        more.add(new Phase(firstDraw, Proportions.of(weights), drawnBy(last, firstDraw)));
        return new Mixture(size, samplers, List.copyOf(more), shuffled, seed);
    }

    /**
     * {@return this mixture with shuffled draws, so that each draw's source is random} Draws are shuffled within
     * blocks, each with exact proportions. A block is a whole number of the proportions' periods, of at least 65,536
     * draws; the remaining draws form a block of their own.
     *
     * @param seed any 64 bits
     */
    public Mixture byChance(long seed) {
        return new Mixture(size, samplers, phases, true, seed);
    }

    /** Returns the draws of each source in an epoch before a draw that is in a phase or at its end. */
    private static long[] drawnBy(Phase phase, long draw) {
        long[] drawn = phase.proportions.counts(draw - phase.firstDraw);
        for (int s = 0; s < drawn.length; s++) {
            drawn[s] += phase.drawnBefore[s];
        }
        return drawn;
    }

    /**
     * {@return the number of draws that an epoch takes from a source}
     *
     * @param source its position in the list of sources
     */
    public long drawsPerEpoch(int source) {
        return drawsPerEpoch[source];
    }

    /**
     * The source of a sample.
     *
     * @param sample an index that an order gave
     * @return the source's position in the list of sources
     * @throws IndexOutOfBoundsException if there is no such sample
     */
    public int sourceOf(long sample) {
        Positions.check(sample, datasetSize());
        return firstSamples.runOf(sample);
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long datasetSize() {
        return firstSamples.total();
    }

    @Override
    public long seed() {
        return shuffled ? seed : 0;
    }

    /** The seed of the draws' order; if that is not shuffled, the first of the sources' seeds that is not 0. */
    @Override
    public long augmentationSeed() {
        return shuffled ? seed
                : samplers.stream().mapToLong(Sampler::augmentationSeed).filter(of -> of != 0).findFirst().orElse(0);
    }

    @Override
    public long epochs() {
        long epochs = Sampler.MAX_SIZE;
        for (int s = 0; s < drawsPerEpoch.length; s++) {
            if (drawsPerEpoch[s] > 0) {
                Sampler source = samplers.get(s);
                long draws = source.epochs() * source.size();
                boolean fits = Math.multiplyHigh(source.epochs(), source.size()) == 0 && draws >= 0;
                epochs = Math.min(epochs, Positions.wholeEpochs(fits ? draws : 1L << 63, drawsPerEpoch[s]));
            }
        }
        return epochs;
    }

    @Override
    public Order epoch(long epoch) {
        return new Draws(epoch);
    }

    @Override
    public String fingerprint() {
        return "mixture size=" + size
                + phases.stream().map(phase -> " from=" + phase.firstDraw + " weights=" + phase.proportions)
                        .collect(Collectors.joining())
                + (shuffled ? " by chance seed=" + seed : "")
                + samplers.stream().map(Sampler::fingerprint).collect(Collectors.joining("; ", " of [", "]"));
    }

    @Override
    public String toString() {
        return fingerprint();
    }

    private final class Draws implements Order {

        private final long epoch;
        /** The shuffled order of each phase's draws, if they are shuffled. */
        private final WindowedShuffle[] drawOrders;

        Draws(long epoch) {
            this.epoch = epoch;
            this.drawOrders = new WindowedShuffle[phases.size()];
            for (int p = 0; p < drawOrders.length && shuffled; p++) {
                long end = p + 1 < phases.size() ? phases.get(p + 1).firstDraw : size;
                long key = SplitMix64.key(seed, epoch, TAG) + p;
                int period = phases.get(p).proportions.period();
                drawOrders[p] = new WindowedShuffle(end - phases.get(p).firstDraw,
                        Math.ceilDiv(MIN_BLOCK, period) * (long) period, key);
            }
        }

        @Override
        public long size() {
            return size;
        }

        @Override
        public long at(long position) {
            Positions.check(position, size);
            int p = phases.size() - 1;
            while (phases.get(p).firstDraw > position) {
                p--;
            }
            Phase phase = phases.get(p);
            long draw = position - phase.firstDraw;
            if (shuffled) {
                draw = drawOrders[p].at(draw);
            }
            int source = phase.proportions.source(draw);
            long drawn = Math.addExact(Math.multiplyExact(epoch, drawsPerEpoch[source]),
                    phase.drawnBefore[source] + phase.proportions.rank(draw));
            long epochSize = samplers.get(source).size();
            return firstSamples.start(source) + orders[source].of(drawn / epochSize).at(drawn % epochSize);
        }
    }
}
