// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.UncheckedIOException;

/**
 * Fetches the bytes of a remote file into its sparse local copy. Thread-safe; a range that several threads request is
 * fetched once. Fetched bytes stay until {@link #close}.
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
     * @throws UncheckedIOException if the fetch fails or the file was replaced; names the file
     */
    void fetch(long offset, long bytes);

    /**
     * Starts fetching the missing bytes of a range that will be read soon, without waiting.
     *
     * @param offset the first byte
     * @param bytes the number of bytes
     */
    void prefetch(long offset, long bytes);

    /** Ends fetching: the file is no longer read. */
    @Override
    void close();
}
