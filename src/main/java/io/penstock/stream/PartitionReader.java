// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;

/** Reads one partition of a {@link StreamSource}, record by record. For one thread at a time. */
public interface PartitionReader extends AutoCloseable {

    /** What a call of {@link #poll} found. */
    enum Found {
        /** A record, which was added to the buffer. */
        RECORD,
        /** Nothing yet: more may come. */
        NOTHING_YET,
        /** The partition's end: nothing will come. */
        END
    }

    /**
     * What is known of a partition besides its records.
     *
     * @param behind what the partition has behind the last record that was given, in records, or in bytes where the
     *     source counts these; -1 if it does not know
     * @param newestMillis when the last record was written, in milliseconds since 1970; -1 if the source does not know
     * @param skipped records that were left out
     */
    record Lag(long behind, long newestMillis, long skipped) {

        /** Nothing is known. */
        public static final Lag UNKNOWN = new Lag(-1, -1, 0);
    }

    /**
     * Reads the next record, if there is one. It may wait for a moment, not longer.
     *
     * @param into receives the record
     * @return what was found
     * @throws IOException if reading fails; names the partition and the place
     */
    Found poll(RecordBuffer into) throws IOException;

    /**
     * Returns where the partition continues behind the last record that {@link #poll} gave. Must be quick: it may be
     * called for each record.
     *
     * @return a short text that only this source reads
     * @throws IOException if it cannot be told; names the partition
     */
    String cursor() throws IOException;

    /**
     * Makes sure that what {@link #poll} gave can be read again from its cursors, also after a power cut. Called once a
     * window, before a record of the window is given out. A source of sources passes it on to them.
     *
     * @throws IOException if the records cannot be kept; names the partition
     */
    default void keep() throws IOException {
    }

    /**
     * Returns whether the records that {@link #poll} gave depend on the end of something else, such as another source.
     * That may have more records when it is read again, so a run that resumes checks that the records are the same.
     * Called once a window. The partition's own end does not count.
     *
     * @return by default false
     */
    default boolean hasMetEnd() {
        return false;
    }

    /**
     * Returns how far the partition is behind its source. Called now and then by the thread that reads; must be quick.
     *
     * @return what is known; by default nothing
     */
    default Lag lag() {
        return Lag.UNKNOWN;
    }

    /** Closes what was opened. Calling it again does nothing. */
    @Override
    void close() throws IOException;
}
