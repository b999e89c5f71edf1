package io.penstock.sampling;

/** What becomes of the end of an epoch when the ranks do not divide it: all ranks take equally many samples, always. */
public enum TailPolicy {

    /**
     * The short ranks take samples from the head of the epoch's order once more, with full weight: PyTorch's
     * {@code DistributedSampler(drop_last=False)}. Up to W−1 samples count twice.
     */
    PAD,

    /**
     * The surplus samples are left out this epoch: PyTorch's {@code DistributedSampler(drop_last=True)}. Up to W−1
     * samples are not seen.
     */
    DROP,

    /**
     * Every sample counts once. The short ranks are given the same samples as under {@link #PAD}, so that shapes and
     * step counts agree over the ranks, but these carry no weight: {@link BatchPlan#valid()} leaves them out.
     */
    EXACT
}
