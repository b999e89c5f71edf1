package io.penstock.sampling;

/**
 * Draws every class equally often: each round draws every class once, in an order that rotates from round to round.
 * Each class's samples are shuffled, and reshuffled once all were drawn; draws continue from epoch to epoch.
 */
final class BalancedSampler implements Sampler {

    private static final long TAG = 0x42414C414E4345L;

    private final ClassSamples samples;
    private final long size;
    private final long seed;
    private final OrderCache[] orders;
    private final long turnKey;

    BalancedSampler(int[] classes, long size, long seed) {
        this.samples = new ClassSamples(classes);
        this.size = Positions.checkSize(size);
        this.seed = seed;
        this.orders = samples.shuffled(seed);
        this.turnKey = SplitMix64.first(SplitMix64.first(seed) + TAG);
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long datasetSize() {
        return samples.total();
    }

    @Override
    public long seed() {
        return seed;
    }

    @Override
    public long epochs() {
        return Positions.wholeEpochs(size);
    }

    @Override
    public Order epoch(long epoch) {
        long before = Math.multiplyExact(epoch, size);
        return new ComputedOrder(size, position -> {
            int classes = samples.classes();
            long draw = Math.addExact(before, position);
            long round = draw / classes;
            long turn = Math.unsignedMultiplyHigh(SplitMix64.first(turnKey + round), classes);
            int c = (int) ((draw - round * classes + turn) % classes);
            long n = samples.size(c);
            return samples.sample(c, orders[c].of(round / n).at(round % n));
        });
    }

    @Override
    public String fingerprint() {
        return "balanced size=" + size + " " + samples + " seed=" + seed;
    }
}
