package io.penstock.loader;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.memory.ReadMode;
import io.penstock.store.StoreFormat;
import io.penstock.store.TokenStore;
import io.penstock.testing.Digests;
import java.nio.file.Path;

/**
 * A process that trains on a cold file: takes batches for some seconds, and asks for a garbage collection, and so for a
 * safepoint, all the while. Says how many batches it took and a digest of the first one.
 */
final class ColdTrainer {

    static final int WINDOW_TOKENS = 2048;
    static final int BATCH = 4;
    static final long SEED = 5;

    private ColdTrainer() {
    }

    /** {@code FILE MODE READ_AHEAD_BYTES WORKERS SECONDS}; -1 bytes for the default. */
    public static void main(String[] args) throws Exception {
        long readAhead = Long.parseLong(args[2]);
        double seconds = Double.parseDouble(args[4]);
        try (TokenStore store = TokenStore.open(Path.of(args[0]), StoreFormat.NANOGPT)) {
            DataLoaderBuilder settings = DataLoader.of(TokenWindows.of(store, WINDOW_TOKENS, WINDOW_TOKENS, false))
                    .collator(CausalLm.narrow()).batchSize(BATCH).shuffle(SEED).readMode(ReadMode.of(args[1]))
                    .workers(Integer.parseInt(args[3])).prefetch(1);
            if (readAhead >= 0) {
                settings.readAhead(readAhead);
            }
            Thread collector = Thread.ofPlatform().daemon().start(ColdTrainer::collect);
            try (DataLoader loader = settings.open()) {
                long batches = 0;
                String digest = "";
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < seconds * 1e9) {
                    try (Batch batch = loader.next()) {
                        if (batches++ == 0) {
                            digest = Digests.of(batch.tensor(TokenWindows.TOKENS).segment());
                        }
                    }
                }
                System.out.println("batches " + batches + " " + digest);
            }
            collector.interrupt();
            collector.join();
        }
    }

    private static void collect() {
        try {
            while (true) {
                System.gc();
                Thread.sleep(5);
            }
        } catch (InterruptedException _) {
            // Enough.
        }
    }
}
