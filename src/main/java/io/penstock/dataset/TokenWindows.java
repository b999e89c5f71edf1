// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.util.List;

/**
 * Windows of a fixed length over the tokens of a store: sample {@code i} is the tokens from {@code i * stride}, and its
 * one field is {@code tokens}, of shape {@code [length + 1]} if the window has the label of its last token, else
 * {@code [length]}.
 *
 * <p>Windows cross document bounds, as nanoGPT's do; those of {@link DocumentWindows} do not. With
 * {@code stride == length}, the default, every token is input once; a stride of 1 gives every window. Tokens after the
 * last full window are dropped. Specified in {@code docs/spec/windows.md}.
 */
public final class TokenWindows implements Dataset {

    /** The name of the field of token datasets. */
    public static final String TOKENS = "tokens";
    /** The same in place of it, where negative tokens are {@linkplain TokenContent#MASKED_TOKENS complements}. */
    public static final String MASKED_TOKENS = "masked_tokens";

    private final TokenStore store;
    private final long windowTokens;
    private final long stride;
    private final long size;
    private final List<TensorSpec> fields;

    private TokenWindows(TokenStore store, long windowTokens, long stride) {
        this.store = store;
        this.windowTokens = windowTokens;
        this.stride = stride;
        this.size = count(store.tokenCount(), windowTokens, stride);
        this.fields = List.of(new TensorSpec(fieldOf(store), store.dtype(), windowTokens));
    }

    /**
     * Creates windows of {@code length + 1} tokens every {@code length} tokens: inputs, and labels shifted by one.
     *
     * @param store the tokens; must stay open
     * @param length input tokens per window, at least 1
     * @return the dataset; empty if the store is shorter than a window
     * @throws IllegalArgumentException if the length is below 1
     */
    public static TokenWindows of(TokenStore store, long length) {
        return of(store, length, length);
    }

    /**
     * Creates windows of {@code length + 1} tokens: inputs, and labels shifted by one.
     *
     * @param store the tokens; must stay open
     * @param length input tokens per window, at least 1
     * @param stride tokens between the starts of two windows, at least 1
     * @return the dataset; empty if the store is shorter than a window
     * @throws IllegalArgumentException if length or stride is below 1
     */
    public static TokenWindows of(TokenStore store, long length, long stride) {
        return new TokenWindows(store, checkWindow(length, stride) + 1, stride);
    }

    /**
     * Creates windows of {@code length} tokens, without the label of the last one.
     *
     * @param store the tokens; must stay open
     * @param length tokens per window, at least 1
     * @param stride tokens between the starts of two windows, at least 1
     * @return the dataset; empty if the store is shorter than a window
     * @throws IllegalArgumentException if length or stride is below 1
     */
    public static TokenWindows withoutLabels(TokenStore store, long length, long stride) {
        return new TokenWindows(store, checkWindow(length, stride), stride);
    }

    /** Checks the settings and returns the length. */
    static long checkWindow(long length, long stride) {
        if (length < 1 || length == Long.MAX_VALUE || stride < 1) {
            throw new IllegalArgumentException("windows of " + length + " tokens every " + stride
                    + ", expected 1 to 2^63 - 2 tokens, and 1 or more from start to start");
        }
        return length;
    }

    /** Returns the number of full windows in a run of tokens. */
    static long count(long tokens, long windowTokens, long stride) {
        return tokens < windowTokens ? 0 : (tokens - windowTokens) / stride + 1;
    }

    /** Returns the name of the field of windows; answers are not cut into any. */
    static String fieldOf(TokenStore store) {
        if (store.content() == TokenContent.ANSWERS) {
            throw new IllegalArgumentException("found windows of answers, expected whole documents of them");
        }
        return store.content().fieldName();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return store.isOneRun() ? new FieldSource.Stored(
                (sample, into) -> store.locate(firstToken(sample), windowTokens, into), rows())
                : new FieldSource.InParts(sample -> store.parts(firstToken(sample), windowTokens),
                (sample, part, into) -> store.locatePart(firstToken(sample), windowTokens, part, into));
    }

    private long firstToken(long sample) {
        if (sample < 0 || sample >= size) {
            throw new IndexOutOfBoundsException("window " + sample + " of " + size);
        }
        return sample * stride;
    }

    /** Returns the windows as rows of one contiguous run of tokens. */
    private Rows rows() {
        Span all = new Span();
        store.locate(0, store.tokenCount(), all);
        int tokenBytes = store.dtype().byteSize();
        return Rows.of(all, size < 2 ? 0 : stride * tokenBytes, windowTokens * tokenBytes, size);
    }

    @Override
    public String fingerprint() {
        return "windows:tokens=" + windowTokens + ":stride=" + stride + ":across|" + store.fingerprint();
    }

    @Override
    public String toString() {
        return size + " windows of " + windowTokens + " tokens of " + store;
    }
}
