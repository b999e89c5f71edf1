// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * Assigns each draw to a source so that the proportions are as close to the weights as possible at every draw. Draw
 * {@code i} takes the source with the greatest error {@code w·max(i,1) - draws so far}, the first of equals, never one
 * of weight 0. This is how Megatron-LM blends datasets, with exact fractions instead of floating-point numbers.
 *
 * <p>The weights are whole numbers whose sum is the period W. The errors at draw W equal those at draw 0, except for
 * the {@code max(i,1)} of the first draw. So the first and second periods of W draws are tabulated, and every later one
 * equals the second. A draw's source, and how many draws of that source precede it, are two look-ups.
 */
final class Proportions {

    /** The longest tabulated period. Weights with a longer period are rounded to this one. */
    static final int MAX_PERIOD = 1 << 22;

    private final int[] weights;
    private final int period;
    /** The source of each draw in the first two periods. */
    private final short[] sources;
    /** The draws of its source that precede each draw within its period. */
    private final int[] ranks;

    private Proportions(int[] weights) {
        this.weights = weights;
        this.period = Arrays.stream(weights).sum();
        this.sources = new short[2 * period];
        this.ranks = new int[2 * period];
        tabulate();
    }

    /** Creates proportions from weights, read as the decimal numbers that they print as. */
    static Proportions of(double... weights) {
        if (weights.length == 0 || weights.length > Short.MAX_VALUE) {
            throw new IllegalArgumentException(weights.length + " weights, expected 1 to " + Short.MAX_VALUE);
        }
        BigInteger[] whole = whole(weights);
        BigInteger sum = Arrays.stream(whole).reduce(BigInteger.ZERO, BigInteger::add);
        if (sum.signum() == 0) {
            throw new IllegalArgumentException("weights " + Arrays.toString(weights) + ", expected a positive one");
        }
        if (sum.compareTo(BigInteger.valueOf(MAX_PERIOD)) > 0) {
            whole = rounded(whole, sum);
        }
        return new Proportions(Arrays.stream(whole).mapToInt(BigInteger::intValueExact).toArray());
    }

    /** Returns the smallest whole numbers in these proportions. */
    private static BigInteger[] whole(double[] weights) {
        BigDecimal[] decimals = new BigDecimal[weights.length];
        int scale = 0;
        for (int s = 0; s < weights.length; s++) {
            decimals[s] = BigDecimal.valueOf(WeightedSampler.checkWeight(weights[s]));
            scale = Math.max(scale, decimals[s].scale());
        }
        BigInteger[] whole = new BigInteger[weights.length];
        BigInteger divisor = BigInteger.ZERO;
        for (int s = 0; s < weights.length; s++) {
            whole[s] = decimals[s].setScale(scale).unscaledValue();
            divisor = divisor.gcd(whole[s]);
        }
        for (int s = 0; s < weights.length && divisor.signum() > 0; s++) {
            whole[s] = whole[s].divide(divisor);
        }
        return whole;
    }

    /**
     * Rounds to the longest period: rounds down, then adds one to those that lost most, the first of equals, until the
     * sum is the period.
     */
    private static BigInteger[] rounded(BigInteger[] weights, BigInteger sum) {
        BigInteger limit = BigInteger.valueOf(MAX_PERIOD);
        BigInteger[] rounded = new BigInteger[weights.length];
        BigInteger[] lost = new BigInteger[weights.length];
        int left = MAX_PERIOD;
        for (int s = 0; s < weights.length; s++) {
            BigInteger[] parts = weights[s].multiply(limit).divideAndRemainder(sum);
            rounded[s] = parts[0];
            lost[s] = parts[1];
            left -= parts[0].intValueExact();
        }
        for (; left > 0; left--) {
            int most = 0;
            for (int s = 1; s < weights.length; s++) {
                most = lost[s].compareTo(lost[most]) > 0 ? s : most;
            }
            rounded[most] = rounded[most].add(BigInteger.ONE);
            lost[most] = BigInteger.ONE.negate();
        }
        return rounded;
    }

    /** Keeps errors times W, which makes them whole numbers. */
    private void tabulate() {
        long[] errors = new long[weights.length];
        for (int s = 0; s < weights.length; s++) {
            errors[s] = weights[s];
        }
        int first = 0;
        while (weights[first] == 0) {
            first++;
        }
        int[] counts = new int[weights.length];
        for (int i = 0; i < 2 * period; i++) {
            int greatest = first;
            for (int s = first + 1; s < weights.length; s++) {
                greatest = weights[s] > 0 && errors[s] > errors[greatest] ? s : greatest;
            }
            if (i == period) {
                Arrays.fill(counts, 0);
            }
            sources[i] = (short) greatest;
            ranks[i] = counts[greatest]++;
            errors[greatest] -= period;
            for (int s = 0; s < weights.length && i > 0; s++) {
                errors[s] += weights[s];
            }
        }
    }

    /** Returns the draws until the proportions are exact again. */
    int period() {
        return period;
    }

    int weight(int source) {
        return weights[source];
    }

    int source(long draw) {
        return sources[index(draw)];
    }

    /** Returns how many draws before this one are from the same source. */
    long rank(long draw) {
        int index = index(draw);
        return draw / period * weights[sources[index]] + ranks[index];
    }

    /** Counts the first {@code draws} by source. Takes a pass over a period. */
    long[] counts(long draws) {
        long[] counts = new long[weights.length];
        for (int s = 0; s < weights.length; s++) {
            counts[s] = draws / period * weights[s];
        }
        int begin = draws < period ? 0 : period;
        for (int i = 0; i < draws % period; i++) {
            counts[sources[begin + i]]++;
        }
        return counts;
    }

    private int index(long draw) {
        return draw < period ? (int) draw : period + (int) (draw % period);
    }

    /** Returns the weights of the first sources. */
    String text(int sources) {
        return Arrays.toString(Arrays.copyOf(weights, sources)).replace(" ", "");
    }

    @Override
    public String toString() {
        return text(weights.length);
    }
}
