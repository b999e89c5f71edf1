// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The documents of a token store as samples with one field, {@code tokens} of shape {@code [*]}, truncated to a given
 * number of tokens. An empty document is an empty sample.
 */
public final class Documents implements Dataset {

    private final TokenStore store;
    private final long maxTokens;
    private final List<TensorSpec> fields;
    private final MaxLengths maxLengths = new MaxLengths();

    private Documents(TokenStore store, long maxTokens) {
        this.store = store;
        this.maxTokens = maxTokens;
        this.fields = List.of(new TensorSpec(store.content().fieldName(), store.dtype(), TensorSpec.VARIABLE));
    }

    /**
     * Creates samples of whole documents.
     *
     * @param store the tokens; must stay open
     * @return the dataset
     */
    public static Documents of(TokenStore store) {
        return of(store, Long.MAX_VALUE);
    }

    /**
     * Creates samples of documents truncated to a limit.
     *
     * @param store the tokens; must stay open
     * @param maxTokens the most tokens of a document, at least 1
     * @return the dataset
     */
    public static Documents of(TokenStore store, long maxTokens) {
        if (maxTokens < 1) {
            throw new IllegalArgumentException("documents cut to " + maxTokens + " tokens: at least 1 is needed");
        }
        return new Documents(store, maxTokens);
    }

    @Override
    public long size() {
        return store.documentCount();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return store.documentsAreRuns()
                ? FieldSource.stored((sample, into) -> store.locate(start(sample), length(sample), into))
                : new FieldSource.InParts(sample -> store.parts(start(sample), length(sample)),
                (sample, part, into) -> store.locatePart(start(sample), length(sample), part, into));
    }

    private long start(long sample) {
        checkDocument(sample);
        return store.documentStart(sample);
    }

    @Override
    public long maxLength(int field) {
        return maxLengths.of(field, () -> LongStream.range(0, size()).map(this::length).max().orElse(0));
    }

    /**
     * {@return a document's length after truncation, for samplers and batches by length}
     *
     * @param document the document's index
     * @throws IndexOutOfBoundsException if the document does not exist
     */
    public long length(long document) {
        checkDocument(document);
        return Math.min(maxTokens, store.documentStart(document + 1) - store.documentStart(document));
    }

    private void checkDocument(long document) {
        if (document < 0 || document >= size()) {
            throw new IndexOutOfBoundsException("document " + document + " of " + size());
        }
    }

    @Override
    public String fingerprint() {
        return "documents:max=" + maxTokens + "|" + store.fingerprint();
    }

    @Override
    public String toString() {
        return size() + " documents of " + store;
    }
}
