// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A sequence of documents of tokens. Token positions count from 0 through all documents. Most stores keep the tokens
 * contiguous in that order; others keep them in pieces ({@link #isOneRun}).
 *
 * <p>A store is immutable; any number of threads may read it. It owns the mappings of its files: the opener closes it
 * after the last read.
 */
public non-sealed interface TokenStore extends Store {

    /**
     * Detects the format of a store, opens it and validates it.
     *
     * @param path a file of the store: Megatron's {@code .idx}, {@code .bin} or their common prefix; an llm.c or raw
     *     {@code .bin}; datatrove's {@code .ds}
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static TokenStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store in a named format, without detection.
     *
     * @param path a file of the store, as for {@link #open(Path)}
     * @param format the format's name, for example {@code nanogpt}
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     * @throws IllegalArgumentException if the format does not exist or is not a token format
     */
    static TokenStore open(Path path, String format) throws IOException {
        return open(path, OpenOptions.DEFAULT.withFormat(format));
    }

    /**
     * Opens a store with options, for what its files do not declare.
     *
     * @param path a file of the store, as for {@link #open(Path)}
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if no format is detected, it is not a token format, or the files violate it or
     *     contradict the options
     * @throws IOException if the file is missing or cannot be read
     * @throws IllegalArgumentException if the given dtype is no token type, or the given format is no token format
     */
    static TokenStore open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store at any location.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static TokenStore open(Location path, OpenOptions options) throws IOException {
        StoreProvider format = StoreFormats.of(path, options);
        if (!format.isTokens()) {
            if (options.format() != null) {
                throw new IllegalArgumentException(format.name() + " is not a format of tokens");
            }
            throw new MalformedStoreException(path, "a store in the format " + format.name(),
                    "a store of tokens (this opens by Store.open)");
        }
        return (TokenStore) StoreFormats.open(format, path, options);
    }

    /**
     * {@return the stored element type: {@code u8}, {@code u16}, {@code u32}, {@code i8}, {@code i16}, {@code i32} or
     * {@code i64}} Megatron stores may also hold {@code f32} or {@code f64}.
     */
    DType dtype();

    /** {@return what the numbers are; by default ids} Datasets name their field after it. */
    default TokenContent content() {
        return TokenContent.TOKENS;
    }

    /** {@return the number of tokens in all documents} */
    long tokenCount();

    /**
     * {@return the number of documents} A store without document bounds is one document, or none if it has no tokens.
     */
    long documentCount();

    /**
     * {@return the position of a document's first token; the document ends where the next one starts}
     *
     * @param document from 0 to {@link #documentCount()}; the latter returns {@link #tokenCount()}
     * @throws IndexOutOfBoundsException if the document does not exist
     */
    long documentStart(long document);

    /** {@return whether all tokens are contiguous, in the order of their positions} */
    default boolean isOneRun() {
        return true;
    }

    /** {@return whether the tokens of each document are contiguous; the documents themselves need not be} */
    default boolean documentsAreRuns() {
        return true;
    }

    /**
     * Locates contiguous tokens.
     *
     * @param firstToken the position of the first token
     * @param tokens the number of tokens
     * @param into receives their bytes, little-endian
     * @throws IndexOutOfBoundsException if they are outside the store; names the store and both ends
     * @throws UnsupportedOperationException if they are in several {@link #parts}
     */
    void locate(long firstToken, long tokens, Span into);

    /**
     * {@return the number of pieces that a range of tokens is in; 1 if they are contiguous}
     *
     * @param firstToken the position of the first token
     * @param tokens the number of tokens
     * @throws IndexOutOfBoundsException if they are outside the store
     */
    default int parts(long firstToken, long tokens) {
        return 1;
    }

    /**
     * Locates one piece of a range of tokens; the pieces in order are the range.
     *
     * @param firstToken the position of the first token
     * @param tokens the number of tokens
     * @param part from 0 up to, not including, {@link #parts}
     * @param into receives the piece's bytes, little-endian; may be empty
     * @throws IndexOutOfBoundsException if they are outside the store, or the piece does not exist
     */
    default void locatePart(long firstToken, long tokens, int part, Span into) {
        Objects.checkIndex(part, 1);
        locate(firstToken, tokens, into);
    }
}
