package io.penstock.dataset;

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
        this.blocks = PrefixSums.of(countWindows());
        this.fields = List.of(new TensorSpec(TokenWindows.TOKENS, store.dtype(), windowTokens));
    }

    /**
     * Creates windows with explicit settings.
     *
     * @param store the tokens; must stay open
     * @param length input tokens per window, at least 1
     * @param stride tokens between the starts of two windows of a document, at least 1
     * @param labels whether a window has one more token, the label of its last input token
     * @return the dataset; empty if no document is long enough
     * @throws IllegalArgumentException if length or stride is below 1
     */
    public static DocumentWindows of(TokenStore store, long length, long stride, boolean labels) {
        return new DocumentWindows(store, TokenWindows.checkWindow(length, stride, labels), stride);
    }

    private long[] countWindows() {
        long documents = store.documentCount();
        long[] before = new long[Math.toIntExact((documents + BLOCK_DOCUMENTS - 1) / BLOCK_DOCUMENTS + 1)];
        long windows = 0;
        for (long document = 0; document < documents; document++) {
            if (document % BLOCK_DOCUMENTS == 0) {
                before[(int) (document / BLOCK_DOCUMENTS)] = windows;
            }
            windows += windowsIn(document);
        }
        before[before.length - 1] = windows;
        return before;
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

    @Override
    public String fingerprint() {
        return "windows:tokens=" + windowTokens + ":stride=" + stride + ":within|" + store.fingerprint();
    }

    @Override
    public String toString() {
        return size() + " windows of " + windowTokens + " tokens within documents of " + store;
    }
}
