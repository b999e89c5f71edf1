// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.abort;

import io.penstock.dataset.TokenWindows;
import io.penstock.sampling.Permutation;
import io.penstock.state.LoaderState;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store of 10^12 samples: a sparse file of 2 TB. */
class HugeStoreTest {

    private static final long SAMPLES = 1_000_000_000_000L;
    private static final int LENGTH = 16;

    @TempDir
    Path folder;

    private Path sparse() throws IOException {
        Path file = folder.resolve("sparse.bin");
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(2 * (SAMPLES + LENGTH));
        } catch (IOException e) {
            abort("this file system holds no sparse file of 2 TB: " + e.getMessage());
        }
        return file;
    }

    @Test
    void aTrillionSamplesShuffleAndResumeAnywhereAtOnce() throws IOException {
        Path file = sparse();
        var random = new SplittableRandom(8);
        try (TokenStore store = TokenStore.open(file, "nanogpt")) {
            TokenWindows windows = TokenWindows.of(store, LENGTH, 1);
            assertEquals(SAMPLES, windows.size());
            for (int i = 0; i < 10; i++) {
                long position = random.nextLong(SAMPLES - 100);
                long epoch = random.nextLong(1_000);
                List<Long> expected = new ArrayList<>();
                var order = new Permutation(SAMPLES, 42, epoch);
                for (int s = 0; s < 40; s++) {
                    expected.add(order.at(position + s));
                }
                // What goes through the samples before would take days.
                assertEquals(expected, assertTimeoutPreemptively(Duration.ofMinutes(10),
                        () -> resume(windows, epoch, position)));
            }
        }
    }

    private static List<Long> resume(TokenWindows windows, long epoch, long position) {
        LoaderState start;
        try (DataLoader loader = DataLoader.builder(windows).shuffle(42).open()) {
            start = loader.state();
        }
        var state = new LoaderState(epoch, position, start.seed(), start.sampler(), start.dataset());
        List<Long> given = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(windows).batchSize(8).shuffle(42).workers(2).resume(state).open()) {
            for (int b = 0; b < 5; b++) {
                try (Batch batch = loader.next()) {
                    for (int row = 0; row < batch.count(); row++) {
                        given.add(batch.sample(row));
                    }
                }
            }
        }
        return given;
    }
}
