// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Adds noise at a signal-to-noise ratio: {@code y = x + a · noise} in {@code f32}, {@code a = √(Σx² / Σnoise² ·
 * 10^(-ratio / 10))} with sums in {@code f64} over the clip's length. Comes before padding, whose zeros would count as
 * signal. A clip of silence, or of silent noise, stays as it is.
 *
 * <p>Four words are drawn for each clip: whether noise is added, a double in [0, 1) below the probability; which noise;
 * its first sample; and the ratio, {@code low + (high - low) · d}. A noise that ends begins again.
 */
public final class NoiseMix implements SoundStep {

    private static final int BLOCK = 4096;
    /** Powers by {@code exp}: {@code StrictMath.pow} allocates. */
    private static final double PER_DECIBEL = StrictMath.log(10) / 10;

    private final List<MemorySegment> noises;
    private final double low;
    private final double high;
    private final double probability;
    private final long digest;

    private NoiseMix(List<MemorySegment> noises, double low, double high, double probability, long digest) {
        this.noises = noises;
        this.low = low;
        this.high = high;
        this.probability = probability;
        this.digest = digest;
    }

    /**
     * Noise for every clip.
     *
     * @param noises memory of {@code f32} samples of one channel at the clips' rate, not empty; read by all workers,
     *     and by this call for the dataset's fingerprint; the caller frees it when no worker reads it
     * @param low the least ratio in decibels
     * @param high the greatest ratio in decibels
     * @return the step
     * @throws IllegalArgumentException if there is no noise, one is empty or no whole number of samples, or the bounds
     *     are no range
     */
    public static NoiseMix of(List<MemorySegment> noises, double low, double high) {
        if (!(Double.isFinite(low) && Double.isFinite(high) && low <= high)) {
            throw new IllegalArgumentException("found " + low + " to " + high + " decibels, expected a range");
        }
        if (noises.isEmpty()) {
            throw new IllegalArgumentException("found no noise, expected one or more");
        }
        List<MemorySegment> read = new ArrayList<>();
        long digest = 0;
        for (MemorySegment noise : noises) {
            if (noise.byteSize() == 0 || noise.byteSize() % Float.BYTES != 0) {
                throw new IllegalArgumentException("found a noise of " + noise.byteSize()
                        + " bytes, expected one or more f32");
            }
            digest = digest * 31 + KeyedRandom.hash(noise);
            read.add(noise.asReadOnly());
        }
        return new NoiseMix(List.copyOf(read), low, high, 1, digest);
    }

    /**
     * {@return the step that adds noise to some clips alone}
     *
     * @param p the probability, 0 to 1
     * @throws IllegalArgumentException if it is not in 0 … 1
     */
    public NoiseMix probability(double p) {
        if (!(p >= 0 && p <= 1)) {
            throw new IllegalArgumentException("found a probability of " + p + ", expected 0 to 1");
        }
        return new NoiseMix(noises, low, high, p, digest);
    }

    @Override
    public String name() {
        return "noise";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n] (Mono makes it)");
        return in;
    }

    @Override
    public long valuesAfter(long values) {
        return values;
    }

    @Override
    public boolean draws() {
        return true;
    }

    @Override
    public Applier open() {
        return new Mixer(this);
    }

    private static final class Mixer implements Applier {

        private final NoiseMix of;
        private final float[] signal = new float[BLOCK];
        private final float[] noise = new float[BLOCK];

        Mixer(NoiseMix of) {
            this.of = of;
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) {
            boolean isAdded = random.nextDouble() < of.probability;
            MemorySegment source = of.noises.get((int) random.nextLong(of.noises.size()));
            long start = random.nextLong(source.byteSize() / Float.BYTES);
            double ratio = of.low + (of.high - of.low) * random.nextDouble();
            float factor = isAdded ? factor(in, inOffset, values, source, start, ratio) : 0;
            if (factor == 0) {
                MemorySegment.copy(in, inOffset, out, outOffset, values * Float.BYTES);
                return;
            }
            for (long done = 0; done < values; done += BLOCK) {
                int count = (int) Math.min(BLOCK, values - done);
                Samples.read(in, inOffset + done * Float.BYTES, signal, 0, count);
                readNoise(source, start + done, count);
                for (int i = 0; i < count; i++) {
                    signal[i] += factor * noise[i];
                }
                Samples.write(signal, 0, count, out, outOffset + done * Float.BYTES);
            }
        }

        private float factor(MemorySegment in, long inOffset, long values, MemorySegment source, long start,
                double ratio) {
            double signalPower = 0;
            double noisePower = 0;
            for (long done = 0; done < values; done += BLOCK) {
                int count = (int) Math.min(BLOCK, values - done);
                Samples.read(in, inOffset + done * Float.BYTES, signal, 0, count);
                readNoise(source, start + done, count);
                for (int i = 0; i < count; i++) {
                    signalPower += (double) signal[i] * signal[i];
                    noisePower += (double) noise[i] * noise[i];
                }
            }
            return noisePower > 0
                    ? (float) Math.sqrt(signalPower / noisePower * StrictMath.exp(-ratio * PER_DECIBEL)) : 0;
        }

        /** Reads noise from a sample on, round and round. */
        private void readNoise(MemorySegment source, long from, int count) {
            long length = source.byteSize() / Float.BYTES;
            long at = from % length;
            for (int done = 0; done < count; at = 0) {
                int more = (int) Math.min(count - done, length - at);
                Samples.read(source, at * Float.BYTES, noise, done, more);
                done += more;
            }
        }
    }

    /** For example {@code noise at 5.0 to 20.0 dB, 3 noises of digest 1f2e}. */
    @Override
    public String toString() {
        return "noise at " + low + " to " + high + " dB, probability " + probability + ", " + noises.size()
                + " noises of digest " + Long.toHexString(digest);
    }
}
