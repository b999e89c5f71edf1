// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.memory.Tensor;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Three steps of a small model against PyTorch's, as {@code reference.py} wrote them. */
class TorchTest {

    private static final int STRIDE = 13;
    private static final double RATE = 0.01;

    @Test
    void lossesGradientsAndWeightsAreThoseOfTorch() throws IOException {
        try (TensorStore reference = TensorStore.open(Path.of("src/test/resources/reference.npz"));
                Ops ops = new CpuOps(2)) {
            Model model = SmallModel.open(ops);
            AdamW optimizer = new AdamW(ops, model.parameters());
            TokenBatch batch = SmallModel.batch();
            Tensor losses = find(reference, "losses");
            for (int step = 1; step <= 3; step++) {
                assertEquals(losses.getDouble(step - 1), SmallModel.gradients(model, ops, batch), 1e-4, "step " + step);
                if (step == 1) {
                    compare(find(reference, "gradients"), model, Parameter::gradient, 1e-5);
                }
                optimizer.step(step, RATE);
                if (step == 1) {
                    compare(find(reference, "weights"), model, Parameter::weight, 0.002 * RATE);
                }
            }
        }
    }

    private static void compare(Tensor expected, Model model, Function<Parameter, Floats> which, double tolerance) {
        List<Float> found = new ArrayList<>();
        List<String> names = new ArrayList<>();
        int at = 0;
        for (Parameter each : model.parameters()) {
            float[] values = new float[each.weight().size()];
            which.apply(each).copyTo(values);
            for (int i = 0; i < values.length; i++, at++) {
                if (at % STRIDE == 0) {
                    found.add(values[i]);
                    names.add(each.name() + "[" + i + "]");
                }
            }
        }
        assertEquals(expected.elementCount(), found.size());
        for (int i = 0; i < found.size(); i++) {
            assertEquals(expected.getDouble(i), found.get(i), tolerance, names.get(i));
        }
    }

    private static Tensor find(TensorStore store, String name) {
        for (int i = 0; i < store.tensors().size(); i++) {
            if (store.tensors().get(i).name().equals(name)) {
                return store.tensor(i);
            }
        }
        throw new AssertionError(name + " is not in " + store.tensors());
    }
}
