// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.stream.IntStream;

/** A model and a batch that follow formulas, as in {@code reference.py}. */
final class SmallModel {

    static final Shape SHAPE = new Shape(96, 32, 2, 2, 64);
    static final int SEQUENCES = 2;
    /** Every token is its own number. */
    static final Vocabulary VOCABULARY = new Vocabulary(IntStream.range(0, SHAPE.vocabulary()).toArray());

    private SmallModel() {
    }

    static Model open(Ops ops) {
        Model model = new Model(SHAPE, ops, SEQUENCES);
        for (int t = 0; t < model.parameters().size(); t++) {
            Parameter parameter = model.parameters().get(t);
            boolean isGain = !parameter.isMatrix() && parameter.name().endsWith(".weight");
            float[] values = new float[parameter.weight().size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (0.1 * Math.sin(0.7 * i + t) + (isGain ? 1 : 0));
            }
            parameter.weight().copyFrom(values);
        }
        return model;
    }

    static HostTokens batch() {
        HostTokens batch = new HostTokens(SEQUENCES, SHAPE.context(), VOCABULARY);
        batch.rows = SEQUENCES * SHAPE.context();
        for (int i = 0; i < batch.rows; i++) {
            int place = i % SHAPE.context();
            batch.ids[i] = i * 37 % 89;
            batch.positions[i] = place % 11;
            boolean isLast = place % 11 == 10 || place == SHAPE.context() - 1;
            batch.labels[i] = isLast ? TokenBatch.IGNORED : (batch.ids[i] * 5 + 3) % 89;
        }
        return batch;
    }

    /** One step forward and back; returns the mean loss. */
    static double gradients(Model model, Ops ops, TokenBatch batch) {
        Losses losses = ops.losses();
        model.forward(batch);
        model.loss(batch, losses, 0);
        model.backward(batch);
        return losses.read(1).getFirst().mean();
    }
}
