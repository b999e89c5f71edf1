// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import java.util.Arrays;

/**
 * Arrays with stale values, and tools, that an operation on a {@link Canvas} uses while it runs, so that no operation
 * allocates. An operation that applies others must not use what they use.
 */
public final class Workspace {

    private static final int FLOAT_ARRAYS = 5;
    private static final float[] NO_FLOATS = {};

    private final byte[] table = new byte[256];
    private final int[] histogram = new int[256];
    /** Every other pixel: counting equal neighbors one after the other would wait for memory. */
    private final int[] others = new int[256];
    private float[][] rows = {};
    private final float[][] floats = new float[FLOAT_ARRAYS][0];
    private final Planes planes = new Planes();
    private final Warp warp = new Warp();
    private final Resampling resampling = new Resampling();
    private final double[] inverse = new double[9];

    /** The color planes of an RGB image, for changes of many of its values in one pass. */
    public Planes planes() {
        return planes;
    }

    /** Reads the image at other places. */
    public Warp warp() {
        return warp;
    }

    /** Resamples the image by a map. */
    public Resampling resampling() {
        return resampling;
    }

    /** Returns one of five arrays of at least this many floats. The last is for operations that apply others. */
    public float[] floats(int array, int count) {
        if (floats[array].length < count) {
            floats[array] = new float[count];
        }
        return floats[array];
    }

    /** Returns one of any number of arrays of at least this many floats: rows of an image. */
    public float[] row(int number, int count) {
        int known = rows.length;
        if (number >= known) {
            rows = Arrays.copyOf(rows, number + 1);
            Arrays.fill(rows, known, number + 1, NO_FLOATS);
        }
        if (rows[number].length < count) {
            rows[number] = new float[count];
        }
        return rows[number];
    }

    /** Returns a table of 256 values. */
    public byte[] table() {
        return table;
    }

    /** Returns nine numbers; a map between images has six or nine. */
    public double[] inverse() {
        return inverse;
    }

    /** Counts the values of a channel of interleaved pixels. */
    int[] histogram(byte[] pixels, int channel, int channels, int bytes) {
        Arrays.fill(histogram, 0);
        Arrays.fill(others, 0);
        int i = channel;
        for (; i < bytes - channels; i += 2 * channels) {
            histogram[pixels[i] & 0xFF]++;
            others[pixels[i + channels] & 0xFF]++;
        }
        if (i < bytes) {
            histogram[pixels[i] & 0xFF]++;
        }
        for (int value = 0; value < histogram.length; value++) {
            histogram[value] += others[value];
        }
        return histogram;
    }

    /** Converts values, so that loops over them are vectorized. */
    public static void toFloats(byte[] values, int from, float[] floats, int length) {
        for (int i = 0; i < length; i++) {
            floats[i] = values[from + i] & 0xFF;
        }
    }
}
