// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.PriorityQueue;

/**
 * Every sample once per epoch, shuffled within its class, and each class spread evenly. The {@code j}-th of {@code n}
 * samples of a class belongs at {@code (2j + 1) / 2n} of the epoch; samples are sorted by this place, the lower class
 * first for equal ones.
 */
final class StratifiedSampler {

    static Sampler of(int[] classes, long seed) {
        ClassSamples samples = new ClassSamples(classes);
        OrderCache[] orders = samples.shuffled(seed);
        // The class at each position, and how many samples of the class precede it.
        int[] classAt = new int[classes.length];
        int[] rankAt = new int[classes.length];
        PriorityQueue<int[]> next = new PriorityQueue<>((x, y) -> compare(samples, x, y));
        for (int c = 0; c < samples.classes(); c++) {
            next.add(new int[] {c, 0});
        }
        for (int position = 0; position < classes.length; position++) {
            int[] first = next.remove();
            classAt[position] = first[0];
            rankAt[position] = first[1]++;
            if (first[1] < samples.size(first[0])) {
                next.add(first);
            }
        }
        return new ComputedSampler(samples.total(), samples.total(), seed, "stratified " + samples + " seed=" + seed,
                epoch -> new ComputedOrder(samples.total(), position -> {
                    int c = classAt[(int) position];
                    return samples.sample(c, orders[c].of(epoch).at(rankAt[(int) position]));
                }));
    }

    private static int compare(ClassSamples samples, int[] x, int[] y) {
        long place = (2L * x[1] + 1) * samples.size(y[0]);
        long other = (2L * y[1] + 1) * samples.size(x[0]);
        return place != other ? Long.compare(place, other) : Integer.compare(x[0], y[0]);
    }
}
