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
    /** The energies of each band; filled by {@link #compute}. */
    final float[][] bands;

    MelFrames(Plan plan) {
        this.plan = plan;
        fft = new LaneFft(plan.size);
        bands = new float[plan.bands()][LaneSums.LANES];
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
        for (int n = 0; n < length; n++) {
            load(samples, from + n, plan.hop, plan.emphasis == null ? plan.window[n] : 1, fft.input[n], lanes);
        }
        if (plan.emphasis != null) {
            emphasize(plan.emphasis, lanes);
        }
        for (int n = length; n < plan.size; n++) {
            Arrays.fill(fft.input[n], 0, lanes, 0);
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

    private static void load(float[] samples, int from, int hop, float weight, float[] row, int lanes) {
        for (int l = 0, at = from; l < lanes; l++, at += hop) {
            row[l] = samples[at] * weight;
        }
    }

    /** Subtracts each frame's mean, then a share of the sample before, and applies the window. */
    private void emphasize(float share, int lanes) {
        int length = plan.window.length;
        Arrays.fill(mean, 0, lanes, 0);
        for (int n = 0; n < length; n++) {
            add(mean, fft.input[n], lanes);
        }
        for (int l = 0; l < lanes; l++) {
            mean[l] /= length;
            before[l] = fft.input[0][l] - mean[l];
        }
        for (int n = 0; n < length; n++) {
            emphasize(fft.input[n], mean, before, share, plan.window[n], lanes);
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
