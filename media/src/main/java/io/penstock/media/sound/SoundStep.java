// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Makes {@code f32} values of {@code f32} values: other samples, or a spectrogram. Immutable; all workers share it.
 *
 * {@snippet :
 * try (SoundStep.Applier resample = Resample.hann(44_100, 16_000).open()) {
 *     resample.apply(stored, 0, storedBytes / 4, new KeyedRandom(seed, epoch), target, 0);
 * }
 * }
 */
public interface SoundStep {

    /** {@return the step's name, which keys its draws in {@link SoundSteps}} */
    String name();

    /**
     * The field that the step makes of a field.
     *
     * @param in samples {@code f32[n]}, interleaved channels {@code f32[n, channels]}, or a spectrogram; n may vary
     * @return the field with the same name
     * @throws IllegalArgumentException if the step does not take such a field; gives the reason
     */
    TensorSpec after(TensorSpec in);

    /**
     * How many values the step makes.
     *
     * @param values the number of values that it is given
     * @return the number of values of the result
     * @throws IOException if it does not take so many; gives the reason
     */
    long valuesAfter(long values) throws IOException;

    /** {@return whether the step draws random numbers} */
    default boolean draws() {
        return false;
    }

    /** {@return what applies the step, for one worker, which closes it} */
    Applier open();

    /** Applies the step to one sample after another, for one thread at a time; allocates no heap after the first. */
    interface Applier extends AutoCloseable {

        /**
         * Computes the result of one sample.
         *
         * @param in memory with the values, {@code f32}; not changed
         * @param inOffset the first value's byte
         * @param values how many values there are
         * @param random random numbers for this sample; steps that do not draw leave it alone
         * @param out memory for {@link SoundStep#valuesAfter} values, apart from {@code in}
         * @param outOffset the first byte to write
         * @throws IOException if the step does not take these values; gives the reason
         */
        void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException;

        /** Frees its memory. Further calls do nothing. The default is for an applier without any. */
        @Override
        default void close() {
        }
    }
}
