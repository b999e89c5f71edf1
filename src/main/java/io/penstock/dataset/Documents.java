package io.penstock.dataset;

import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import java.util.List;

/**
 * The documents of a token store, one a sample: its one field is {@code tokens}, of shape {@code [*]}, cut to at most
 * a given number of tokens. An empty document is a sample of no tokens.
 */
public final class Documents implements Dataset {

    private final TokenStore store;
    private final long maxTokens;
    private final List<TensorSpec> fields;
    /** The greatest length found, or -1 before it was looked for; any thread may find it, all find the same. */
    private volatile long longest = -1;

    private Documents(TokenStore store, long maxTokens) {
        this.store = store;
        this.maxTokens = maxTokens;
        this.fields = List.of(new TensorSpec(TokenWindows.TOKENS, store.dtype(), TensorSpec.VARIABLE));
    }

    /**
     * Whole documents.
     *
     * @param store the tokens; must stay open
     * @return the dataset
     */
    public static Documents of(TokenStore store) {
        return of(store, Long.MAX_VALUE);
    }

    /**
     * Documents, cut where they are longer than a limit.
     *
     * @param store the tokens; must stay open
     * @param maxTokens the first tokens of a document to keep, at least 1
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
        if (longest < 0) {
            long found = 0;
            for (long document = 0; document < size(); document++) {
                found = Math.max(found, length(document));
            }
            longest = found;
        }
        return longest;
    }

    /**
     * The tokens of a document that are kept: what samplers and batches by length want.
     *
     * @param document the document's index
     * @return its length, at most the limit
     * @throws IndexOutOfBoundsException if there is no such document
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
