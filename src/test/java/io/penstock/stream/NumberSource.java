// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.memory.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

/** Records that say which they are: partition and number. Partitions can fall silent, grow and fail. */
final class NumberSource implements StreamSource {

    private final AtomicIntegerArray sizes;
    /** Whether a partition ends where it has nothing now. */
    private volatile boolean ends = true;
    /** A partition that ends, if the others do not; -1 for none. */
    private volatile int ending = -1;
    private volatile int failsAt = Integer.MAX_VALUE;
    final AtomicInteger open = new AtomicInteger();
    /** How often the names of the partitions were made. */
    final AtomicInteger named = new AtomicInteger();

    NumberSource(int... sizes) {
        this.sizes = new AtomicIntegerArray(sizes);
    }

    static NumberSource of(int partitions, int each) {
        return new NumberSource(IntStream.generate(() -> each).limit(partitions).toArray());
    }

    NumberSource endless() {
        ends = false;
        return this;
    }

    /** The same without an end, but for one partition. */
    NumberSource endlessBut(int partition) {
        ending = partition;
        return endless();
    }

    NumberSource failingAt(int record) {
        failsAt = record;
        return this;
    }

    void grow(int partition, int to) {
        sizes.set(partition, to);
    }

    void end() {
        ends = true;
    }

    /** A dataset of it, in a field {@code id} of partition and number. */
    StreamDataset.Builder dataset() {
        return StreamDataset.builder(this).field("id", DType.I64, 2);
    }

    /** The order that the documentation promises, made in the plainest way. */
    List<Long> merged() {
        List<Long> merged = new ArrayList<>();
        int most = IntStream.range(0, sizes.length()).map(sizes::get).max().orElse(0);
        for (int n = 0; n < most; n++) {
            for (int partition = 0; partition < sizes.length(); partition++) {
                if (n < sizes.get(partition)) {
                    merged.add(id(partition, n));
                }
            }
        }
        return merged;
    }

    static long id(long partition, long number) {
        return partition << 32 | number;
    }

    @Override
    public String fingerprint() {
        return "numbers";
    }

    @Override
    public List<String> partitions() {
        named.incrementAndGet();
        return IntStream.range(0, sizes.length()).mapToObj(partition -> "p" + partition).toList();
    }

    @Override
    public PartitionReader open(int partition, String cursor) {
        open.incrementAndGet();
        return new PartitionReader() {
            private int next = cursor.isEmpty() ? 0 : Integer.parseInt(cursor);
            private boolean isClosed;

            @Override
            public Found poll(RecordBuffer into) throws IOException {
                if (next == failsAt) {
                    throw new IOException("p" + partition + ", record " + next + ": the wire is cut");
                }
                if (next >= sizes.get(partition)) {
                    return ends || partition == ending ? Found.END : Found.NOTHING_YET;
                }
                MemorySegment record = MemorySegment.ofArray(new long[] {partition, next++});
                into.add(record, 0, 2 * JAVA_LONG.byteSize());
                return Found.RECORD;
            }

            @Override
            public String cursor() {
                return Integer.toString(next);
            }

            @Override
            public void close() {
                if (!isClosed) {
                    isClosed = true;
                    open.decrementAndGet();
                }
            }
        };
    }
}
