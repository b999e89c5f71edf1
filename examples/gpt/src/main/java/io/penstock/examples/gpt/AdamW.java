// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.List;

/** AdamW (Loshchilov and Hutter, 2019), with clipped gradients. Matrices decay, other weights do not. */
final class AdamW {

    static final float BETA1 = 0.9f;
    static final float BETA2 = 0.95f;
    static final float EPSILON = 1e-8f;
    /** Keeps the norm of no gradient at all from being divided by. */
    static final double NORM_EPSILON = 1e-6;
    private static final float DECAY = 0.1f;
    private static final double MAX_NORM = 1;

    /** What a step number and a learning rate come to. */
    record Rates(float learning, float step, float squareCorrection) {

        /** @param step from 1 */
        static Rates of(double learning, long step) {
            return new Rates((float) learning, (float) (learning / (1 - StrictMath.pow(BETA1, step))),
                    (float) (1 / Math.sqrt(1 - StrictMath.pow(BETA2, step))));
        }
    }

    private final Ops ops;
    private final List<Parameter> parameters;
    private final Floats scale;

    AdamW(Ops ops, List<Parameter> parameters) {
        this.ops = ops;
        this.parameters = parameters;
        this.scale = ops.allocate(1);
    }

    /**
     * Updates all weights by their gradients.
     *
     * @param step from 1
     */
    void step(long step, double learningRate) {
        ops.clip(parameters, MAX_NORM, scale);
        Rates rates = Rates.of(learningRate, step);
        for (Parameter each : parameters) {
            ops.adamW(each, scale, rates, each.isMatrix() ? DECAY : 0);
        }
    }

    static void update(Parameter parameter, int first, int end, float scale, Rates rates, float decay) {
        HostFloats weight = HostFloats.of(parameter.weight());
        HostFloats gradient = HostFloats.of(parameter.gradient());
        HostFloats mean = HostFloats.of(parameter.mean());
        HostFloats square = HostFloats.of(parameter.square());
        float[] w = weight.array();
        float[] g = gradient.array();
        float[] m = mean.array();
        float[] v = square.array();
        float keep = 1 - rates.learning * decay;
        for (int i = first; i < end; i++) {
            float by = g[gradient.offset() + i] * scale;
            float average = BETA1 * m[mean.offset() + i] + (1 - BETA1) * by;
            float averageSquare = BETA2 * v[square.offset() + i] + (1 - BETA2) * by * by;
            m[mean.offset() + i] = average;
            v[square.offset() + i] = averageSquare;
            w[weight.offset() + i] = w[weight.offset() + i] * keep
                    - rates.step * average / ((float) Math.sqrt(averageSquare) * rates.squareCorrection + EPSILON);
        }
    }
}
