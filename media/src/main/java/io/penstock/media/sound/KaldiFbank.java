// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Log energies of mel bands as Kaldi computes them, with its defaults but for dither, which is 0: {@code f32[n]}
 * becomes {@code f32[frames, bands]} with {@code frames = 1 + (n - size) / hop}, size 25 ms and hop 10 ms; at 16 kHz
 * {@code 1 + (n - 400) / 160}.
 *
 * <p>Samples are multiplied by 32,768. Of each frame the mean is subtracted, then 0.97 times the sample before; Povey's
 * window; a transform of the next power of two; triangles in mel from 20 Hz to half the rate; {@code ln(max(x,
 * 2^-23))}. Results are within 2e-3 of the definition in {@code f64}, which differs most in the quietest bands. A clip
 * with a sample that is not finite is a bad sample.
 *
 * @param rate samples a second
 * @param bands the number of bands, such as 80
 */
public record KaldiFbank(int rate, int bands) implements SoundStep {

    private static final float INTEGERS = 32768;
    private static final float LEAST = 0x1p-23f;
    private static final double LOWEST_HERTZ = 20;

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if the rate is below 100 or over 2^20, or there is no band
     */
    public KaldiFbank {
        if (rate < 100 || rate > 1 << 20) {
            throw new IllegalArgumentException("found " + rate + " samples a second, expected 100 to " + (1 << 20));
        }
        Samples.positive(bands, "bands");
    }

    private int size() {
        return rate / 1000 * 25 + rate % 1000 * 25 / 1000;
    }

    private int hop() {
        return rate / 100;
    }

    @Override
    public String name() {
        return "fbank";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n]");
        return new TensorSpec(in.name(), DType.F32, in.isVariable() ? TensorSpec.VARIABLE : frames(in.dim(0)), bands);
    }

    private long frames(long samples) {
        return samples < size() ? 0 : 1 + (samples - size()) / hop();
    }

    @Override
    public long valuesAfter(long values) {
        return Samples.count(frames(values) * bands);
    }

    @Override
    public Applier open() {
        int size = size();
        double[] window = MelFrames.hann(size, size - 1);
        for (int n = 0; n < size; n++) {
            window[n] = StrictMath.pow(Math.max(0, window[n]), 0.85);
        }
        int transform = Math.max(4, Integer.highestOneBit(size - 1) << 1);
        return new Frames(this, new MelFrames.Plan(MelFrames.floats(window), transform, hop(), 0.97f,
                MelFilters.kaldi(rate, transform, bands, LOWEST_HERTZ, rate / 2.0)));
    }

    private static final class Frames implements Applier {

        private final KaldiFbank of;
        private final MelFrames mel;
        private final int blockSamples;
        private final float[] samples;
        private final float[] turned;
        private final Logarithm ln = new Logarithm(Math.E);

        Frames(KaldiFbank of, MelFrames.Plan plan) {
            this.of = of;
            mel = new MelFrames(plan);
            blockSamples = (LaneSums.LANES - 1) * of.hop() + of.size();
            samples = new float[blockSamples];
            turned = new float[Math.multiplyExact(LaneSums.LANES, of.bands)];
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            long frames = of.frames(values);
            for (long frame = 0; frame < frames; frame += LaneSums.LANES) {
                int lanes = (int) Math.min(LaneSums.LANES, frames - frame);
                long from = frame * of.hop();
                int count = (int) Math.min(blockSamples, values - from);
                Samples.read(in, inOffset + from * Float.BYTES, samples, 0, count);
                for (int i = 0; i < count; i++) {
                    samples[i] *= INTEGERS;
                }
                mel.compute(samples, 0, lanes);
                for (int m = 0; m < of.bands; m++) {
                    turn(mel.bands[m], m, lanes);
                }
                Samples.write(turned, 0, lanes * of.bands, out, outOffset + frame * of.bands * Float.BYTES);
            }
        }

        private void turn(float[] row, int m, int lanes) {
            for (int l = 0; l < lanes; l++) {
                row[l] = Math.max(row[l], LEAST);
            }
            if (!ln.apply(row, lanes)) {
                throw new CodecException("samples whose power is not finite", "samples from -1 to 1");
            }
            for (int l = 0, at = m; l < lanes; l++, at += of.bands) {
                turned[at] = row[l];
            }
        }
    }
}
