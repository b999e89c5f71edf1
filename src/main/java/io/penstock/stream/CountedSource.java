// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.PenstockException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;

/**
 * One partition of records that are counted: a cursor is the number of those that were given.
 *
 * @param kind what the records come from, for the fingerprint
 * @param name identifies the records
 * @param isOnce whether they come only once
 * @param from gives the records from a number on
 */
record CountedSource(String kind, String name, boolean isOnce, LongFunction<Records> from) implements StreamSource {

    /** Gives records one by one. For one thread. */
    interface Records {

        PartitionReader.Found poll(RecordBuffer into) throws IOException;

        default void close() {
        }
    }

    /** Records of an iterator. */
    static Records records(Iterator<MemorySegment> records) {
        return into -> {
            if (!records.hasNext()) {
                return PartitionReader.Found.END;
            }
            MemorySegment record = records.next();
            into.add(record, 0, record.byteSize());
            return PartitionReader.Found.RECORD;
        };
    }

    CountedSource {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(from, "from");
    }

    /** Refuses a saved state of records that come only once: what it has read ahead is gone. */
    static void checkOnce(String name, String cursor) throws IOException {
        if (!cursor.isEmpty()) {
            throw new IOException(name + ": found a saved state, expected none: the records come only once; keep them"
                    + " in a SpoolSource to resume");
        }
    }

    @Override
    public String fingerprint() {
        return kind + ":" + name;
    }

    @Override
    public List<String> partitions() {
        return List.of(name);
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        if (isOnce) {
            checkOnce(name, cursor);
        }
        try {
            return new Reader(cursor.isEmpty() ? 0 : Long.parseLong(cursor));
        } catch (IllegalArgumentException e) {
            throw new IOException(name + ": cursor '" + cursor + "': " + e.getMessage(), e);
        }
    }

    private final class Reader implements PartitionReader {

        private final Records records;
        private long given;

        Reader(long first) {
            this.given = first;
            this.records = from.apply(first);
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            try {
                Found found = records.poll(into);
                given += found == Found.RECORD ? 1 : 0;
                return found;
            } catch (IOException | PenstockException e) {
                throw new IOException(name + ", behind record " + given + ": " + e.getMessage(), e);
            }
        }

        @Override
        public String cursor() {
            return Long.toString(given);
        }

        @Override
        public void close() {
            records.close();
        }
    }
}
