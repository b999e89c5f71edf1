package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.store.Store;
import java.nio.file.Path;

/**
 * A store that is open, seen as samples, and how they become batches.
 *
 * @param path where it is
 * @param kind the store's format
 * @param store what to close
 * @param dataset its samples
 * @param collator what makes batches of them
 * @param windowTokens the input tokens of a sample; 0 if samples are not of tokens
 */
record SampleSource(Path path, String kind, Store store, Dataset dataset, Collator collator, long windowTokens)
        implements AutoCloseable {

    boolean hasTokens() {
        return windowTokens > 0;
    }

    @Override
    public void close() {
        store.close();
    }
}
