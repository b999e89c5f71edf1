// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store and a loader that reads it, closed in the wrong order. */
class StoreClosedTest {

    @TempDir
    private Path folder;

    private TokenStore open() throws IOException {
        return TokenStore.open(Corpora.rawU16(folder, 10_000, 1), "nanogpt");
    }

    private static DataLoader open(TokenStore store, String name, int workers) {
        return DataLoader.builder(TokenWindows.of(store, 64)).batchSize(4).workers(workers).name(name).open();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aStoreIsNotClosedWhileALoaderReadsItAndSaysWhich(int workers) throws IOException {
        TokenStore store = open();
        DataLoader validation = open(store, "validation", workers);
        validation.next().close();
        try (DataLoader loader = open(store, "train", workers)) {
            loader.next().close();
            validation.close();
            IllegalStateException refused = assertThrows(IllegalStateException.class, store::close);
            assertTrue(refused.getMessage().contains("cannot be closed while loader train reads it"),
                    refused.getMessage());
            assertTrue(refused.getMessage().contains(folder.toString()), refused.getMessage());
            try (Batch batch = loader.next()) {
                assertEquals(1, batch.number());
            }
        }
        store.close();
        store.close();
    }

    /** Without workers, nothing was read before the first batch is asked for: the store cannot know of the loader. */
    @Test
    void aReadOfAStoreThatWasClosedNamesItsFile() throws IOException {
        TokenStore store = open();
        try (DataLoader loader = open(store, "train", 0)) {
            store.close();
            for (int i = 0; i < 2; i++) {
                String message = assertThrows(BatchException.class, loader::next).getMessage();
                assertTrue(message.contains(folder.toString()) && message.contains("close the loader before the store"),
                        message);
            }
        }
    }
}
