// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * The weights of one direction of {@link Resampling}. Those of an output fall off linearly from its center, and reach
 * as far as to the centers of its neighbors, or to one input pixel if that is more. Reuses its arrays.
 */
final class Triangle {

    /** The outputs. If the input is mirrored they are in reverse order, so that their first inputs ascend. */
    private int size;
    private boolean isReversed;
    private int[] first = {};
    private int[] count = {};
    /** The most weights of an output. The weights of output i start at {@code i * most}. */
    private int most;
    private float[] weights = {};
    private double[] exact = {};

    /**
     * Computes the weights.
     *
     * @param inputs the pixels of the image
     * @param outputs how many to compute, at least 1
     * @param scale input pixels from one output to the next; negative if the input is mirrored
     * @param offset where output 0 begins
     * @param start the first output to compute
     */
    void set(int inputs, int outputs, double scale, double offset, int start) {
        size = outputs;
        isReversed = scale < 0;
        double reach = Math.max(Math.abs(scale), 1);
        most = (int) Math.ceil(reach) * 2 + 1;
        if (first.length < size) {
            first = new int[size];
            count = new int[size];
        }
        int needed = Math.multiplyExact(size, most);
        if (weights.length < needed) {
            weights = new float[needed];
        }
        if (exact.length < most) {
            exact = new double[most];
        }
        for (int i = 0; i < size; i++) {
            weigh(i, inputs, offset + (start + output(i) + 0.5) * scale, reach);
        }
    }

    private void weigh(int i, int inputs, double center, double reach) {
        first[i] = Math.max((int) Math.floor(center - reach + 0.5), 0);
        count[i] = Math.min((int) Math.floor(center + reach + 0.5), inputs) - first[i];
        double sum = 0;
        for (int k = 0; k < count[i]; k++) {
            exact[k] = Math.max(1 - Math.abs(first[i] + k + 0.5 - center) / reach, 0);
            sum += exact[k];
        }
        for (int k = 0; k < count[i]; k++) {
            weights[i * most + k] = (float) (exact[k] / sum);
        }
    }

    int size() {
        return size;
    }

    /** Returns the output that is computed i-th. */
    int output(int i) {
        return isReversed ? size - 1 - i : i;
    }

    /** Returns the first input that counts for the output that is computed i-th. */
    int first(int i) {
        return first[i];
    }

    int count(int i) {
        return count[i];
    }

    float weight(int i, int k) {
        return weights[i * most + k];
    }

    /** The most inputs that count for an output. */
    int most() {
        return most;
    }

    /** The first input that is needed. */
    int low() {
        return first[0];
    }

    /** Returns the input after the last that is needed. */
    int high() {
        return first[size - 1] + count[size - 1];
    }

    /** Weighs the pixels of a row, which starts at the first pixel that is needed. */
    void run(float[] row, int channels, float[] out, int to) {
        if (channels == 3) {
            run3(row, out, to);
            return;
        }
        for (int i = 0; i < size; i++) {
            for (int c = 0; c < channels; c++) {
                float sum = 0;
                for (int k = 0; k < count[i]; k++) {
                    sum += weights[i * most + k] * row[(first[i] - first[0] + k) * channels + c];
                }
                out[to + output(i) * channels + c] = sum;
            }
        }
    }

    private void run3(float[] row, float[] out, int to) {
        for (int i = 0; i < size; i++) {
            float red = 0;
            float green = 0;
            float blue = 0;
            int from = 3 * (first[i] - first[0]);
            int weight = i * most;
            for (int end = weight + count[i]; weight < end; weight++, from += 3) {
                float w = weights[weight];
                red += w * row[from];
                green += w * row[from + 1];
                blue += w * row[from + 2];
            }
            int at = to + 3 * output(i);
            out[at] = red;
            out[at + 1] = green;
            out[at + 2] = blue;
        }
    }
}
