// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.sound;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * Triangles that sum the powers of near frequencies to one band each. Weights are computed in {@code f64} and rounded
 * to {@code f32}; {@code docs/spec/sound.md} has the definitions.
 */
final class MelFilters {

    /** How frequencies become mel. */
    enum Scale {
        /** Slaney's Auditory Toolbox, the default of librosa: linear below 1 kHz, then logarithmic. */
        SLANEY,
        /** The Hidden Markov Model Toolkit's, the default of torchaudio: {@code 2595 log10(1 + f / 700)}. */
        HTK;

        double mel(double hertz) {
            if (this == HTK) {
                return 2595 * StrictMath.log10(1 + hertz / 700);
            }
            return hertz < 1000 ? hertz * 3 / 200 : 15 + StrictMath.log(hertz / 1000) * 27 / StrictMath.log(6.4);
        }

        double hertz(double mel) {
            if (this == HTK) {
                return 700 * (StrictMath.pow(10, mel / 2595) - 1);
            }
            return mel < 15 ? mel * 200 / 3 : 1000 * StrictMath.exp(StrictMath.log(6.4) / 27 * (mel - 15));
        }
    }

    private final int[] firsts;
    private final int[] begins;
    private float[] weights = {};

    private MelFilters(int bands) {
        firsts = new int[bands];
        begins = new int[bands + 1];
    }

    /**
     * Triangles that are linear in the frequency.
     *
     * @param isOfOneArea whether each is multiplied by {@code 2 / width}
     */
    static MelFilters linear(int rate, int size, int bands, Scale scale, double low, double high,
            boolean isOfOneArea) {
        double[] points = new double[bands + 2];
        double lowest = scale.mel(low);
        double highest = scale.mel(high);
        for (int i = 0; i < points.length; i++) {
            points[i] = scale.hertz(lowest + (highest - lowest) * i / (bands + 1));
        }
        MelFilters filters = new MelFilters(bands);
        double[] band = new double[size / 2 + 1];
        for (int m = 0; m < bands; m++) {
            double area = isOfOneArea ? 2 / (points[m + 2] - points[m]) : 1;
            for (int bin = 0; bin < band.length; bin++) {
                double hertz = (double) rate * bin / size;
                band[bin] = area * Math.max(0, Math.min((hertz - points[m]) / (points[m + 1] - points[m]),
                        (points[m + 2] - hertz) / (points[m + 2] - points[m + 1])));
            }
            filters.append(m, band);
        }
        return filters;
    }

    /** Kaldi's: triangles that are linear in {@code 1127 ln(1 + f / 700)}; the highest frequency has no weight. */
    static MelFilters kaldi(int rate, int size, int bands, double low, double high) {
        double lowest = kaldiMel(low);
        double step = (kaldiMel(high) - lowest) / (bands + 1);
        MelFilters filters = new MelFilters(bands);
        double[] band = new double[size / 2];
        for (int m = 0; m < bands; m++) {
            double left = lowest + m * step;
            double center = lowest + (m + 1) * step;
            double right = lowest + (m + 2) * step;
            for (int bin = 0; bin < band.length; bin++) {
                double mel = kaldiMel((double) rate * bin / size);
                band[bin] = Math.max(0, Math.min((mel - left) / (center - left), (right - mel) / (right - center)));
            }
            filters.append(m, band);
        }
        return filters;
    }

    private static double kaldiMel(double hertz) {
        return 1127 * StrictMath.log(1 + hertz / 700);
    }

    private void append(int m, double[] band) {
        int first = 0;
        while (first < band.length && (float) band[first] == 0) {
            first++;
        }
        int end = band.length;
        while (end > first && (float) band[end - 1] == 0) {
            end--;
        }
        firsts[m] = first;
        begins[m + 1] = begins[m] + end - first;
        weights = Arrays.copyOf(weights, begins[m + 1]);
        for (int bin = first; bin < end; bin++) {
            weights[begins[m] + bin - first] = (float) band[bin];
        }
    }

    int bands() {
        return firsts.length;
    }

    /** Returns the weight of a frequency in a band. */
    float weight(int band, int bin) {
        int at = bin - firsts[band];
        return at < 0 || at >= begins[band + 1] - begins[band] ? 0 : weights[begins[band] + at];
    }

    /** Appends what the kernel reads: where the weights of each band begin, its first frequency, the weights. */
    void putTables(IntBuffer words) {
        words.put(begins).put(firsts);
        LaneSums.put(words, weights);
    }

    /** Sums powers to bands; a band without weights is 0. */
    void apply(float[][] power, float[][] out, int lanes) {
        for (int m = 0; m < firsts.length; m++) {
            LaneSums.weigh(power, firsts[m], weights, begins[m], begins[m + 1] - begins[m], out[m], lanes);
        }
    }
}
