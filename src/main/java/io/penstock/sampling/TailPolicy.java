// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/**
 * Handles the end of an epoch, or of a stream, that the ranks do not divide. All ranks always take the same number of
 * samples.
 */
public enum TailPolicy {

    /**
     * Short ranks take samples from the head of the epoch's order again, with full weight, like PyTorch's
     * {@code DistributedSampler(drop_last=False)}; of a stream, samples of the same step, as its head is not in memory
     * any more. Up to W−1 samples count twice.
     */
    PAD,

    /**
     * Drops the surplus samples of this epoch, like PyTorch's {@code DistributedSampler(drop_last=True)}. Up to W−1
     * samples are not seen; of a stream, they are seen once it has more and the run resumes.
     */
    DROP,

    /**
     * Every sample counts once. Short ranks take the same samples as under {@link #PAD}, so that shapes and step counts
     * agree among ranks, but without weight: {@link BatchPlan#valid()} excludes them.
     */
    EXACT
}
