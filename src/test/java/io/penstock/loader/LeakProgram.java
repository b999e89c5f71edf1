// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.TokenWindows;
import io.penstock.internal.Leak;
import io.penstock.store.TokenStore;
import io.penstock.testing.CapturedLog;
import java.io.IOException;
import java.nio.file.Path;

/** Drops a loader, a store and batches, and closes others. Run by {@link LeakTest}. */
public final class LeakProgram {

    private LeakProgram() {
    }

    /**
     * Prints nothing but what the log says.
     *
     * @param corpus a file of tokens
     * @throws Exception if it cannot be read
     */
    public static void main(String[] corpus) throws Exception {
        Path path = Path.of(corpus[0]);
        try (CapturedLog log = new CapturedLog(Leak.class.getName())) {
            useAndClose(path);
            for (int i = 0; i < 3; i++) {
                dropStore(path);
                dropLoader();
            }
            try (DataLoader loader = rows("kept").open()) {
                dropBatch(loader);
                while (log.lines().size() < 3) {            // the test limits how long this may take
                    System.gc();
                    Thread.sleep(1);
                }
                loader.next().close();
            }
            System.out.println("told: " + log.lines().size());
        }
        System.out.println("watching: " + !HeldMap.threads("penstock").isEmpty());
        System.exit(0);
    }

    private static DataLoaderBuilder rows(String name) {
        return DataLoader.builder(new ByteRows(100, 32)).batchSize(4).workers(2).prefetch(4).name(name);
    }

    private static void useAndClose(Path path) throws IOException {
        for (LeaseMode leases : LeaseMode.values()) {
            try (TokenStore store = TokenStore.open(path, "nanogpt");
                    DataLoader loader = DataLoader.builder(TokenWindows.of(store, 64)).batchSize(4).leases(leases)
                            .open()) {
                for (int i = 0; i < 20; i++) {
                    Batch batch = loader.next();
                    batch.tensor("tokens").getLong(batch.count() - 1);
                    batch.close();
                    batch.close();
                }
                try (Replay replay = loader.replay(); Batch again = replay.next()) {
                    again.tensor("tokens").getLong(0);
                }
            }
        }
    }

    private static void dropStore(Path path) throws IOException {
        TokenStore.open(path, "nanogpt");
    }

    private static void dropLoader() {
        rows("dropped").open();
    }

    private static void dropBatch(DataLoader loader) {
        loader.next();
    }
}
