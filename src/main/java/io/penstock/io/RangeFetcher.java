package io.penstock.io;

import java.io.UncheckedIOException;

/**
 * Brings the bytes of a remote file into the sparse local file that is mapped in its stead. Any number of threads may
 * call; a range that several ask for is fetched once. What is there stays there until {@link #close}.
 */
public interface RangeFetcher extends AutoCloseable {

    /**
     * Whether all bytes of a range are there.
     *
     * @param offset the first byte
     * @param bytes how many
     * @return true if none is missing
     */
    boolean isPresent(long offset, long bytes);

    /**
     * Fetches what is missing of a range, and returns when all of it is there. Called before each read: a range that is
     * there must cost little, and nothing on the heap.
     *
     * @param offset the first byte
     * @param bytes how many
     * @throws UncheckedIOException if it cannot be fetched, or the file was replaced; names the file
     */
    void fetch(long offset, long bytes);

    /**
     * Begins to fetch what is missing of a range, which will be read soon. Does not wait for it.
     *
     * @param offset the first byte
     * @param bytes how many
     */
    void prefetch(long offset, long bytes);

    /** The file is not read any more. */
    @Override
    void close();
}
