// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** GELU by GPT-2's approximation: {@code x/2 · (1 + tanh u)} with {@code u = √(2/π) (x + 0.044715 x³)}. */
final class Gelu {

    private static final VectorSpecies<Float> LANES = FloatVector.SPECIES_PREFERRED;
    private static final float CUBIC = 0.044715f;
    /** (1 + tanh u)/2 = 1/(1 + exp(−2u)). */
    private static final float MINUS_TWO_U = (float) (-2 * Math.sqrt(2 / Math.PI));

    private Gelu() {
    }

    static void forward(float[] x, int x0, float[] y, int y0, int count) {
        for (int i = 0; i < count; i += LANES.length()) {
            FloatVector v = FloatVector.fromArray(LANES, x, x0 + i);
            v.mul(gate(v)).intoArray(y, y0 + i);
        }
    }

    /** dx = dy · gelu'(x). */
    static void backward(float[] x, int x0, float[] dy, int dy0, float[] dx, int dx0, int count) {
        for (int i = 0; i < count; i += LANES.length()) {
            FloatVector v = FloatVector.fromArray(LANES, x, x0 + i);
            FloatVector gate = gate(v);
            FloatVector slope = v.mul(v).mul(3 * CUBIC).add(1).mul(-MINUS_TWO_U);
            FloatVector derivative = gate.add(v.mul(slope).mul(gate).mul(gate.neg().add(1)));
            derivative.mul(FloatVector.fromArray(LANES, dy, dy0 + i)).intoArray(dx, dx0 + i);
        }
    }

    private static FloatVector gate(FloatVector v) {
        FloatVector minusTwoU = v.mul(v).mul(CUBIC).add(1).mul(v).mul(MINUS_TWO_U);
        FloatVector one = FloatVector.broadcast(LANES, 1);
        return one.div(Rows.exp(minusTwoU).add(one));
    }
}
