package io.penstock.cli;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.store.StoreInfo;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.nio.file.Path;

/**
 * A store that is open, seen as samples, and how they become batches.
 *
 * @param path where it is
 * @param store what to close
 * @param dataset its samples
 * @param collator what makes batches of them
 * @param windowTokens the input tokens of a sample; 0 if samples are not of tokens
 */
record SampleSource(Path path, AutoCloseable store, Dataset dataset, Collator collator, long windowTokens)
        implements AutoCloseable {

    boolean hasTokens() {
        return windowTokens > 0;
    }

    /** The store's format. */
    String kind() {
        return ((StoreInfo.Source) store).info().kind();
    }

    @Override
    public void close() {
        switch (store) {
            case TokenStore tokens -> tokens.close();
            case TensorStore tensors -> tensors.close();
            default -> throw new AssertionError(store);
        }
    }
}
