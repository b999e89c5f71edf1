// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.List;

/** AdamW (Loshchilov and Hutter, 2019), with clipped gradients. Matrices decay, other weights do not. */
final class AdamW {

    private static final float BETA1 = 0.9f;
    private static final float BETA2 = 0.95f;
    private static final float EPSILON = 1e-8f;
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

    AdamW(Ops ops, List<Parameter> parameters) {
        this.ops = ops;
        this.parameters = parameters;
    }

    /**
     * Updates all weights by their gradients.
     *
     * @param step from 1
     * @return the norm of all gradients
     */
    double step(long step, double learningRate) {
        double squares = 0;
        for (Parameter each : parameters) {
            squares += ops.sumOfSquares(each.gradient());
        }
        double norm = Math.sqrt(squares);
        float scale = (float) Math.min(1, MAX_NORM / (norm + 1e-6));
        Rates rates = Rates.of(learningRate, step);
        for (Parameter each : parameters) {
            ops.adamW(each.weight(), each.gradient(), each.mean(), each.square(), scale, rates,
                    each.isMatrix() ? DECAY : 0);
        }
        return norm;
    }

    static void update(HostFloats weight, HostFloats gradient, HostFloats mean, HostFloats square, int first, int end,
            float scale, Rates rates, float decay) {
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
