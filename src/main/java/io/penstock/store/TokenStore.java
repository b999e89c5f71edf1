package io.penstock.store;

import io.penstock.memory.DType;
import io.penstock.memory.Span;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A sequence of documents, each a sequence of tokens, stored one after another: the whole is one run of tokens that
 * positions count through from 0.
 *
 * <p>A store is immutable and may be read by any number of threads. It owns the mappings of its files: whoever opened
 * it closes it, when nobody reads.
 */
public non-sealed interface TokenStore extends Store {

    /**
     * Opens a store of whatever format it is in, and checks that it is whole.
     *
     * @param path a file of the store: Megatron's {@code .idx}, {@code .bin}, or both without the ending; an llm.c or
     *     raw {@code .bin}; datatrove's {@code .ds}
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of tokens, or its files are not as it
     *     says
     * @throws IOException if there is no such file, or it cannot be read
     */
    static TokenStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store of a format that is known, whatever its content and name look like.
     *
     * @param path a file of the store, as for {@link #open(Path)}
     * @param format its format
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if its files are not as the format says
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if the format is not one of tokens
     */
    static TokenStore open(Path path, StoreFormat format) throws IOException {
        return open(path, OpenOptions.as(format));
    }

    /**
     * Opens a store of a format and a token type that are known; raw files do not say theirs.
     *
     * @param path a file of the store, as for {@link #open(Path)}
     * @param format its format
     * @param dtype the type of its tokens
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if its files are not as the format says, or hold tokens of another type
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if tokens are never stored in that type, or the format is not one of tokens
     */
    static TokenStore open(Path path, StoreFormat format, DType dtype) throws IOException {
        return open(path, OpenOptions.as(format).withDType(dtype));
    }

    /**
     * Opens a store of which something is known that its files do not say.
     *
     * @param path a file of the store, as for {@link #open(Path)}
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of tokens, or its files are not as it
     *     says or as was told
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if tokens are never stored in the type that was told, or the format that was
     *     told is not one of tokens
     */
    static TokenStore open(Path path, OpenOptions options) throws IOException {
        StoreFormat format = options.format() == null ? StoreFormat.recognize(path) : options.format();
        if (!format.isTokens()) {
            if (options.format() != null) {
                throw new IllegalArgumentException(format + " is not a format of tokens");
            }
            throw new MalformedStoreException(path, "a store in the format " + format, "a store of tokens (this opens"
                    + " by Store.open)");
        }
        return (TokenStore) Store.open(path, options.withFormat(format));
    }

    /**
     * The element type that tokens are stored in: {@code u8}, {@code u16}, {@code u32}, {@code i8}, {@code i16},
     * {@code i32} or {@code i64}. A Megatron store may hold {@code f32} or {@code f64} elements as well.
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
     * The number of documents. A format that keeps no documents is one document, or none if it has no token.
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
}
