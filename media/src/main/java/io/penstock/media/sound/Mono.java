// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.error.CodecException;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Makes one channel of several: {@code f32[n, channels]} becomes {@code f32[n]}, the mean, which is the sum in the
 * order of the channels, divided by their number.
 *
 * @param channels the number of channels, 1 to 64
 */
public record Mono(int channels) implements SoundStep {

    private static final int MOST_CHANNELS = 64;
    private static final int BLOCK = 2048;

    /**
     * Checks the number of channels.
     *
     * @throws IllegalArgumentException if it is not from 1 to 64
     */
    public Mono {
        if (channels < 1 || channels > MOST_CHANNELS) {
            throw new IllegalArgumentException("found " + channels + " channels, expected 1 to " + MOST_CHANNELS);
        }
    }

    @Override
    public String name() {
        return "mono";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 2, "samples f32[n, " + channels + "]");
        if (in.dim(1) != channels) {
            throw new IllegalArgumentException("found " + in + ", expected " + channels + " channels");
        }
        return Samples.ofSamples(in, in.dim(0));
    }

    @Override
    public long valuesAfter(long values) {
        if (values % channels != 0) {
            throw new CodecException(values + " values of " + channels + " channels", "a multiple of them");
        }
        return values / channels;
    }

    @Override
    public Applier open() {
        return new Means(this);
    }

    private static final class Means implements Applier {

        private final Mono step;
        private final float[] block;
        private final float[] means = new float[BLOCK];

        Means(Mono step) {
            this.step = step;
            block = new float[BLOCK * step.channels];
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            long samples = step.valuesAfter(values);
            int channels = step.channels;
            for (long done = 0; done < samples; done += BLOCK) {
                int count = (int) Math.min(BLOCK, samples - done);
                Samples.read(in, inOffset + done * channels * Float.BYTES, block, 0, count * channels);
                for (int i = 0; i < count; i++) {
                    float sum = 0;
                    for (int channel = 0; channel < channels; channel++) {
                        sum += block[i * channels + channel];
                    }
                    means[i] = sum / channels;
                }
                Samples.write(means, 0, count, out, outOffset + done * Float.BYTES);
            }
        }
    }
}
