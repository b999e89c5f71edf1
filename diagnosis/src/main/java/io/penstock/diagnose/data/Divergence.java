// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.text.NumberText;
import java.util.Arrays;

/**
 * The divergence of two histograms, and whether it exceeds the noise of two samples of one distribution.
 *
 * <p>The size is the Jensen-Shannon divergence (Lin, "Divergence measures based on the Shannon entropy", 1991) in bits:
 * 0 for equal distributions, 1 for disjoint ones. The test, in standard deviations, is the chi-square test of
 * homogeneity with the second-order correction of Rao and Scott ("The analysis of categorical data from complex sample
 * surveys", 1981): values of one document or batch are alike, so a sample of n of them is worth fewer. The replicates
 * show by how much, and how unevenly over the buckets: the traces of their covariance and of its square.
 *
 * <p>Neighboring buckets are merged until each sample has five expected values in each, so that the approximation
 * holds. Merging never increases the divergence.
 *
 * @param noiseBits the mean divergence if nothing changed
 */
record Divergence(double bits, double noiseBits, double sigmas) {

    private static final double LEAST_EXPECTED = 5;
    private static final double LN_2 = Math.log(2);

    static Divergence of(FieldProfile before, FieldProfile now) {
        long[] a = before.histogram();
        long[] b = now.histogram();
        double aTotal = FieldProfile.sum(a);
        double bTotal = FieldProfile.sum(b);
        int[] group = new int[a.length];
        int groups = merge(a, b, LEAST_EXPECTED * (aTotal + bTotal) / Math.min(aTotal, bTotal), group);
        if (groups < 2) {
            return new Divergence(0, 0, 0);
        }
        double[] p = shares(a, group, groups);
        double[] q = shares(b, group, groups);
        double[] pooled = new double[groups];
        double chiSquare = 0;
        double nats = 0;
        for (int k = 0; k < groups; k++) {
            pooled[k] = (p[k] * aTotal + q[k] * bTotal) / (aTotal + bTotal);
            chiSquare += (p[k] - q[k]) * (p[k] - q[k]) / pooled[k];
            double middle = (p[k] + q[k]) / 2;
            nats += (entropyTerm(p[k], middle) + entropyTerm(q[k], middle)) / 2;
        }
        double pairSize = aTotal * bTotal / (aTotal + bTotal);
        Spread ofA = Spread.of(before, group, p, pooled);
        Spread ofB = Spread.of(now, group, q, pooled);
        double aWeight = bTotal / (aTotal + bTotal);
        double bWeight = aTotal / (aTotal + bTotal);
        double trace = aWeight * ofA.trace + bWeight * ofB.trace;
        double root = aWeight * Math.sqrt(ofA.traceOfSquare) + bWeight * Math.sqrt(ofB.traceOfSquare);
        double freedom = Math.clamp(trace * trace / (root * root), 1.0, groups - 1.0);
        double lower = trace * trace / (square(aWeight * ofA.trace) / (ofA.replicates - 1)
                + square(bWeight * ofB.trace) / (ofB.replicates - 1)) * freedom;
        double sigmas = Significance.ofFisher(pairSize * chiSquare / trace, freedom, lower);
        return new Divergence(nats / LN_2, trace / (8 * LN_2 * pairSize), sigmas);
    }

    /** Merges neighbors until each group has enough of both samples; returns the number of groups. */
    private static int merge(long[] a, long[] b, double least, int[] group) {
        int groups = 0;
        long inGroup = 0;
        for (int k = 0; k < a.length; k++) {
            group[k] = groups;
            inGroup += a[k] + b[k];
            if (inGroup >= least) {
                groups++;
                inGroup = 0;
            }
        }
        if (inGroup > 0 && groups > 0) {                // the remainder joins the last group
            for (int k = a.length - 1; k >= 0 && group[k] == groups; k--) {
                group[k] = groups - 1;
            }
        }
        return groups;
    }

    private static double[] shares(long[] counts, int[] group, int groups) {
        double[] shares = new double[groups];
        double total = FieldProfile.sum(counts);
        for (int k = 0; k < counts.length; k++) {
            if (counts[k] > 0) {
                shares[group[k]] += counts[k] / total;
            }
        }
        return shares;
    }

    private static double entropyTerm(double share, double middle) {
        return share == 0 ? 0 : share * Math.log(share / middle);
    }

    private static double square(double x) {
        return x * x;
    }

    /** The replicates' covariance of standardized counts: (K - 1, K - 1) for independent values. */
    private record Spread(double trace, double traceOfSquare, int replicates) {

        /**
         * Returns the spread of a profile's replicates; {@code share} has each group's share in this profile, {@code
         * pooled} in both.
         */
        static Spread of(FieldProfile profile, int[] group, double[] share, double[] pooled) {
            int all = DataProfile.REPLICATES;
            double[][] z = new double[all][];
            double[] size = new double[all];
            int replicates = 0;
            double total = 0;
            for (int r = 0; r < all; r++) {
                double[] counts = new double[share.length];
                for (int k = 0; k < group.length; k++) {
                    long count = profile.counts[r * profile.buckets + k];
                    if (count > 0) {
                        counts[group[k]] += count;
                        size[replicates] += count;
                    }
                }
                if (size[replicates] > 0) {
                    total += size[replicates];
                    z[replicates++] = counts;
                }
            }
            double trace = 0;
            for (int r = 0; r < replicates; r++) {
                for (int k = 0; k < share.length; k++) {
                    z[r][k] = (z[r][k] - size[r] * share[k]) / Math.sqrt(size[r] * pooled[k]);
                    trace += square(z[r][k]);
                }
            }
            trace = Math.max(trace / (replicates - 1), 1e-9);
            double squares = 0;
            for (int r = 0; r < replicates; r++) {
                for (int s = 0; s < r; s++) {
                    // Deviations from a common mean are negatively correlated by this much.
                    squares += square(dot(z[r], z[s]) + Math.sqrt(size[r] * size[s]) / total * trace);
                }
            }
            double pairs = replicates * (replicates - 1) / 2.0;
            double ofSquare = Math.max(squares / pairs, trace * trace / (share.length - 1));
            return new Spread(trace, ofSquare, replicates);
        }

        private static double dot(double[] a, double[] b) {
            double sum = 0;
            for (int k = 0; k < a.length; k++) {
                sum += a[k] * b[k];
            }
            return sum;
        }
    }

    /** The buckets whose share changed most, as text: {@code id 7 from 0.1 % to 3.4 %}. */
    static String movers(FieldProfile before, FieldProfile now, int most) {
        long[] a = before.histogram();
        long[] b = now.histogram();
        double aTotal = FieldProfile.sum(a);
        double bTotal = FieldProfile.sum(b);
        Integer[] order = new Integer[a.length];
        Arrays.setAll(order, k -> k);
        Arrays.sort(order, (k, l) -> Double.compare(Math.abs(b[l] / bTotal - a[l] / aTotal),
                Math.abs(b[k] / bTotal - a[k] / aTotal)));
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < most; i++) {
            int k = order[i];
            text.append(text.isEmpty() ? "" : ", ").append(now.bucketName(k))
                    .append(" from ").append(NumberText.roughPercent(a[k] / aTotal)).append(" to ")
                    .append(NumberText.roughPercent(b[k] / bTotal));
        }
        return text.toString();
    }
}
