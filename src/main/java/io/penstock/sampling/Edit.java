// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.List;

/**
 * A change to the order of a run that has begun: samples left out or given again, the end of the run, other weights of
 * a mixture. A state has the edits of its run, so that every run that continues from it, on any rank, makes the same
 * order of them. {@code docs/spec/edits.md} specifies them for ports.
 *
 * <p>Each edit has the place where the run was when it was made. What the run had given before stays as it was.
 * Positions are those of the order without edits, so an edit moves no other sample.
 */
public sealed interface Edit {

    /** {@return the epoch that the run was in} */
    long epoch();

    /** {@return the position in that epoch that was next} */
    long position();

    /**
     * Leaves out positions of one epoch.
     *
     * @param epoch the epoch that the run was in
     * @param position the position that was next
     * @param ofEpoch the epoch that loses positions
     * @param from the first of them
     * @param end the position after the last of them
     */
    record Excise(long epoch, long position, long ofEpoch, long from, long end) implements Edit {

        /** Checks the ranges. */
        public Excise {
            check(epoch, position);
            check(ofEpoch, from);
            checkRange(from, end);
        }
    }

    /**
     * Leaves out samples, in all epochs.
     *
     * @param epoch the epoch that the run was in
     * @param position the position that was next
     * @param from the first sample, by its index in the dataset
     * @param end the index after the last sample
     */
    record ExciseSamples(long epoch, long position, long from, long end) implements Edit {

        /** Checks the ranges. */
        public ExciseSamples {
            check(epoch, position);
            checkRange(from, end);
        }
    }

    /**
     * Gives positions of an epoch again, before the position that was next. They have positions of their own, behind
     * the last one of the epoch. Where an epoch was to begin, they are the end of the one before.
     *
     * @param epoch the epoch that the run was in
     * @param position the position that was next
     * @param ofEpoch the epoch of the positions, this one or an earlier one
     * @param from the first of them
     * @param end the position after the last of them
     */
    record Repeat(long epoch, long position, long ofEpoch, long from, long end) implements Edit {

        /** Checks the ranges. */
        public Repeat {
            check(epoch, position);
            check(ofEpoch, from);
            checkRange(from, end);
            if (ofEpoch > epoch) {
                throw new IllegalArgumentException("repeats epoch " + ofEpoch + ", expected 0 to " + epoch);
            }
        }
    }

    /**
     * Ends the run before a position; the last such edit counts.
     *
     * @param epoch the epoch that the run was in
     * @param position the position that was next
     * @param endEpoch the epoch that the run ends in
     * @param end the first position of it that is not given
     */
    record Until(long epoch, long position, long endEpoch, long end) implements Edit {

        /** Checks the ranges. */
        public Until {
            check(epoch, position);
            check(endEpoch, end);
        }
    }

    /**
     * Gives a mixture other weights from the place on, instead of those of all its phases. Each source continues where
     * it is.
     *
     * @param epoch the epoch of the first draw with these weights
     * @param position its position
     * @param weights one for each source, as for {@link Mixture.Source}; sources that were added since may be missing
     * @param isFeedback whether a {@link Feedback} made the change: weights are then whole numbers up to 255
     */
    record Reweigh(long epoch, long position, List<Double> weights, boolean isFeedback) implements Edit {

        /** Checks the weights. */
        public Reweigh {
            check(epoch, position);
            weights = List.copyOf(weights);
            double most = 0;
            for (double weight : weights) {
                WeightedSampler.checkWeight(weight);
                most = Math.max(most, weight);
                if (isFeedback && (weight > Feedback.MOST_WEIGHT || weight != Math.rint(weight))) {
                    throw new IllegalArgumentException("weight " + weight + " of feedback, expected a whole number up"
                            + " to " + Feedback.MOST_WEIGHT);
                }
            }
            if (most == 0) {
                throw new IllegalArgumentException("weights " + weights + ", expected a positive one");
            }
        }
    }

    private static void check(long epoch, long position) {
        if (epoch < 0 || epoch >= Sampler.MAX_SIZE || position < 0 || position >= Sampler.MAX_SIZE) {
            throw new IllegalArgumentException("epoch " + epoch + ", position " + position + ", expected 0 to"
                    + " 2^62 - 1");
        }
    }

    private static void checkRange(long from, long end) {
        if (from < 0 || from >= end || end > Sampler.MAX_SIZE) {
            throw new IllegalArgumentException("range from " + from + " to before " + end + ", expected one that is not"
                    + " empty");
        }
    }
}
