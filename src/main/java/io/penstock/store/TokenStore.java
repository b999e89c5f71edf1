package io.penstock.store;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A sequence of documents, each a sequence of tokens: positions count through all of them, from 0. As a rule tokens lie
 * in the file in that order, one behind the other. In some stores they lie in pieces: {@link #isOneRun} says so.
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
     * @param format the name of its format, for example {@code nanogpt}
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if its files are not as the format says
     * @throws IOException if there is no such file, or it cannot be read
     * @throws IllegalArgumentException if there is no such format, or it is not one of tokens
     */
    static TokenStore open(Path path, String format) throws IOException {
        return open(path, OpenOptions.DEFAULT.withFormat(format));
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
        return open(Location.of(path), options);
    }

    /**
     * Opens a store wherever it is, of which something may be known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
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
     * Whether all tokens lie one behind the other, in the order of their positions.
     *
     * @return true if so: then any tokens are one piece
     */
    default boolean isOneRun() {
        return true;
    }

    /**
     * Whether the tokens of each document lie one behind the other; documents may lie anywhere.
     *
     * @return true if so: then any tokens of one document are one piece
     */
    default boolean documentsAreRuns() {
        return true;
    }

    /**
     * Points at tokens that lie together.
     *
     * @param firstToken the position of the first one
     * @param tokens how many
     * @param into set to their bytes, little-endian
     * @throws IndexOutOfBoundsException if they are not within the store; names the store and both ends
     * @throws UnsupportedOperationException if they lie in several {@link #parts}
     */
    void locate(long firstToken, long tokens, Span into);

    /**
     * The pieces that tokens lie in.
     *
     * @param firstToken the position of the first token
     * @param tokens how many
     * @return the count; 1 if they lie together
     * @throws IndexOutOfBoundsException if they are not within the store
     */
    default int parts(long firstToken, long tokens) {
        return 1;
    }

    /**
     * Points at one of the pieces that tokens lie in, which together are the tokens in their order.
     *
     * @param firstToken the position of the first token
     * @param tokens how many
     * @param part from 0 up to, not including, {@link #parts}
     * @param into set to the piece's bytes, little-endian; they may be none
     * @throws IndexOutOfBoundsException if they are not within the store, or there is no such piece
     */
    default void locatePart(long firstToken, long tokens, int part, Span into) {
        Objects.checkIndex(part, 1);
        locate(firstToken, tokens, into);
    }
}
