// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.stream.PartitionReader.Found;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
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
public final class IteratorSource {

    private IteratorSource() {
    }

    /**
     * Reads records that can be read again. A saved run continues exactly.
     *
     * @param name identifies the records in states; change it when they change
     * @param from starts with a record, by its number from 0; each record is valid until the next one is asked for
     * @return a source of one partition
     */
    public static StreamSource of(String name, LongFunction<Iterator<MemorySegment>> from) {
        Objects.requireNonNull(from, "from");
        return new CountedSource("iterator", name, false, first -> records(from.apply(first)));
    }

    /**
     * Reads records that come only once, such as those of a pipe. Each is given at most once: records that were read
     * but not trained on when a run stops are lost. A state cannot be resumed, unless a {@link SpoolSource} keeps them.
     *
     * @param name identifies the records in states
     * @param records each valid until the next one is asked for
     * @return a source of one partition, for one loader
     */
    public static StreamSource once(String name, Iterator<MemorySegment> records) {
        Objects.requireNonNull(records, "records");
        return new CountedSource("iterator", name, true, _ -> records(records));
    }

    private static CountedSource.Records records(Iterator<MemorySegment> records) {
        return into -> {
            if (!records.hasNext()) {
                return Found.END;
            }
            MemorySegment record = records.next();
            into.add(record, 0, record.byteSize());
            return Found.RECORD;
        };
    }
}
