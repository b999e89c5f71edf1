// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Turns numbers that a trainer reports for each source of a mixture, such as the mean loss, into new weights. The
 * change is an {@link Edit}, which the state keeps in at most 16 bytes: runs that continue need no numbers again.
 *
 * <p>All ranks must report the same numbers: what they have reduced, for example with an all-reduce. The ledger of the
 * loader shows where they did not.
 *
 * {@snippet :
 * Feedback feedback = Feedback.multiplicative(0.5);        // sources of a higher loss get a higher weight
 * loader.report(feedback, 2.71, 3.14);                     // the mean loss of each source
 * }
 */
@FunctionalInterface
public interface Feedback {

    /** The greatest weight that feedback gives: weights are whole numbers up to this. */
    int MOST_WEIGHT = 255;

    /**
     * {@return new weights of the sources} They are scaled and rounded to whole numbers up to {@value #MOST_WEIGHT}.
     * Must be a pure function, computed in the same way on every rank.
     *
     * @param weights the weights so far, in any scale
     * @param reported the number reported for each source
     */
    double[] weights(double[] weights, double[] reported);

    /**
     * {@return a rule that multiplies each weight by exp(rate · (number − mean)): the mean is that of all numbers by
     * weight} Exponentiated gradients, as in "DoReMi: Optimizing Data Mixtures Speeds Up Language Model Pretraining"
     * (Xie and others, 2023). No weight becomes 0.
     *
     * @param rate how fast weights change; negative to prefer sources with low numbers
     */
    static Feedback multiplicative(double rate) {
        return (weights, reported) -> {
            double sum = 0;
            double mean = 0;
            for (int s = 0; s < weights.length; s++) {
                sum += weights[s];
                mean += weights[s] * reported[s];
            }
            double[] changed = new double[weights.length];
            for (int s = 0; s < weights.length; s++) {
                changed[s] = weights[s] * StrictMath.exp(rate * (reported[s] - mean / sum));
            }
            return changed;
        };
    }

    /**
     * {@return the weights that follow from reported numbers, as whole numbers: the greatest is {@value #MOST_WEIGHT},
     * the others are rounded to the nearest, and one that was positive is at least 1}
     *
     * @param weights the weights so far
     * @param reported the number reported for each source
     * @throws IllegalArgumentException if a number is not finite, or there is not one for each source
     */
    default List<Double> wholeWeights(double[] weights, double... reported) {
        if (reported.length != weights.length) {
            throw new IllegalArgumentException(reported.length + " numbers, expected one for each of the "
                    + weights.length + " sources");
        }
        for (double number : reported) {
            if (!Double.isFinite(number)) {
                throw new IllegalArgumentException("number " + number + " reported, expected a finite one");
            }
        }
        double[] changed = Objects.requireNonNull(weights(weights.clone(), reported.clone()), "weights");
        double most = 0;
        for (double weight : changed) {
            most = Math.max(most, WeightedSampler.checkWeight(weight));
        }
        List<Double> whole = new ArrayList<>();
        for (double weight : changed) {
            whole.add(weight == 0 ? 0.0 : Math.max(1, Math.rint(weight / most * MOST_WEIGHT)));
        }
        return whole;
    }
}
