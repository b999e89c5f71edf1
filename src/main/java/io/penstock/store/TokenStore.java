package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.Span;

/**
 * A sequence of documents, each a sequence of tokens, stored one after another: the whole is one run of tokens that
 * positions count through from 0.
 *
 * <p>A store is immutable and may be read by any number of threads. It owns the mappings of its files: whoever opened
 * it closes it, when nobody reads.
 */
public interface TokenStore extends AutoCloseable {

    /**
     * The element type that tokens are stored in: {@code u8}, {@code u16}, {@code u32}, {@code i8}, {@code i16},
     * {@code i32} or {@code i64}.
     *
     * @return the dtype
     */
    DType dtype();

    /**
     * Tokens in all documents together.
     *
     * @return the count
     */
    long tokenCount();

    /**
     * The number of documents. A format that keeps no documents is one document.
     *
     * @return the count
     */
    long documentCount();

    /**
     * Where a document starts; document {@code d} is the tokens from {@code documentStart(d)} to
     * {@code documentStart(d + 1)}.
     *
     * @param document from 0 to {@link #documentCount()}, which gives {@link #tokenCount()}
     * @return the position of its first token
     * @throws IndexOutOfBoundsException if there is no such document
     */
    long documentStart(long document);

    /**
     * Points at a run of tokens.
     *
     * @param firstToken the position of its first token
     * @param tokens how many
     * @param into set to the run's bytes, little-endian
     * @throws IndexOutOfBoundsException if the run is not within the store; names the store and both ends
     */
    void locate(long firstToken, long tokens, Span into);

    /**
     * A short text that changes when the store's content does: what a saved state compares.
     *
     * @return the fingerprint; made from the sizes, the dtype and a sample of the content
     */
    String fingerprint();

    /** Unmaps the files. Calling it again does nothing. */
    @Override
    void close();
}
