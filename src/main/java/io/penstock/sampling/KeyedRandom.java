// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.SplitMix64;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;

/**
 * Random numbers by key: the words that an augmentation step draws for a sample are a pure function of (seed, epoch,
 * position in the epoch's order, step name). So they do not depend on workers, ranks, batch size or resumption; a
 * sample that repeats in an order gets different draws; and adding a step does not change another's.
 *
 * <p>{@link #select} moves to a key; the words from there on are those of SplitMix64 seeded by a mix of the key. Moving
 * costs two mixes and allocates nothing: keep one generator per thread, and select for each sample.
 * {@code docs/spec/randomness.md} specifies every bit for ports.
 *
 * {@snippet :
 * static final long SHIFT = KeyedRandom.step("shift");
 *
 * var random = new KeyedRandom(seed, epoch);
 * for (int row = 0; row < batch.count(); row++) {
 *     random.select(batch.position(row), SHIFT);
 *     int top = random.nextInt(33);
 * }
 * }
 *
 * <p>Not for cryptography. Not thread-safe.
 */
public final class KeyedRandom implements RandomGenerator {

    /** Separates draws from the epoch's order, whose keys come from the same seed and epoch: "DRAW". */
    private static final long TAG = 0x44524157L;

    /** The name hash is 64-bit FNV-1a, by Fowler, Noll and Vo. */
    private static final long FNV_BASIS = 0xCBF29CE484222325L;
    private static final long FNV_PRIME = 0x100000001B3L;

    private final long epochState;
    private final SplitMix64 words = new SplitMix64(0);
    private long positionState;

    /**
     * The draws of one epoch, at position 0 and step 0.
     *
     * @param seed any 64 bits
     * @param epoch any number
     */
    public KeyedRandom(long seed, long epoch) {
        epochState = SplitMix64.key(seed, epoch, TAG);
        select(0, 0);
    }

    /**
     * The number of a step: the FNV-1a hash of its name in UTF-8. Compute it once, not for each sample.
     *
     * @param name distinguishes the step from others that draw for the same sample
     * @return 64 bits
     * @throws IllegalArgumentException if the name has an unpaired surrogate, which UTF-8 cannot encode
     */
    public static long step(String name) {
        try {
            return hash(MemorySegment.ofBuffer(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name))));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("step '" + name + "': found half of a surrogate pair, expected text", e);
        }
    }

    /**
     * The FNV-1a hash of some bytes: of a name in UTF-8, its {@link #step}.
     *
     * @param bytes any number of bytes
     * @return 64 bits
     */
    public static long hash(MemorySegment bytes) {
        long hash = FNV_BASIS;
        for (long at = 0; at < bytes.byteSize(); at++) {
            hash = (hash ^ bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF) * FNV_PRIME;
        }
        return hash;
    }

    /**
     * Moves to the first word of a key.
     *
     * @param position the sample's position in the epoch's order: {@link BatchPlan#position}
     * @param step the drawing step: {@link #step}
     */
    public void select(long position, long step) {
        positionState = SplitMix64.first(epochState + position);
        select(step);
    }

    /**
     * Moves to the first word of another step of the same position.
     *
     * @param step the drawing step: {@link #step}
     */
    public void select(long step) {
        words.seed(SplitMix64.first(positionState + step));
    }

    /**
     * One word of a sequence, without those before it: for noise whose every value is computed alone.
     *
     * @param state what the sequence's state starts as
     * @param number the word's number, from 0
     * @return the word, as {@link #nextLong} returns it
     */
    public static long word(long state, long number) {
        return SplitMix64.word(state, number);
    }

    /** {@return the next word: all 64 bits are random} */
    @Override
    public long nextLong() {
        return words.next();
    }

    /**
     * A number below a bound: the bound times the word, divided by 2^64. Takes one word; probabilities differ by less
     * than the bound over 2^64.
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

    /** {@return the upper half of the next word} */
    @Override
    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /** {@return whether the top bit of the next word is 1} */
    @Override
    public boolean nextBoolean() {
        return nextLong() < 0;
    }

    /** {@return the upper 53 bits of the next word over 2^53: from 0 up to, not including, 1} */
    @Override
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }

    /** {@return the upper 24 bits of the next word over 2^24: from 0 up to, not including, 1} */
    @Override
    public float nextFloat() {
        return (nextLong() >>> 40) * 0x1p-24f;
    }
}
