// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** What was published and is not read yet. The publisher's threads add; one thread reads. */
final class PublishedRecords implements CountedSource.Records, Flow.Subscriber<MemorySegment> {

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

    private PublishedRecords(int capacity) {
        this.capacity = capacity;
        this.records = new ArrayBlockingQueue<>(capacity);
    }

    static void checkCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity of " + capacity + " records, expected 1 or more");
        }
    }

    /** Subscribes to a publisher. */
    static PublishedRecords of(Flow.Publisher<MemorySegment> publisher, int capacity) {
        var received = new PublishedRecords(capacity);
        publisher.subscribe(received);
        return received;
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
