// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;

/**
 * Records of a program's own, by an iterator. {@code hasNext} may wait for the next record; closing the stream
 * interrupts it.
 *
 * {@snippet :
 * StreamSource numbers = IteratorSource.of("numbers v1", first -> LongStream.iterate(first, n -> n + 1)
 *         .mapToObj(n -> MemorySegment.ofArray(new long[] {n})).iterator());
 * }
 */
public final class IteratorSource implements StreamSource {

    private final String name;
    private final boolean isOnce;
    private final LongFunction<Iterator<MemorySegment>> from;

    private IteratorSource(String name, boolean isOnce, LongFunction<Iterator<MemorySegment>> from) {
        this.name = Objects.requireNonNull(name, "name");
        this.isOnce = isOnce;
        this.from = Objects.requireNonNull(from, "from");
    }

    /**
     * Reads records that can be read again. A saved run continues exactly.
     *
     * @param name identifies the records in states; change it when they change
     * @param from starts with a record, by its number from 0; each record is valid until the next one is asked for
     * @return a source of one partition
     */
    public static IteratorSource of(String name, LongFunction<Iterator<MemorySegment>> from) {
        return new IteratorSource(name, false, from);
    }

    /**
     * Reads records that come only once, such as those of a pipe. Each is given at most once: records that were read
     * but not trained on when a run stops are lost. A state cannot be resumed.
     *
     * @param name identifies the records in states
     * @param records each valid until the next one is asked for
     * @return a source of one partition, for one loader
     */
    public static IteratorSource once(String name, Iterator<MemorySegment> records) {
        Objects.requireNonNull(records, "records");
        return new IteratorSource(name, true, _ -> records);
    }

    /** Refuses a saved state of records that come only once: what it has read ahead is gone. */
    static void checkOnce(String name, String cursor) throws IOException {
        if (!cursor.isEmpty()) {
            throw new IOException(name + ": found a saved state, expected none: the records come only once");
        }
    }

    @Override
    public String fingerprint() {
        return "iterator:" + name;
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

        private final Iterator<MemorySegment> records;
        private long given;

        Reader(long first) {
            this.given = first;
            this.records = from.apply(first);
        }

        @Override
        public Found poll(RecordBuffer into) {
            if (!records.hasNext()) {
                return Found.END;
            }
            MemorySegment record = records.next();
            into.add(record, 0, record.byteSize());
            given++;
            return Found.RECORD;
        }

        @Override
        public String cursor() {
            return Long.toString(given);
        }

        @Override
        public void close() {
        }
    }
}
