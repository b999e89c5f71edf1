// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.resnet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training: against Python's PyTorch, and resumed. */
class TrainTest {

    @TempDir
    Path folder;

    private double train(String out, String... more) throws IOException {
        List<String> options = new ArrayList<>(List.of("--pictures", folder.resolve("pictures").toString(), "--out",
                folder.resolve(out).toString(), "--draw", "240", "--divide", "4", "--side", "32",
                "--batch", "32", "--epochs", "6", "--threads", "1"));
        options.addAll(List.of(more));
        return new Train(Train.flags(options.toArray(String[]::new))).run();
    }

    /** What {@code train.py --reference} prints. */
    @Test
    void lossesEqualThoseOfPython() {
        ResNet.useThreads(1);
        ResNet net = new ResNet(1, 16, 4, "cpu");
        try (PointerScope _ = new PointerScope(); Optimizing optimizing = new Optimizing(net)) {
            Tensor pictures = torch.arange(new Scalar(4 * 3 * 16 * 16)).to(ScalarType.Long).mul(new Scalar(37))
                    .remainder(new Scalar(101)).to(ScalarType.Float).div(new Scalar(50)).sub(new Scalar(1))
                    .view(4, 3, 16, 16);
            Tensor labels = torch.arange(new Scalar(4)).to(ScalarType.Long);
            for (double expected : new double[] {2.042567729949951, 1.1450483798980713, 0.6566741466522217}) {
                assertEquals(expected, optimizing.step(pictures, labels, 0.01), 2e-5);
            }
        }
    }

    @Test
    void theNetLearnsAndAStoppedRunGoesOnWithTheSameBits() throws IOException {
        double straight = train("straight");
        train("stopped", "--stop-after", "27");
        assertEquals(straight, train("stopped"));
        assertEquals(Files.readAllLines(folder.resolve("straight/losses.csv")),
                Files.readAllLines(folder.resolve("stopped/losses.csv")));
        assertTrue(straight > 0.6, "accuracy " + straight);
    }
}
