// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums and exponentials over a row of floats. Sums are added in an order that does not depend on the vector width, and
 * the exponential is made of additions and multiplications only: the bits are the same on every processor, in
 * interpreted and in compiled code.
 */
final class Rows {

    private static final VectorSpecies<Float> LANES = FloatVector.SPECIES_PREFERRED;
    private static final float LOG2_E = 1.442695041f;
    /** Adding this rounds to a whole number, which is then in the low bits. */
    private static final float ROUND = 12582912f;
    private static final int ROUND_BITS = Float.floatToRawIntBits(ROUND);
    private static final float MINUS_LN2_HIGH = -0.693359375f;
    private static final float MINUS_LN2_LOW = 2.12194440e-4f;

    private Rows() {
    }

    static float sum(float[] x, int from, int count) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        int i = 0;
        for (; i < count - 3; i += 4) {
            s0 += x[from + i];
            s1 += x[from + i + 1];
            s2 += x[from + i + 2];
            s3 += x[from + i + 3];
        }
        for (; i < count; i++) {
            s0 += x[from + i];
        }
        return s0 + s1 + (s2 + s3);
    }

    static float dot(float[] x, int from, float[] y, int yFrom, int count) {
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        int i = 0;
        for (; i < count - 3; i += 4) {
            s0 += x[from + i] * y[yFrom + i];
            s1 += x[from + i + 1] * y[yFrom + i + 1];
            s2 += x[from + i + 2] * y[yFrom + i + 2];
            s3 += x[from + i + 3] * y[yFrom + i + 3];
        }
        for (; i < count; i++) {
            s0 += x[from + i] * y[yFrom + i];
        }
        return s0 + s1 + (s2 + s3);
    }

    static float max(float[] x, int from, int count) {
        int whole = LANES.loopBound(count);
        FloatVector greatest = FloatVector.broadcast(LANES, Float.NEGATIVE_INFINITY);
        for (int i = 0; i < whole; i += LANES.length()) {
            greatest = greatest.max(FloatVector.fromArray(LANES, x, from + i));
        }
        float max = greatest.reduceLanes(VectorOperators.MAX);
        for (int i = whole; i < count; i++) {
            max = Math.max(max, x[from + i]);
        }
        return max;
    }

    /** x = exp(scale · x − shift), for a multiple of {@link Matmul#MULTIPLE} elements. */
    static void exp(float[] x, int from, int count, float scale, float shift) {
        FloatVector scales = FloatVector.broadcast(LANES, scale);
        FloatVector shifts = FloatVector.broadcast(LANES, -shift);
        for (int i = 0; i < count; i += LANES.length()) {
            exp(FloatVector.fromArray(LANES, x, from + i).fma(scales, shifts)).intoArray(x, from + i);
        }
    }

    /** 2 to the power of n times a polynomial, after Cephes' expf; relative error below 2e-7. */
    static FloatVector exp(FloatVector x) {
        FloatVector bounded = x.max(-87).min(88);
        FloatVector rounded = bounded.fma(FloatVector.broadcast(LANES, LOG2_E), FloatVector.broadcast(LANES, ROUND));
        FloatVector n = rounded.sub(ROUND);
        FloatVector r = n.fma(FloatVector.broadcast(LANES, MINUS_LN2_HIGH), bounded);
        r = n.fma(FloatVector.broadcast(LANES, MINUS_LN2_LOW), r);
        FloatVector p = FloatVector.broadcast(LANES, 1.9875691500e-4f);
        p = p.fma(r, FloatVector.broadcast(LANES, 1.3981999507e-3f));
        p = p.fma(r, FloatVector.broadcast(LANES, 8.3334519073e-3f));
        p = p.fma(r, FloatVector.broadcast(LANES, 4.1665795894e-2f));
        p = p.fma(r, FloatVector.broadcast(LANES, 1.6666665459e-1f));
        p = p.fma(r, FloatVector.broadcast(LANES, 5.0000001201e-1f));
        p = p.fma(r.mul(r), r).add(1);
        FloatVector power = rounded.reinterpretAsInts().sub(ROUND_BITS).add(127).lanewise(VectorOperators.LSHL, 23)
                .reinterpretAsFloats();
        return p.mul(power);
    }
}
