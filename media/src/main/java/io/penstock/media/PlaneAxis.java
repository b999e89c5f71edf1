// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import java.util.Arrays;

/**
 * The weights by which one axis of a plane is resized: a triangle as wide as the reduction, as in Pillow's bilinear
 * filter.
 * Setting it again reuses the arrays. {@code docs/spec/clips.md} has the definition.
 */
final class PlaneAxis {

    /** Weights of a target sample sum up to this. */
    static final int ONE_BITS = 14;
    private static final int ONE = 1 << ONE_BITS;

    /** The first source sample of each target sample, the number of them, and where their weights begin. */
    int[] first = {};
    int[] count = {};
    int[] start = {};
    int[] weights = {};
    /** The greatest number of source samples of a target sample. */
    int most;
    /** The same weights, as many of each target sample: an even number. Those that are not there are 0. */
    long[] padded = {};
    int room;
    private double[] exact = {};
    /** What it was set to. */
    private long source = -1;
    private double ratio;
    private double shift;
    private int from;
    private int targets;

    /**
     * Sets the axis.
     *
     * @param sourceSamples samples of the plane
     * @param scale source samples for a target sample
     * @param siting how far samples are from the middle of the pixels they stand for, in source samples
     * @param offset the first target sample, of a crop
     * @param length the number of target samples
     */
    void set(int sourceSamples, double scale, double siting, int offset, int length) {
        if (source == sourceSamples && ratio == scale && shift == siting && from == offset && targets == length) {
            return;
        }
        double support = Math.max(scale, 1);
        int taps = (int) Math.ceil(support) * 2 + 2;
        if (first.length < length || exact.length < taps || weights.length < length * taps) {
            first = new int[Math.max(length, first.length)];
            count = new int[first.length];
            start = new int[first.length];
            exact = new double[Math.max(taps, exact.length)];
            weights = new int[Math.max(length * taps, weights.length)];
        }
        int next = 0;
        most = 0;
        for (int i = 0; i < length; i++) {
            double center = (offset + i + 0.5) * scale + siting;
            int low = Math.clamp((long) (center - support + 0.5), 0, sourceSamples - 1);
            int high = Math.clamp((long) (center + support + 0.5), low + 1, sourceSamples);
            first[i] = low;
            count[i] = high - low;
            most = Math.max(most, high - low);
            start[i] = next;
            weigh(low, high - low, center, support, next);
            next += high - low;
        }
        room = most + 1 & ~1;
        if (padded.length < length * room) {
            padded = new long[length * room];
        }
        for (int i = 0; i < length; i++) {
            Arrays.fill(padded, i * room, (i + 1) * room, 0);
            for (int t = 0; t < count[i]; t++) {
                padded[i * room + t] = weights[start[i] + t];
            }
        }
        source = sourceSamples;
        ratio = scale;
        shift = siting;
        from = offset;
        targets = length;
    }

    private void weigh(int low, int taps, double center, double support, int into) {
        double sum = 0;
        for (int t = 0; t < taps; t++) {
            exact[t] = Math.max(0, 1 - Math.abs(low + t + 0.5 - center) / support);
            sum += exact[t];
        }
        int left = ONE;
        int heaviest = 0;
        for (int t = 0; t < taps; t++) {
            int weight = sum > 0 ? (int) Math.floor(exact[t] / sum * ONE + 0.5) : t == 0 ? ONE : 0;
            weights[into + t] = weight;
            left -= weight;
            heaviest = weight > weights[into + heaviest] ? t : heaviest;
        }
        weights[into + heaviest] += left;
    }

    /** One past the last source sample that a target sample needs. */
    int end() {
        return first[targets - 1] + count[targets - 1];
    }
}
