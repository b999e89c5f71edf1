// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Energies of mel bands of frames, a block of frames at a time, a frame a lane; for one thread. */
final class MelFrames {

    /**
     * What is done with frames.
     *
     * @param window the window's weights, as many as a frame has samples
     * @param size the size of the transform, at least that of the window; zeros are behind the frame
     * @param hop the samples from a frame to the next
     * @param emphasis null, or the share of the sample before that is subtracted from each, after the frame's mean
     * @param filters the bands
     */
    record Plan(float[] window, int size, int hop, @Nullable Float emphasis, MelFilters filters) {

        /** Checks that the transform can be computed, and is no shorter than the window. */
        Plan {
            if (window.length > size) {
                throw new IllegalArgumentException("found a window of " + window.length + ", expected at most " + size);
            }
        }

        int bands() {
            return filters.bands();
        }
    }

    private final Plan plan;
    private final LaneFft fft;
    private final float[] mean = new float[LaneSums.LANES];
    private final float[] before = new float[LaneSums.LANES];
    /** Samples a hop apart: {@code phases[p][l]} is sample p of hop l. */
    private final float[][] phases;
    /** With an emphasis, the samples of frames. */
    private final float[][] emphasized;
    /** The energies of each band; filled by {@link #compute}. */
    final float[][] bands;

    MelFrames(Plan plan) {
        this.plan = plan;
        fft = new LaneFft(plan.size);
        bands = new float[plan.bands()][LaneSums.LANES];
        int length = plan.window.length;
        phases = new float[Math.min(plan.hop, length)][LaneSums.LANES + (length - 1) / plan.hop];
        emphasized = plan.emphasis == null ? new float[0][] : new float[length][LaneSums.LANES];
    }

    /** A Hann window: of a period, or symmetric. */
    static double[] hann(int count, int period) {
        double[] window = new double[count];
        for (int n = 0; n < count; n++) {
            window[n] = 0.5 - 0.5 * StrictMath.cos(2 * Math.PI * n / period);
        }
        return window;
    }

    static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /** Appends what the kernel reads: the window, the transform's tables, those of a logarithm, the filters'. */
    void putTables(Logarithm logarithm, IntBuffer words) {
        LaneSums.put(words, plan.window);
        fft.putTables(words);
        logarithm.putTables(words);
        plan.filters.putTables(words);
    }

    /** Computes {@link #bands} of some frames, the first of which begins at an index. */
    void compute(float[] samples, int from, int lanes) {
        int length = plan.window.length;
        if (isSilent(samples, from, from + (lanes - 1) * plan.hop + length)) {
            for (float[] band : bands) {
                Arrays.fill(band, 0, lanes, 0);
            }
            return;
        }
        int hop = plan.hop;
        for (int phase = 0; phase < phases.length; phase++) {
            gather(samples, from + phase, hop, phases[phase], lanes + (length - 1 - phase) / hop);
        }
        if (plan.emphasis == null) {
            for (int n = 0; n < length; n++) {
                fft.put(n, phases[n % hop], n / hop, plan.window[n], lanes);
            }
        } else {
            emphasize(plan.emphasis, lanes);
        }
        for (int n = length; n < plan.size; n++) {
            fft.putZeros(n, lanes);
        }
        fft.transform(lanes);
        plan.filters.apply(fft.power, bands, lanes);
    }

    /** Padding needs no transform: its power is 0. */
    private static boolean isSilent(float[] samples, int from, int to) {
        for (int i = from; i < to; i++) {
            if (samples[i] != 0) {
                return false;
            }
        }
        return true;
    }

    private static void gather(float[] samples, int from, int hop, float[] row, int count) {
        for (int l = 0, at = from; l < count; l++, at += hop) {
            row[l] = samples[at];
        }
    }

    /** Subtracts each frame's mean, then a share of the sample before, and applies the window. */
    private void emphasize(float share, int lanes) {
        int length = plan.window.length;
        Arrays.fill(mean, 0, lanes, 0);
        for (int n = 0; n < length; n++) {
            System.arraycopy(phases[n % plan.hop], n / plan.hop, emphasized[n], 0, lanes);
            add(mean, emphasized[n], lanes);
        }
        for (int l = 0; l < lanes; l++) {
            mean[l] /= length;
            before[l] = emphasized[0][l] - mean[l];
        }
        for (int n = 0; n < length; n++) {
            emphasize(emphasized[n], mean, before, share, plan.window[n], lanes);
            fft.put(n, emphasized[n], 0, 1, lanes);
        }
    }

    private static void add(float[] sums, float[] row, int lanes) {
        for (int l = 0; l < lanes; l++) {
            sums[l] += row[l];
        }
    }

    private static void emphasize(float[] row, float[] mean, float[] before, float share, float weight, int lanes) {
        for (int l = 0; l < lanes; l++) {
            float centered = row[l] - mean[l];
            row[l] = (centered - share * before[l]) * weight;
            before[l] = centered;
        }
    }
}
