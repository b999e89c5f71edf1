// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

/**
 * What counts as a change of the data: it exceeds the sampling noise, and is large enough to matter.
 *
 * @param sigmas minimum distance from the noise in standard deviations; 5 is one false alarm in 1.7 million comparisons
 * @param divergenceBits minimum Jensen-Shannon divergence of two histograms beyond what noise alone gives; replacing
 *     2 % of the values by new ones gives 0.01
 * @param meanDeviations minimum shift of a mean, in standard deviations of the values
 * @param deviationRatio minimum relative change of a standard deviation
 * @param share minimum change of the share of padding or constant rows; 0.05 is 5 percentage points
 * @param badShare minimum change of the share of unreadable samples
 */
public record DriftLimits(double sigmas, double divergenceBits, double meanDeviations, double deviationRatio,
        double share, double badShare) {

    /** The default limits: 5, 0.01 bits, 0.1, 10 %, 5 points, 0.1 points. */
    public static final DriftLimits DEFAULT = new DriftLimits(5, 0.01, 0.1, 0.1, 0.05, 0.001);

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if one is negative or NaN
     */
    public DriftLimits {
        for (double each : new double[] {sigmas, divergenceBits, meanDeviations, deviationRatio, share, badShare}) {
            if (!(each >= 0)) {
                throw new IllegalArgumentException("drift limit: found " + each + ", expected 0 or more");
            }
        }
    }
}
