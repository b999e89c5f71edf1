package io.penstock.sampling;

import java.util.PriorityQueue;

/**
 * Every sample once per epoch, shuffled within its class, and each class spread evenly. The {@code j}-th of {@code n}
 * samples of a class belongs at {@code (2j + 1) / 2n} of the epoch; samples are sorted by this place, the lower class
 * first for equal ones.
 */
final class StratifiedSampler implements Sampler {

    private final ClassSamples samples;
    private final long seed;
    private final OrderCache[] orders;
    /** The class at each position, and how many samples of the class precede it. */
    private final int[] classAt;
    private final int[] rankAt;

    StratifiedSampler(int[] classes, long seed) {
        this.samples = new ClassSamples(classes);
        this.seed = seed;
        this.orders = samples.shuffled(seed);
        this.classAt = new int[classes.length];
        this.rankAt = new int[classes.length];
        PriorityQueue<int[]> next = new PriorityQueue<>(this::compare);
        for (int c = 0; c < samples.classes(); c++) {
            next.add(new int[] {c, 0});
        }
        for (int position = 0; position < classes.length; position++) {
            int[] first = next.poll();
            classAt[position] = first[0];
            rankAt[position] = first[1]++;
            if (first[1] < samples.size(first[0])) {
                next.add(first);
            }
        }
    }

    private int compare(int[] x, int[] y) {
        long place = (2L * x[1] + 1) * samples.size(y[0]);
        long other = (2L * y[1] + 1) * samples.size(x[0]);
        return place != other ? Long.compare(place, other) : Integer.compare(x[0], y[0]);
    }

    @Override
    public long size() {
        return samples.total();
    }

    @Override
    public long seed() {
        return seed;
    }

    @Override
    public Order epoch(long epoch) {
        return new ComputedOrder(samples.total(), position -> {
            int c = classAt[(int) position];
            return samples.sample(c, orders[c].of(epoch).at(rankAt[(int) position]));
        });
    }

    @Override
    public String fingerprint() {
        return "stratified " + samples + " seed=" + seed;
    }
}
