// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.bridge.Samples;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.state.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.AdamW;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.DropoutImpl;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run that goes on from a checkpoint has the losses of one that was not stopped, with dropout and averages. */
class TorchCheckpointTest {

    @TempDir
    Path folder;

    /** A layer with dropout, which draws from torch's generator. */
    private static final class Run implements AutoCloseable {
        final Module module = new Module();
        final LinearImpl linear;
        final DropoutImpl dropout = new DropoutImpl(0.3);
        final AdamW optimizer;
        final TorchCheckpoint checkpoint;
        final DataLoaderBuilder settings = DataLoader.builder(Samples.rows(40, 4)).batchSize(4).shuffle(7);

        Run(long width) {
            torch.manual_seed(1);
            linear = new LinearImpl(4, width);
            module.register_module("linear", linear);
            optimizer = new AdamW(linear.parameters(), new AdamWOptions(0.01));
            checkpoint = TorchCheckpoint.of(TorchCheckpoint.tensorsOf(module), optimizer);
        }

        List<Float> train(DataLoader loader, long steps) {
            List<Float> losses = new ArrayList<>();
            TorchBatches batches = TorchBatches.of(loader);
            for (long i = 0; i < steps; i++) {
                try (PointerScope _ = new PointerScope(); TorchBatch batch = batches.next()) {
                    optimizer.zero_grad();
                    Tensor loss = dropout.forward(linear.forward(batch.get("row"))).abs().mean();
                    loss.backward();
                    optimizer.step();
                    losses.add(loss.item_float());
                }
            }
            return losses;
        }

        @Override
        public void close() {
            optimizer.close();
        }
    }

    @Test
    void aRunThatGoesOnHasTheSameBits() throws IOException {
        List<Float> straight;
        try (Run run = new Run(3); DataLoader loader = run.settings.open()) {
            straight = run.train(loader, 17);
            run.checkpoint.save(folder, 17, loader);
            straight.addAll(run.train(loader, 16));
        }
        try (Run run = new Run(3)) {
            Checkpoint saved = run.checkpoint.load(folder).orElseThrow();
            torch.manual_seed(99);
            saved = run.checkpoint.load(folder).orElseThrow();
            assertEquals(17, saved.step());
            try (DataLoader loader = run.settings.resume(saved.state()).open()) {
                assertEquals(straight.subList(17, 33), run.train(loader, 16));
            }
        }
    }

    @Test
    void anOlderCheckpointIsReplacedAndDamageIsFound() throws IOException {
        try (Run run = new Run(3); DataLoader loader = run.settings.open()) {
            assertEquals(Optional.empty(), run.checkpoint.load(folder));
            run.checkpoint.save(folder, 1, loader);
            run.checkpoint.save(folder, 2, loader);
            run.checkpoint.save(folder, 2, loader);
            Path file;
            try (var files = Files.walk(folder)) {
                List<Path> all = files.filter(each -> each.toString().endsWith(".pt")).toList();
                assertEquals(1, all.size());
                file = all.getFirst();
            }
            byte[] bytes = Files.readAllBytes(file);
            bytes[bytes.length / 2] ^= 1;
            Files.write(file, bytes);
            assertTrue(assertThrows(IOException.class, () -> run.checkpoint.load(folder)).getMessage()
                    .contains("has different content"));
        }
    }

    @Test
    void aCheckpointOfAnotherModelIsRefused() throws IOException {
        try (Run run = new Run(3); DataLoader loader = run.settings.open()) {
            run.checkpoint.save(folder, 1, loader);
        }
        try (Run other = new Run(5)) {
            String message = assertThrows(IOException.class, () -> other.checkpoint.load(folder)).getMessage();
            assertTrue(message.contains("linear.weight: found shape [3, 4], expected [5, 4]"), message);
        }
    }
}
