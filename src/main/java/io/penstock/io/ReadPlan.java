// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;

/**
 * What will be read of remote files, and when. By it, their cache fetches ahead and chooses what to drop: that which is
 * read last. A step is the number of a batch.
 *
 * <p>Reads of files of another cache are ignored. For one thread.
 */
public interface ReadPlan extends AutoCloseable {

    /**
     * Adds a read of the present epoch.
     *
     * @param file the file
     * @param offset the first byte
     * @param bytes the number of bytes
     * @param step when; not before that of an earlier call
     */
    void add(RangeFetcher file, long offset, long bytes, long step);

    /**
     * Begins the next epoch. Two epochs are remembered: the one before the last must be over.
     *
     * @param step the epoch's first step
     */
    void epoch(long step);

    /** {@return whether all files with planned reads fit in the cache together} */
    boolean fits();

    /** {@return whether nothing of the files with planned reads is missing} */
    boolean isComplete();

    /** {@return how many blocks the files with planned reads have} */
    long blocks();

    /**
     * Fails if the cache is smaller than what one epoch's order reads by turns, so that most of it would be fetched
     * again and again. The reads added so far are a sample of that epoch.
     *
     * @param times how many reads of the epoch each of these stands for
     * @throws IllegalArgumentException if it is; names the size that is needed and the bytes that an epoch would fetch
     */
    void check(double times);

    /** Forgets all reads. */
    void clear();

    /** Plans reads of all files so far in every step: they fit, and are not to make room for what is read later. */
    void addAll();

    /**
     * Starts fetching what is missing of a planned read.
     *
     * @param file the file
     * @param offset the first byte
     * @param bytes the number of bytes
     * @param step when it will be read
     * @return false if some of it has to wait: too much is being fetched, or the cache is full of what is read before
     * @throws IOException if the cache cannot be read
     */
    boolean fetchAhead(RangeFetcher file, long offset, long bytes, long step) throws IOException;

    /**
     * Says what has been read.
     *
     * @param step the first step that may still be read
     */
    void reached(long step);

    /** {@return how long fetches have taken lately, on average; 0 if nothing was fetched yet} */
    long latencyNanos();

    /**
     * What the cache has fetched in this process.
     *
     * @param bytes the bytes of its blocks
     * @param blocks their number
     * @param requests the requests for them: more, if some were sent again
     */
    record Fetched(long bytes, long blocks, long requests) {
    }

    /** {@return what the cache has fetched so far, for whichever plan; any thread may ask} */
    Fetched fetched();

    /** Ends the plan. */
    @Override
    void close();
}
