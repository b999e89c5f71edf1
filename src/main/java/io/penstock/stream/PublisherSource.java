// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Flow;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Records that a {@link Flow.Publisher} sends, such as a subscription to a message queue. The publisher is asked for no
 * more records than fit in memory, so a trainer that stands still stops it.
 *
 * {@snippet id=Streams :
 * StreamSource clicks = PublisherSource.of("clicks v1", 1024, first -> feed.from(first));
 * StreamDataset records = StreamDataset.builder(clicks).field("click", DType.F32, 32).shuffle(42, 8192).open();
 * }
 *
 * <p>A record is read on the stream's thread after it was published: it must not change, and any thread must be allowed
 * to read it.
 */
public final class PublisherSource {

    private PublisherSource() {
    }

    /**
     * Reads records that can be published again. A saved run continues exactly.
     *
     * @param name identifies the records in states; change it when they change
     * @param capacity the most records that were asked for and are not read yet; at least 1
     * @param from publishes from a record on, by its number from 0
     * @return a source of one partition
     * @throws IllegalArgumentException if the capacity is below 1
     */
    public static StreamSource of(String name, int capacity, LongFunction<Flow.Publisher<MemorySegment>> from) {
        Objects.requireNonNull(from, "from");
        checkCapacity(capacity);
        return new CountedSource("publisher", name, false, first -> subscribe(from.apply(first), capacity));
    }

    /**
     * Reads records that are published only once. Each is given at most once: records that were read but not trained on
     * when a run stops are lost. A state cannot be resumed, unless a {@link SpoolSource} keeps them.
     *
     * @param name identifies the records in states
     * @param capacity the most records that were asked for and are not read yet; at least 1
     * @param records subscribed to when the loader opens
     * @return a source of one partition, for one loader
     * @throws IllegalArgumentException if the capacity is below 1
     */
    public static StreamSource once(String name, int capacity, Flow.Publisher<MemorySegment> records) {
        Objects.requireNonNull(records, "records");
        checkCapacity(capacity);
        return new CountedSource("publisher", name, true, _ -> subscribe(records, capacity));
    }

    private static void checkCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity of " + capacity + " records, expected 1 or more");
        }
    }

    private static Received subscribe(Flow.Publisher<MemorySegment> publisher, int capacity) {
        var received = new Received(capacity);
        publisher.subscribe(received);
        return received;
    }

    /** What was published and is not read yet. The publisher's threads add; one thread reads. */
    private static final class Received implements CountedSource.Records, Flow.Subscriber<MemorySegment> {

        private final int capacity;
        private final ArrayBlockingQueue<MemorySegment> records;
        /** Behind the lock of this object. */
        private Flow.@Nullable Subscription subscription;
        private boolean isClosed;
        /** Why no more records come, if it was not the end. Written before {@link #isOver}. */
        private volatile @Nullable Throwable failure;
        private volatile boolean isOver;
        /** Read since the publisher was last asked for more. */
        private int read;

        Received(int capacity) {
            this.capacity = capacity;
            this.records = new ArrayBlockingQueue<>(capacity);
        }

        @Override
        public void onSubscribe(Flow.Subscription to) {
            synchronized (this) {
                if (subscription == null && !isClosed) {
                    subscription = to;
                } else {
                    to.cancel();
                    return;
                }
            }
            to.request(capacity);
        }

        @Override
        public void onNext(MemorySegment record) {
            if (!isOver && !records.offer(record)) {
                onError(new IllegalStateException("found a record that was not asked for: the publisher sends more than"
                        + " " + capacity));
                close();
            }
        }

        @Override
        public void onError(Throwable cause) {
            if (!isOver) {
                failure = Objects.requireNonNull(cause);
                isOver = true;
            }
        }

        @Override
        public void onComplete() {
            isOver = true;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            boolean wasOver = isOver;                  // first, so that what was published before the end is seen
            MemorySegment record = records.poll();
            if (record == null) {
                Throwable cause = failure;
                if (wasOver && cause != null) {
                    throw new IOException("the publisher failed: " + cause, cause);
                }
                return wasOver ? Found.END : Found.NOTHING_YET;
            }
            into.add(record, 0, record.byteSize());
            if (++read >= (capacity + 1) / 2 && !isOver) {
                request(read);
                read = 0;
            }
            return Found.RECORD;
        }

        private void request(long more) {
            Flow.Subscription to;
            synchronized (this) {
                to = subscription;
            }
            if (to != null) {
                to.request(more);
            }
        }

        @Override
        public void close() {
            Flow.Subscription to;
            synchronized (this) {
                isClosed = true;
                to = subscription;
            }
            if (to != null) {
                to.cancel();
            }
        }
    }
}
