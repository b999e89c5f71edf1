// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * Where the bytes of a mapped file come from. Those of a local file are all present; those of a remote file are fetched
 * into its sparse local copy. Thread-safe; a range that several threads request is fetched once.
 *
 * <p>A fetcher may drop fetched bytes to make room, unless they are {@linkplain #keep kept}. Read {@link #drops} before
 * fetching and again after copying; if it changed, the bytes may be stale: fetch again.
 */
public interface RangeFetcher extends AutoCloseable {

    /**
     * {@return whether all bytes of a range are present}
     *
     * @param offset the first byte
     * @param bytes the number of bytes
     */
    boolean isPresent(long offset, long bytes);

    /**
     * Fetches the missing bytes of a range and waits for them. Called before each read: if all are present, it must be
     * cheap and allocate nothing.
     *
     * @param offset the first byte
     * @param bytes the number of bytes
     * @param waits the time that this takes is added to them
     * @throws UncheckedIOException if the fetch fails or the file was replaced; names the file
     */
    void fetch(long offset, long bytes, FetchWaits waits);

    /**
     * Fetches the missing bytes of a range, as {@link #fetch} does; they stay until {@link #close}.
     *
     * @param offset the first byte
     * @param bytes the number of bytes
     * @throws UncheckedIOException if the fetch fails or the file was replaced; names the file
     */
    default void keep(long offset, long bytes) {
        fetch(offset, bytes, new FetchWaits());
    }

    /** {@return a number that has changed before fetched bytes are dropped; constant if they stay} */
    default long drops() {
        return 0;
    }

    /**
     * {@return whether all bytes of the file are present as long as {@link #drops} is a number} Then no range need be
     * fetched. Cheap; it may be false although they are.
     *
     * @param drops what {@link #drops} has just returned
     */
    default boolean isWhole(long drops) {
        return false;
    }

    /**
     * Starts fetching the missing bytes of a range that will be read soon, without waiting.
     *
     * @param offset the first byte
     * @param bytes the number of bytes
     */
    void prefetch(long offset, long bytes);

    /** {@return the most bytes to fetch before they are read: what is more could be dropped unread} */
    default long mostAhead() {
        return Long.MAX_VALUE;
    }

    /**
     * {@return what fetches this file and others of its cache ahead for a loader, to be closed by the caller; empty if
     * nothing does}
     *
     * @param epoch what the loader will read
     * @throws IllegalArgumentException if the cache is too small for the order; names the size that is needed
     * @throws IOException if the cache cannot be written
     */
    default Optional<FetchAhead> fetchAhead(FetchAhead.Epoch epoch) throws IOException {
        return Optional.empty();
    }

    /** Ends fetching: the file is no longer read. */
    @Override
    void close();
}
