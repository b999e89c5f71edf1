package io.penstock.sampling;

import java.util.random.RandomGenerator;

/**
 * Random numbers by key: the words that an operation draws for a sample are a pure function of (seed, epoch, sample,
 * operation), so an augmentation does not depend on workers, ranks, batch size, or where a run was resumed.
 *
 * <p>{@link #select} moves to a key; the words from there on are those of SplitMix64 from a state that is mixed of the
 * key. Moving costs two mixes and allocates nothing: have one generator a thread, and select for each sample.
 * {@code docs/spec/randomness.md} fixes every bit for ports.
 *
 * {@snippet :
 * var random = new KeyedRandom(seed, epoch);
 * for (int row = 0; row < batch.count(); row++) {
 *     random.select(batch.sample(row), CROP);
 *     int top = random.nextInt(33);
 * }
 * }
 *
 * <p>It augments; it does not encrypt. Not thread-safe.
 */
public final class KeyedRandom implements RandomGenerator {
    /** Keeps draws apart from the epoch's order, whose keys come from the same seed and epoch: "DRAW". */
    private static final long TAG = 0x44524157L;

    private final long epochState;
    private final SplitMix64 words = new SplitMix64(0);

    /**
     * The draws of one epoch, at sample 0 and operation 0.
     *
     * @param seed any 64 bits
     * @param epoch any number
     */
    public KeyedRandom(long seed, long epoch) {
        epochState = SplitMix64.key(seed, epoch, TAG);
        select(0, 0);
    }

    /**
     * Moves to the first word of a key.
     *
     * @param sample the sample's index in the dataset
     * @param operation any number that tells apart what draws for the sample
     */
    public void select(long sample, long operation) {
        words.seed(SplitMix64.first(SplitMix64.first(epochState + sample) + operation));
    }

    /**
     * The next word: all 64 bits are random.
     *
     * @return any number
     */
    @Override
    public long nextLong() {
        return words.next();
    }

    /**
     * A number below a bound: the bound times the word, divided by 2^64. One word a draw; a number is more probable
     * than another by less than the bound over 2^64.
     *
     * @param bound at least 1
     * @return from 0 up to, not including, the bound
     * @throws IllegalArgumentException if the bound is less than 1
     */
    @Override
    public long nextLong(long bound) {
        if (bound < 1) {
            throw new IllegalArgumentException("bound " + bound + ", expected at least 1");
        }
        return Math.unsignedMultiplyHigh(nextLong(), bound);
    }

    /**
     * A number below a bound, as {@link #nextLong(long)} draws it.
     *
     * @param bound at least 1
     * @return from 0 up to, not including, the bound
     * @throws IllegalArgumentException if the bound is less than 1
     */
    @Override
    public int nextInt(int bound) {
        return (int) nextLong(bound);
    }

    /**
     * The upper half of the next word.
     *
     * @return any number
     */
    @Override
    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /**
     * The top bit of the next word.
     *
     * @return true if it is 1
     */
    @Override
    public boolean nextBoolean() {
        return nextLong() < 0;
    }

    /**
     * The upper 53 bits of the next word over 2^53.
     *
     * @return from 0 up to, not including, 1
     */
    @Override
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }

    /**
     * The upper 24 bits of the next word over 2^24.
     *
     * @return from 0 up to, not including, 1
     */
    @Override
    public float nextFloat() {
        return (nextLong() >>> 40) * 0x1p-24f;
    }
}
