package io.penstock.sampling;

/** A new permutation for each epoch. */
record ShuffledSampler(long size, long seed) implements Sampler {

    ShuffledSampler {
        Positions.checkSize(size);
    }

    @Override
    public Order epoch(long epoch) {
        return new Permutation(size, seed, epoch);
    }

    @Override
    public String fingerprint() {
        return "feistel-8 size=" + size + " seed=" + seed;
    }
}
