// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** The embedding example of the README and of docs/start.md: what stands between the markers stands there too. */
final class TenLines {

    private final Path path;
    private final Consumer<Batch> step;

    TenLines(Path path, Consumer<Batch> step) {
        this.path = path;
        this.step = step;
    }

    void run() throws IOException {
        // begin
        try (TokenStore store = TokenStore.open(path);
                Device device = Device.best();
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 128))
                        .collator(CausalLm.widened(DType.I64)).batchSize(16).shuffle(42).device(device).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    train(batch);
                }
            }
        }
        // end
    }

    private void train(Batch batch) {
        step.accept(batch);
    }
}
