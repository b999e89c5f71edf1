package io.penstock.diagnose.data;

/**
 * What counts as a change of the data: it stands out of the sample's noise, and it is of a size that matters.
 *
 * @param sigmas how far out of the noise, in standard deviations; 5 is one false alarm in 1.7 million comparisons
 * @param divergenceBits how far apart two histograms are: their Jensen-Shannon divergence less what noise alone gives.
 *     0.01 is what it takes if 2 % of the values are replaced by such as were not there
 * @param meanDeviations a mean's shift, in standard deviations of the values
 * @param deviationRatio a standard deviation's change, as a part of it
 * @param share a change in the share of padding, or of rows of one value: 0.05 is 5 points
 * @param badShare a change in the share of samples that could not be read
 */
public record DriftLimits(double sigmas, double divergenceBits, double meanDeviations, double deviationRatio,
        double share, double badShare) {

    /** The limits that are taken where none are named: 5, 0.01 bits, 0.1, 10 %, 5 points, 0.1 points. */
    public static final DriftLimits DEFAULT = new DriftLimits(5, 0.01, 0.1, 0.1, 0.05, 0.001);

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if one is negative or no number
     */
    public DriftLimits {
        for (double each : new double[] {sigmas, divergenceBits, meanDeviations, deviationRatio, share, badShare}) {
            if (!(each >= 0)) {
                throw new IllegalArgumentException("drift limit: found " + each + ", expected 0 or more");
            }
        }
    }
}
