// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import java.util.Arrays;

/**
 * Count, mean and sum of squared deviations for each channel and replicate. Parts are combined as in Chan, Golub and
 * LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979), so a mean far from zero
 * costs no precision.
 */
final class Moments {

    final int channels;
    final long[] count;
    final double[] mean;
    /** The sum of squared deviations from the mean. */
    final double[] squares;

    Moments(int channels) {
        this.channels = channels;
        this.count = new long[DataProfile.REPLICATES * channels];
        this.mean = new double[count.length];
        this.squares = new double[count.length];
    }

    int index(int replicate, int channel) {
        return replicate * channels + channel;
    }

    /** Adds values by their sums of {@code x - shift} and {@code (x - shift)^2}; the shift is one of the values. */
    void add(int replicate, int channel, long values, double shift, double sum, double sumOfSquares) {
        if (values > 0) {
            join(index(replicate, channel), values, shift + sum / values,
                    Math.max(0, sumOfSquares - sum * sum / values));
        }
    }

    void add(Moments other) {
        for (int i = 0; i < count.length; i++) {
            if (other.count[i] > 0) {
                join(i, other.count[i], other.mean[i], other.squares[i]);
            }
        }
    }

    private void join(int i, long values, double theirMean, double theirSquares) {
        double delta = theirMean - mean[i];
        long all = count[i] + values;
        mean[i] += delta * values / all;
        squares[i] += theirSquares + delta * delta * ((double) count[i] * values / all);
        count[i] = all;
    }

    void clear() {
        Arrays.fill(count, 0);
        Arrays.fill(mean, 0);
        Arrays.fill(squares, 0);
    }
}
