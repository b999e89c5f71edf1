// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.ReadMode;
import io.penstock.store.TokenStore;
import io.penstock.testing.Digests;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A process that trains on a cold file as it is told, a line of its standard input at a time, and answers each with a
 * line: {@code open} makes the loader; {@code collect} asks for a garbage collection, and so for a safepoint;
 * {@code next} takes a batch and gives a digest of it.
 */
final class ColdTrainer {

    static final int WINDOW_TOKENS = 2048;
    static final int BATCH = 4;
    static final long SEED = 5;

    private ColdTrainer() {
    }

    /** {@code FILE MODE READ_AHEAD_BYTES}; -1 bytes for the default. */
    public static void main(String[] args) throws Exception {
        long readAhead = Long.parseLong(args[2]);
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (TokenStore store = TokenStore.open(Path.of(args[0]), "nanogpt")) {
            store.fingerprint();
            DataLoaderBuilder settings = DataLoader.builder(TokenWindows.withoutLabels(store, WINDOW_TOKENS,
                    WINDOW_TOKENS))
                    .collator(CausalLm.narrow()).batchSize(BATCH).shuffle(SEED).readMode(ReadMode.of(args[1]))
                    .workers(1).prefetch(1);
            if (readAhead >= 0) {
                settings.readAhead(readAhead);
            }
            DataLoader loader = null;
            System.out.println("ready");
            for (String command = commands.readLine(); command != null; command = commands.readLine()) {
                switch (command) {
                    case "open" -> loader = settings.open();
                    case "collect" -> System.gc();
                    default -> {
                        try (Batch batch = loader.next()) {
                            command = Digests.of(batch.tensor(TokenWindows.TOKENS).segment());
                        }
                    }
                }
                System.out.println(command);
            }
            if (loader != null) {
                loader.close();
            }
        }
    }
}
