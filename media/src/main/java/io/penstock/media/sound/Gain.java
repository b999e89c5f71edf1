// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.util.random.RandomGenerator;

/**
 * Multiplies all values by {@code 10^(decibels / 20)}, in {@code f32}, which is drawn for each sample if the bounds
 * differ: {@code low + (high - low) · d}, d a double in [0, 1).
 */
public final class Gain implements SoundStep {

    private static final int BLOCK = 4096;
    /** Powers by {@code exp}: {@code StrictMath.pow} allocates. */
    private static final double PER_DECIBEL = StrictMath.log(10) / 20;

    private final double low;
    private final double high;

    private Gain(double low, double high) {
        if (!(Double.isFinite(low) && Double.isFinite(high) && low <= high)) {
            throw new IllegalArgumentException("found " + low + " to " + high + " decibels, expected a range");
        }
        this.low = low;
        this.high = high;
    }

    /**
     * The same gain for all samples.
     *
     * @param decibels the gain
     * @return the step
     * @throws IllegalArgumentException if it is not finite
     */
    public static Gain of(double decibels) {
        return new Gain(decibels, decibels);
    }

    /**
     * A gain that is drawn for each sample.
     *
     * @param low the least decibels
     * @param high the most decibels
     * @return the step
     * @throws IllegalArgumentException if they are not finite, or {@code high} is below {@code low}
     */
    public static Gain random(double low, double high) {
        return new Gain(low, high);
    }

    @Override
    public String name() {
        return "gain";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        if (in.dtype() != DType.F32) {
            throw new IllegalArgumentException("found " + in + ", expected f32");
        }
        return in;
    }

    @Override
    public long valuesAfter(long values) {
        return values;
    }

    @Override
    public boolean draws() {
        return low < high;
    }

    @Override
    public Applier open() {
        float[] block = new float[BLOCK];
        return (in, inOffset, values, random, out, outOffset) -> {
            float factor = factor(random);
            for (long done = 0; done < values; done += BLOCK) {
                int count = (int) Math.min(BLOCK, values - done);
                Samples.read(in, inOffset + done * Float.BYTES, block, 0, count);
                for (int i = 0; i < count; i++) {
                    block[i] *= factor;
                }
                Samples.write(block, 0, count, out, outOffset + done * Float.BYTES);
            }
        };
    }

    private float factor(RandomGenerator random) {
        double decibels = draws() ? low + (high - low) * random.nextDouble() : low;
        return (float) StrictMath.exp(decibels * PER_DECIBEL);
    }

    /** For example {@code gain of -6.0 to 6.0 dB}. */
    @Override
    public String toString() {
        return "gain of " + low + " to " + high + " dB";
    }
}
