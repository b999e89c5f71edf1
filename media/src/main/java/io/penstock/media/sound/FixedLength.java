// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;

/**
 * Pads with zeros at the end, or cuts, to a number of samples: {@code f32[*]} becomes {@code f32[samples]}.
 */
public final class FixedLength implements SoundStep {

    private final int samples;
    private final boolean isDrawn;

    private FixedLength(int samples, boolean isDrawn) {
        if (Samples.positive(samples, "samples") > Samples.MOST) {
            throw new IllegalArgumentException("found " + samples + " samples, expected at most " + Samples.MOST);
        }
        this.samples = samples;
        this.isDrawn = isDrawn;
    }

    /**
     * Keeps the first samples.
     *
     * @param samples the length of the result, such as 480,000 for 30 seconds of 16 kHz
     * @return the step
     * @throws IllegalArgumentException if it is below 1 or over 2^30
     */
    public static FixedLength of(int samples) {
        return new FixedLength(samples, false);
    }

    /**
     * Keeps a part that is drawn for each clip: it begins at a number in 0 … n − samples.
     *
     * @param samples the length of the result
     * @return the step
     * @throws IllegalArgumentException if it is below 1 or over 2^30
     */
    public static FixedLength random(int samples) {
        return new FixedLength(samples, true);
    }

    @Override
    public String name() {
        return "cut";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n] (Mono makes it)");
        return new TensorSpec(in.name(), DType.F32, samples);
    }

    @Override
    public long valuesAfter(long values) {
        return samples;
    }

    @Override
    public boolean draws() {
        return isDrawn;
    }

    @Override
    public Applier open() {
        return (in, inOffset, values, random, out, outOffset) -> {
            long start = draws() && values > samples ? random.nextLong(values - samples + 1) : 0;
            long kept = Math.min(values, samples);
            MemorySegment.copy(in, inOffset + start * Float.BYTES, out, outOffset, kept * Float.BYTES);
            Samples.writeZeros(samples - kept, out, outOffset + kept * Float.BYTES);
        };
    }

    /** For example {@code 480000 samples}. */
    @Override
    public String toString() {
        return samples + " samples" + (isDrawn ? ", drawn" : "");
    }
}
