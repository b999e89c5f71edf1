// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Changes the rate of samples by a windowed sinc, as torchaudio's {@code transforms.Resample} defines it: {@code
 * f32[n]} becomes {@code f32[ceil(n · to / from)]}. The samples before the first and behind the last are 0.
 *
 * <p>Weights are computed in {@code f64} and rounded to {@code f32}; results are within 1e-6 of the definition for
 * samples from -1 to 1. {@code docs/spec/sound.md} has the definition.
 */
public final class Resample implements SoundStep {

    private static final long MOST_KERNEL_BYTES = 64L << 20;
    /** What {@code librosa} calls {@code kaiser_best}. */
    private static final int KAISER_WIDTH = 64;
    private static final double KAISER_ROLLOFF = 0.9475937167399596;
    private static final double KAISER_BETA = 14.769656459379492;

    private final int from;
    private final int to;
    private final boolean isKaiser;
    /** Input samples of a period. */
    private final int step;
    /** Output samples of a period. */
    private final int phases;
    /** Taps before a period's first sample, and behind its last. */
    private final int width;
    /** Of each phase: its first tap with a weight, how many there are, and where its weights begin. */
    private final int[] firsts;
    private final int[] counts;
    private final int[] begins;
    private final float[] weights;

    private Resample(int from, int to, boolean isKaiser) {
        this.from = Samples.positive(from, "the rate");
        this.to = Samples.positive(to, "the new rate");
        this.isKaiser = isKaiser;
        int divisor = gcd(from, to);
        step = from / divisor;
        phases = to / divisor;
        int zeros = isKaiser ? KAISER_WIDTH : 6;
        double base = Math.min(step, phases) * (isKaiser ? KAISER_ROLLOFF : 0.99);
        width = (int) Math.min(Integer.MAX_VALUE, (long) Math.ceil((double) zeros * step / base));
        long taps = 2L * width + step;
        if (taps * Math.max(phases, LaneSums.LANES) > MOST_KERNEL_BYTES / Float.BYTES) {
            throw new IllegalArgumentException(from + " to " + to + " samples a second: found a kernel of " + phases
                    + " phases of " + taps + " taps, expected at most " + (MOST_KERNEL_BYTES >> 20)
                    + " MB (choose rates with a greater common divisor)");
        }
        firsts = new int[phases];
        counts = new int[phases];
        begins = new int[phases + 1];
        float[] all = new float[(int) (taps * phases)];
        float[] phase = new float[(int) taps];
        for (int j = 0; j < phases; j++) {
            begins[j + 1] = begins[j] + fill(j, base, zeros, phase, all);
        }
        weights = Arrays.copyOf(all, begins[phases]);
    }

    /** Computes the weights of a phase, and appends those from the first to the last that is not 0. */
    private int fill(int j, double base, int zeros, float[] phase, float[] all) {
        int first = phase.length;
        int last = -1;
        for (int i = 0; i < phase.length; i++) {
            double t = ((double) (i - width) / step - (double) j / phases) * base;
            phase[i] = Math.abs(t) >= zeros ? 0 : (float) (weight(t, zeros) * base / step);
            if (phase[i] != 0) {
                first = Math.min(first, i);
                last = i;
            }
        }
        firsts[j] = first;
        counts[j] = last + 1 - first;
        System.arraycopy(phase, first, all, begins[j], counts[j]);
        return counts[j];
    }

    private double weight(double t, int zeros) {
        double window;
        if (isKaiser) {
            window = bessel(KAISER_BETA * Math.sqrt(1 - t / zeros * (t / zeros))) / bessel(KAISER_BETA);
        } else {
            double cosine = StrictMath.cos(Math.PI * t / zeros / 2);
            window = cosine * cosine;
        }
        return t == 0 ? window : window * StrictMath.sin(Math.PI * t) / (Math.PI * t);
    }

    /** The modified Bessel function of the first kind of order 0, by its power series. */
    private static double bessel(double x) {
        double term = 1;
        double sum = 1;
        for (int k = 1; term > sum * 1e-17; k++) {
            term *= x / (2 * k) * (x / (2 * k));
            sum += term;
        }
        return sum;
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    /**
     * Resamples by torchaudio's {@code sinc_interp_hann} with its defaults: width 6, roll-off 0.99.
     *
     * @param from samples a second
     * @param to samples a second of the result
     * @return the step
     * @throws IllegalArgumentException if a rate is below 1, or the kernel exceeds 64 MB
     */
    public static Resample hann(int from, int to) {
        return new Resample(from, to, false);
    }

    /**
     * Resamples by torchaudio's {@code sinc_interp_kaiser} with the parameters of {@code kaiser_best}: width 64,
     * roll-off 0.9475937, beta 14.769656.
     *
     * @param from samples a second
     * @param to samples a second of the result
     * @return the step
     * @throws IllegalArgumentException if a rate is below 1, or the kernel exceeds 64 MB
     */
    public static Resample kaiser(int from, int to) {
        return new Resample(from, to, true);
    }

    @Override
    public String name() {
        return "resample";
    }

    @Override
    public TensorSpec after(TensorSpec in) {
        Samples.check(in, 1, "samples of one channel, f32[n] (Mono makes it)");
        return Samples.ofSamples(in, in.isVariable() ? 0 : lengthAfter(in.dim(0)));
    }

    @Override
    public long valuesAfter(long values) {
        return Samples.count(lengthAfter(Samples.count(values)));
    }

    private long lengthAfter(long samples) {
        return Math.ceilDiv(Math.multiplyExact(samples, (long) phases), step);
    }

    @Override
    public Applier open() {
        return new Periods(this);
    }

    /**
     * Computes periods in lanes: a row has the samples of one tap for each period of a block. Taps that are a period
     * apart are the same samples a lane later, so samples are sorted by their place in a period once, and the rows
     * behind the first period are copied.
     */
    private static final class Periods implements Applier {

        private final Resample of;
        private final int taps;
        /** Of each place in a period, the samples of the block's periods and those before and behind. */
        private final float[][] places;
        private final float[][] rows;
        private final float[] sums = new float[LaneSums.LANES];
        private float[] samples = {};
        private final float[] results;

        Periods(Resample of) {
            this.of = of;
            taps = 2 * of.width + of.step;
            int periods = LaneSums.LANES + (taps + of.step - 1) / of.step;
            places = new float[of.step][periods];
            rows = Arrays.copyOf(places, taps);
            for (int tap = of.step; tap < taps; tap++) {
                rows[tap] = new float[LaneSums.LANES];
            }
            results = new float[Math.multiplyExact(of.phases, LaneSums.LANES)];
        }

        @Override
        public void apply(MemorySegment in, long inOffset, long values, RandomGenerator random, MemorySegment out,
                long outOffset) throws IOException {
            int made = (int) of.valuesAfter(values);
            if (of.step == of.phases) {
                MemorySegment.copy(in, inOffset, out, outOffset, values * Float.BYTES);
                return;
            }
            int block = LaneSums.LANES * of.step;
            int read = places[0].length * of.step;
            if (samples.length < read) {
                samples = new float[read];
            }
            for (long first = 0, done = 0; done < made; first += block, done += (long) LaneSums.LANES * of.phases) {
                int left = (int) Math.min((long) LaneSums.LANES * of.phases, made - done);
                int lanes = (left + of.phases - 1) / of.phases;
                read(in, inOffset, values, first - of.width, lanes);
                sort(lanes);
                sum(lanes);
                Samples.write(results, 0, left, out, outOffset + done * Float.BYTES);
            }
        }

        /** Reads the samples from a number on that some periods need, with zeros outside. */
        private void read(MemorySegment in, long inOffset, long values, long from, int lanes) {
            int count = (lanes - 1) * of.step + taps;
            long begin = Math.clamp(from, 0, values);
            long end = Math.clamp(from + count, begin, values);
            int before = (int) (begin - from);
            int there = (int) (end - begin);
            if (there == 0) {
                Arrays.fill(samples, 0, count, 0);
                return;
            }
            Arrays.fill(samples, 0, before, 0);
            Samples.read(in, inOffset + begin * Float.BYTES, samples, before, there);
            Arrays.fill(samples, before + there, count, 0);
        }

        private void sort(int lanes) {
            int count = (lanes - 1) * of.step + taps;
            for (int place = 0; place < of.step; place++) {
                float[] row = places[place];
                for (int at = place, period = 0; at < count; at += of.step, period++) {
                    row[period] = samples[at];
                }
            }
            for (int tap = of.step; tap < taps; tap++) {
                System.arraycopy(places[tap % of.step], tap / of.step, rows[tap], 0, lanes);
            }
        }

        private void sum(int lanes) {
            int phases = of.phases;
            for (int phase = 0; phase < phases; phase++) {
                LaneSums.weigh(rows, of.firsts[phase], of.weights, of.begins[phase], of.counts[phase], sums, lanes);
                for (int lane = 0, at = phase; lane < lanes; lane++, at += phases) {
                    results[at] = sums[lane];
                }
            }
        }
    }

    /** For example {@code resample 44100 to 16000, hann}. */
    @Override
    public String toString() {
        return "resample " + from + " to " + to + (isKaiser ? ", kaiser" : ", hann");
    }
}
