// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.internal.PrefixSums;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import java.util.List;

/**
 * Windows of a fixed length within documents: {@link TokenWindows} of each document. A document shorter than a window
 * gives none.
 *
 * <p>To find a window's document, the running window count is kept for every {@value #BLOCK_DOCUMENTS}th document and
 * the documents between are counted: 8 bytes of heap per block, built in one pass over the store's index. Specified in
 * {@code docs/spec/windows.md}.
 */
public final class DocumentWindows implements Dataset {

    private static final int BLOCK_DOCUMENTS = 128;

    private final TokenStore store;
    private final long windowTokens;
    private final long stride;
    /** The windows of each block of documents. */
    private final PrefixSums blocks;
    private final List<TensorSpec> fields;

    private DocumentWindows(TokenStore store, long windowTokens, long stride) {
        this.store = store;
        this.windowTokens = windowTokens;
        this.stride = stride;
        this.blocks = PrefixSums.ofLengths(
                Math.toIntExact(Math.ceilDiv(store.documentCount(), (long) BLOCK_DOCUMENTS)), this::windowsInBlock);
        this.fields = List.of(new TensorSpec(TokenWindows.fieldOf(store), store.dtype(), windowTokens));
    }

    /**
     * Creates windows of {@code length + 1} tokens: inputs, and labels shifted by one.
     *
     * @param store the tokens; must stay open
     * @param length input tokens per window, at least 1
     * @param stride tokens between the starts of two windows of a document, at least 1
     * @return the dataset; empty if no document is long enough
     * @throws IllegalArgumentException if length or stride is below 1
     */
    public static DocumentWindows of(TokenStore store, long length, long stride) {
        return new DocumentWindows(store, TokenWindows.checkWindow(length, stride) + 1, stride);
    }

    /**
     * Creates windows of {@code length} tokens, without the label of the last one.
     *
     * @param store the tokens; must stay open
     * @param length tokens per window, at least 1
     * @param stride tokens between the starts of two windows of a document, at least 1
     * @return the dataset; empty if no document is long enough
     * @throws IllegalArgumentException if length or stride is below 1
     */
    public static DocumentWindows withoutLabels(TokenStore store, long length, long stride) {
        return new DocumentWindows(store, TokenWindows.checkWindow(length, stride), stride);
    }

    private long windowsInBlock(int block) {
        long first = (long) block * BLOCK_DOCUMENTS;
        long windows = 0;
        for (long document = first; document < Math.min(store.documentCount(), first + BLOCK_DOCUMENTS); document++) {
            windows += windowsIn(document);
        }
        return windows;
    }

    private long windowsIn(long document) {
        return TokenWindows.count(store.documentStart(document + 1) - store.documentStart(document),
                windowTokens, stride);
    }

    @Override
    public long size() {
        return blocks.total();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return store.documentsAreRuns()
                ? FieldSource.stored((sample, into) -> store.locate(firstToken(sample), windowTokens, into))
                : new FieldSource.InParts(sample -> store.parts(firstToken(sample), windowTokens),
                (sample, part, into) -> store.locatePart(firstToken(sample), windowTokens, part, into));
    }

    private long firstToken(long sample) {
        if (sample < 0 || sample >= size()) {
            throw new IndexOutOfBoundsException("window " + sample + " of " + size());
        }
        int block = blocks.runOf(sample);
        long rest = sample - blocks.start(block);
        long document = (long) block * BLOCK_DOCUMENTS;
        for (long windows = windowsIn(document); rest >= windows; windows = windowsIn(++document)) {
            rest -= windows;
        }
        return store.documentStart(document) + rest * stride;
    }

    /** Returns the number of the window's document, so that a split keeps the windows of a document together. */
    @Override
    public String key(long sample) {
        long token = firstToken(sample);
        long document = 0;
        for (long beyond = store.documentCount(); document + 1 < beyond;) {
            long middle = (document + beyond) >>> 1;
            if (store.documentStart(middle) <= token) {
                document = middle;
            } else {
                beyond = middle;
            }
        }
        return Long.toString(document);
    }

    @Override
    public String fingerprint() {
        return "windows:tokens=" + windowTokens + ":stride=" + stride + ":within|" + store.fingerprint();
    }

    @Override
    public String toString() {
        return size() + " windows of " + windowTokens + " tokens within documents of " + store;
    }
}
