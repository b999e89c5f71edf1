// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTest {

    @Test
    void logitsAndLossAreThoseOfASlowModelInDoubles() {
        try (Ops ops = new CpuOps(2)) {
            Model model = SmallModel.open(ops);
            HostTokens batch = SmallModel.batch();
            SlowModel slow = new SlowModel(model);
            model.forward(batch);
            float[] logits = logits(model);
            for (int first = 0; first < batch.rows; first += SmallModel.SHAPE.context()) {
                double[][] expected = slow.logits(batch, first);
                for (int t = 0; t < expected.length; t++) {
                    for (int token = 0; token < expected[t].length; token++) {
                        assertEquals(expected[t][token], logits[(first + t) * SmallModel.SHAPE.vocabulary() + token],
                                1e-5);
                    }
                }
            }
            assertEquals(slow.loss(batch), SmallModel.gradients(model, ops, batch), 1e-6);
        }
    }

    /** Central differences of the slow model's loss, at some elements of every tensor. */
    @Test
    void gradientsAreThoseOfFiniteDifferences() {
        try (Ops ops = new CpuOps(2)) {
            Model model = SmallModel.open(ops);
            HostTokens batch = SmallModel.batch();
            SlowModel slow = new SlowModel(model);
            SmallModel.gradients(model, ops, batch);
            for (Parameter each : model.parameters()) {
                float[] gradient = new float[each.gradient().size()];
                each.gradient().copyTo(gradient);
                double[] weights = slow.weights(each.name());
                for (int i = gradient.length / 7; i < gradient.length; i += Math.ceilDiv(gradient.length, 4)) {
                    double weight = weights[i];
                    weights[i] = weight + 1e-4;
                    double above = slow.loss(batch);
                    weights[i] = weight - 1e-4;
                    double below = slow.loss(batch);
                    weights[i] = weight;
                    assertEquals((above - below) / 2e-4, gradient[i], 2e-6 + 1e-4 * Math.abs(gradient[i]),
                            each.name() + "[" + i + "]");
                }
            }
        }
    }

    @Test
    void aTokenChangesTheLogitsOfLaterTokensOfItsDocumentOnly() {
        try (Ops ops = new CpuOps(2)) {
            Model model = SmallModel.open(ops);
            HostTokens batch = SmallModel.batch();
            model.forward(batch);
            float[] before = logits(model);
            int changed = 14;       // the fourth token of the second document, which ends with token 21
            batch.ids[changed] = 2;
            model.forward(batch);
            float[] after = logits(model);
            int vocabulary = SmallModel.SHAPE.vocabulary();
            for (int row = 0; row < batch.rows; row++) {
                boolean same = Arrays.equals(before, row * vocabulary, (row + 1) * vocabulary, after,
                        row * vocabulary, (row + 1) * vocabulary);
                assertEquals(row < changed || row > 21, same, "row " + row);
            }
        }
    }

    @Test
    void stepsAreTheSameBitsOnAnyNumberOfThreads() {
        List<float[]> expected = steps(1);
        for (int threads : new int[]{2, 3, 8}) {
            List<float[]> found = steps(threads);
            for (int i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i), found.get(i));
            }
        }
    }

    private static List<float[]> steps(int threads) {
        try (Ops ops = new CpuOps(threads)) {
            Model model = SmallModel.open(ops);
            AdamW optimizer = new AdamW(ops, model.parameters());
            for (int step = 1; step <= 3; step++) {
                SmallModel.gradients(model, ops, SmallModel.batch());
                optimizer.step(step, 0.01);
            }
            List<float[]> weights = new ArrayList<>();
            for (Parameter each : model.parameters()) {
                float[] values = new float[each.weight().size()];
                each.weight().copyTo(values);
                weights.add(values);
            }
            return weights;
        }
    }

    @Test
    void aSmallerBatchUsesPartOfTheModelsRoom() {
        try (Ops ops = new CpuOps(2)) {
            Model model = SmallModel.open(ops);
            HostTokens batch = SmallModel.batch();
            model.forward(batch);
            float[] both = logits(model);
            batch.rows /= 2;
            Arrays.fill(batch.ids, batch.rows, batch.ids.length, 5);
            model.forward(batch);
            int used = batch.rows * SmallModel.SHAPE.vocabulary();
            assertArrayEquals(Arrays.copyOf(both, used), Arrays.copyOf(logits(model), used));
            Losses losses = ops.losses();
            model.loss(batch, losses, 0);
            assertFalse(Double.isNaN(losses.read(1).getFirst().mean()));
        }
    }

    private static float[] logits(Model model) {
        float[] logits = new float[model.logits().size()];
        model.logits().copyTo(logits);
        return logits;
    }
}
