// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.util.function.LongSupplier;

/**
 * What a cache of remote files does for a loader while that is open: fetches ahead what the loader will read, and
 * chooses by it what to drop. The loader begins its runs; the cache asks for their reads in a thread of its own.
 */
public interface FetchAhead extends AutoCloseable {

    /** Takes reads one by one. */
    @FunctionalInterface
    interface Taker {

        /**
         * Takes a read.
         *
         * @param file the file, which may be local
         * @param offset the first byte
         * @param bytes the number of bytes
         * @param step when it is read: the number that was asked for
         */
        void take(MappedFile file, long offset, long bytes, long step);
    }

    /** What a loader reads, whatever its runs: its start epoch. For one thread at a time. */
    interface Epoch {

        /** {@return the loader's name, which begins the names of its threads} */
        String name();

        /** {@return how many batches may be read at the same time} */
        int workers();

        /** {@return the clock by which the loader measures} */
        LongSupplier nanoTime();

        /** {@return the number of positions of the epoch, over all ranks} */
        long size();

        /**
         * Gives the reads of evenly spaced positions, numbered from 0 in the order of the epoch.
         *
         * @param wanted how many positions to give, about
         * @param taker takes the reads
         * @return how many positions were given
         */
        long sample(long wanted, Taker taker);
    }

    /** The batches of a run, by number from 0. For one thread at a time. */
    interface Run {

        /** {@return the number of the batch that a worker takes next; any thread may change it} */
        long claimed();

        /**
         * {@return whether the run has a batch of a number}
         *
         * @param number the number
         */
        boolean has(long number);

        /**
         * {@return the epoch of a batch}
         *
         * @param number the batch's number
         */
        long epochOf(long number);

        /**
         * Gives the reads of a batch; the step is the batch's number.
         *
         * @param number the batch's number
         * @param taker takes the reads
         */
        void locate(long number, Taker taker);
    }

    /**
     * What a cache has fetched in this process.
     *
     * @param bytes the bytes of its blocks
     * @param blocks their number
     * @param requests the requests for them: more, if some were sent again
     */
    record Fetched(long bytes, long blocks, long requests) {
    }

    /**
     * Fetches ahead for this run from now on, instead of the one before. Any thread may call this.
     *
     * @param run the run
     */
    void begin(Run run);

    /** {@return what the cache has fetched since this was opened, for whichever loader; any thread may ask} */
    Fetched fetched();

    /** Ends fetching ahead. Calling it again does nothing. */
    @Override
    void close();
}
