// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.PrefixSums;
import io.penstock.internal.SplitMix64;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
    /** The changes of weights of a run that was edited, in their order. */
    private final Stretch[] stretches;

    private Mixture(long size, List<Sampler> samplers, List<Phase> phases, boolean shuffled, long seed) {
        this(size, samplers, phases, shuffled, seed, new Stretch[0]);
    }

    private Mixture(long size, List<Sampler> samplers, List<Phase> phases, boolean shuffled, long seed,
            Stretch[] stretches) {
        this.stretches = stretches;
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

    /** Returns how many draws are shuffled together. */
    static long block(int period) {
        return Math.ceilDiv(MIN_BLOCK, period) * (long) period;
    }

    int sources() {
        return samplers.size();
    }

    /** Whether a source has no weight in any phase. */
    boolean isUnused(int source) {
        return phases.stream().allMatch(phase -> phase.proportions.weight(source) == 0);
    }

    /** Returns the weights at a draw. */
    double[] weights(long epoch, long draw) {
        int changed = stretchOf(epoch, draw);
        Proportions of = changed >= 0 ? stretches[changed].proportions : phases.get(phaseOf(draw)).proportions;
        return IntStream.range(0, samplers.size()).mapToDouble(of::weight).toArray();
    }

    /** Returns this mixture without changes of weights. */
    Mixture original() {
        return stretches.length == 0 ? this : new Mixture(size, samplers, phases, shuffled, seed);
    }

    /** Whether changes of weights are in the order of their draws, and behind those that are there. */
    boolean canAdd(List<Edit.Reweigh> changes) {
        long epoch = stretches.length == 0 ? 0 : stretches[stretches.length - 1].epoch;
        long draw = stretches.length == 0 ? 0 : stretches[stretches.length - 1].firstDraw;
        for (Edit.Reweigh change : changes) {
            if (change.epoch() < epoch || change.epoch() == epoch && change.position() < draw) {
                return false;
            }
            epoch = change.epoch();
            draw = change.position();
        }
        return true;
    }

    /** Returns this mixture with changes of weights, in the order of their draws. */
    Mixture reweighed(List<Edit.Reweigh> changes) {
        List<Stretch> all = new ArrayList<>(List.of(stretches));
        for (Edit.Reweigh change : changes) {
            int given = change.weights().size();
            if (given > samplers.size() || change.position() >= size) {
                throw new IllegalArgumentException(given + " weights from draw " + change.position()
                        + " on, expected at most one for each of the " + samplers.size() + " sources, and a draw below "
                        + size);
            }
            double[] weights = new double[samplers.size()];
            for (int s = 0; s < given; s++) {
                weights[s] = change.weights().get(s);
            }
            Proportions proportions = Proportions.of(weights);
            all.add(all.isEmpty() ? firstStretch(change.epoch(), change.position(), proportions)
                    : all.getLast().then(change.epoch(), change.position(), proportions, size, shuffled, seed));
        }
        return new Mixture(size, samplers, phases, shuffled, seed, all.toArray(Stretch[]::new));
    }

    /** Returns the stretch that begins at a draw of a phase. */
    private Stretch firstStretch(long epoch, long draw, Proportions proportions) {
        int p = phaseOf(draw);
        Phase phase = phases.get(p);
        long end = p + 1 < phases.size() ? phases.get(p + 1).firstDraw : size;
        long block = shuffled ? block(phase.proportions.period()) : 1;
        long number = draw - phase.firstDraw;
        long cut = Math.min(end - phase.firstDraw, Math.ceilDiv(number, block) * block);
        long[] next = drawnBy(phase, phase.firstDraw + cut);
        List<List<Long>> left = Stretch.lists(samplers.size());
        Draws draws = new Draws(epoch);
        for (long i = number; i < cut; i++) {
            long position = phase.firstDraw + i;
            long patterned = draws.patterned(p, position);
            int source = phase.proportions.source(patterned);
            left.get(source).add(draws.ofSource(phase, source, patterned));
        }
        for (int s = 0; s < next.length; s++) {
            next[s] = Math.addExact(next[s], Math.multiplyExact(epoch, drawsPerEpoch[s]));
        }
        return new Stretch(epoch, draw, proportions, Stretch.sorted(left), next, shuffled, seed);
    }

    private int phaseOf(long draw) {
        int p = phases.size() - 1;
        while (phases.get(p).firstDraw > draw) {
            p--;
        }
        return p;
    }

    /** Returns the last change of weights at or before a draw; -1 if there is none. */
    private int stretchOf(long epoch, long draw) {
        int low = 0;
        int high = stretches.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (stretches[middle].beginsBy(epoch, draw)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
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
                epochs = Math.min(epochs, Positions.wholeEpochs(drawsOf(samplers.get(s)), drawsPerEpoch[s]));
            }
        }
        return stretches.length == 0 ? epochs : epochsOf(stretches[stretches.length - 1]);
    }

    /** Returns the draws of all epochs of a source, unsigned; at most 2^63. */
    private static long drawsOf(Sampler source) {
        long draws = source.epochs() * source.size();
        boolean fits = Math.multiplyHigh(source.epochs(), source.size()) == 0 && draws >= 0;
        return fits ? draws : 1L << 63;
    }

    /** Returns how many epochs there are if no source gives more than a whole epoch's draws in each. */
    private long epochsOf(Stretch last) {
        long room = Long.MAX_VALUE;
        for (int s = 0; s < samplers.size(); s++) {
            long draws = drawsOf(samplers.get(s));
            room = Math.min(room, last.roomOf(s, draws < 0 ? Long.MAX_VALUE : draws));
        }
        return Math.min(Sampler.MAX_SIZE, last.epoch + Math.max(0, room / size));
    }

    @Override
    public Order epoch(long epoch) {
        return new Draws(epoch);
    }

    @Override
    public String fingerprint() {
        return fingerprint(samplers.size());
    }

    /** Returns the fingerprint of the mixture of the first sources, if the others have no weight. */
    String fingerprint(int sources) {
        return "mixture size=" + size
                + phases.stream().map(phase -> " from=" + phase.firstDraw + " weights="
                        + phase.proportions.text(sources)).collect(Collectors.joining())
                + (shuffled ? " by chance seed=" + seed : "")
                + samplers.stream().limit(sources).map(Sampler::fingerprint)
                        .collect(Collectors.joining("; ", " of [", "]"));
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
                drawOrders[p] = new WindowedShuffle(end - phases.get(p).firstDraw,
                        block(phases.get(p).proportions.period()), key);
            }
        }

        @Override
        public long size() {
            return size;
        }

        @Override
        public long at(long position) {
            Positions.check(position, size);
            int changed = stretches.length == 0 ? -1 : stretchOf(epoch, position);
            int source;
            long drawn;
            if (changed >= 0) {
                Stretch stretch = stretches[changed];
                long patterned = stretch.patterned(epoch, position, size);
                source = stretch.proportions.source(patterned);
                drawn = stretch.ofSource(source, patterned);
            } else {
                int p = phaseOf(position);
                Phase phase = phases.get(p);
                long patterned = patterned(p, position);
                source = phase.proportions.source(patterned);
                drawn = ofSource(phase, source, patterned);
            }
            long epochSize = samplers.get(source).size();
            return firstSamples.start(source) + orders[source].of(drawn / epochSize).at(drawn % epochSize);
        }

        /** Returns the draw of a phase in the pattern of its proportions. */
        private long patterned(int phase, long position) {
            long draw = position - phases.get(phase).firstDraw;
            return shuffled ? drawOrders[phase].at(draw) : draw;
        }

        /** Returns which draw of its source a draw of a phase is, counted through all epochs. */
        private long ofSource(Phase phase, int source, long patterned) {
            return Math.addExact(Math.multiplyExact(epoch, drawsPerEpoch[source]),
                    phase.drawnBefore[source] + phase.proportions.rank(patterned));
        }
    }
}
