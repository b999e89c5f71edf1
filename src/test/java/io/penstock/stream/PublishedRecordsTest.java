// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Records of publishers: the JDK's own, and one that counts what it was asked for. */
class PublishedRecordsTest {

    /** Sends numbers when it is asked, on the thread that asks, up to an end. */
    private static final class Numbers implements Flow.Publisher<MemorySegment>, Flow.Subscription {

        private final long end;
        private long next;
        private long most;
        private long wanted;
        private boolean isSending;
        private boolean isCancelled;
        private Flow.Subscriber<? super MemorySegment> to;

        Numbers(long from, long end) {
            this.next = from;
            this.end = end;
        }

        @Override
        public void subscribe(Flow.Subscriber<? super MemorySegment> subscriber) {
            to = subscriber;
            subscriber.onSubscribe(this);
        }

        @Override
        public void request(long more) {
            wanted += more;
            most = Math.max(most, wanted);
            if (isSending) {
                return;
            }
            isSending = true;
            for (; wanted > 0 && next < end && !isCancelled; wanted--) {
                to.onNext(record(next++));
            }
            isSending = false;
            if (next == end) {
                to.onComplete();
            }
        }

        @Override
        public void cancel() {
            isCancelled = true;
        }
    }

    private static MemorySegment record(long number) {
        return MemorySegment.ofArray(new long[] {number});
    }

    private static List<Long> rest(PartitionReader reader) throws IOException {
        List<Long> numbers = new ArrayList<>();
        try (RecordBuffer into = new RecordBuffer()) {
            while (true) {
                switch (reader.poll(into)) {
                    case RECORD -> numbers.add(into.record(into.count() - 1).get(JAVA_LONG_UNALIGNED, 0));
                    case NOTHING_YET -> Thread.onSpinWait();
                    case END -> {
                        return numbers;
                    }
                }
            }
        }
    }

    private static List<Long> numbers(long from, long to) {
        return LongStream.range(from, to).boxed().toList();
    }

    @Test
    void aPublisherIsNeverAskedForMoreThanTheCapacity() throws IOException {
        for (int capacity : new int[] {1, 2, 7, 100}) {
            var publisher = new Numbers(0, 1000);
            try (PartitionReader reader = StreamSource.publishedOnce("numbers", capacity, publisher).open(0, "");
                    RecordBuffer into = new RecordBuffer()) {
                assertEquals(capacity, publisher.next);
                for (int i = 0; i < 50; i++) {
                    assertEquals(Found.RECORD, reader.poll(into));
                    assertTrue(publisher.next - into.count() <= capacity, publisher.next + " after " + into.count());
                }
                assertEquals(numbers(50, 1000), rest(reader));
                assertTrue(publisher.most <= capacity);
                assertFalse(publisher.isCancelled);
            }
            assertTrue(publisher.isCancelled);
        }
    }

    @Test
    void aPublisherOfTheJdkGivesAllItsRecordsInOrder() throws Exception {
        try (var threads = Executors.newSingleThreadExecutor()) {
            SubmissionPublisher<MemorySegment> publisher = new SubmissionPublisher<>(threads, 64);
            StreamSource source = StreamSource.publishedOnce("jdk", 16, publisher);
            try (PartitionReader reader = source.open(0, "")) {
                Thread sender = Thread.ofVirtual().start(() -> {
                    numbers(0, 5000).forEach(number -> publisher.submit(record(number)));
                    publisher.close();
                });
                assertEquals(numbers(0, 5000), rest(reader));
                sender.join();
            }
            assertEquals(0, publisher.getNumberOfSubscribers());
            var refused = assertThrows(IOException.class, () -> source.open(0, "5000"));
            assertTrue(refused.getMessage().contains("the records come only once"), refused.getMessage());
        }
    }

    @Test
    void aFailureOfThePublisherIsSaidBehindTheRecordsBeforeIt() throws IOException {
        Flow.Publisher<MemorySegment> failing = to -> to.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long more) {
                to.onNext(record(1));
                to.onNext(record(2));
                to.onError(new IllegalStateException("the queue is gone"));
            }

            @Override
            public void cancel() {
            }
        });
        try (PartitionReader reader = StreamSource.publishedOnce("queue", 8, failing).open(0, "");
                RecordBuffer into = new RecordBuffer()) {
            assertEquals(Found.RECORD, reader.poll(into));
            assertEquals(Found.RECORD, reader.poll(into));
            String message = assertThrows(IOException.class, () -> reader.poll(into)).getMessage();
            assertEquals("queue, behind record 2: the publisher failed: java.lang.IllegalStateException: the queue is"
                    + " gone", message);
        }
    }

    @Test
    void aPublisherThatSendsMoreThanItWasAskedForIsRefused() throws IOException {
        Flow.Publisher<MemorySegment> flood = to -> to.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long more) {
                numbers(0, 3).forEach(number -> to.onNext(record(number)));
            }

            @Override
            public void cancel() {
            }
        });
        try (PartitionReader reader = StreamSource.publishedOnce("flood", 2, flood).open(0, "")) {
            String message = assertThrows(IOException.class, () -> rest(reader)).getMessage();
            assertTrue(message.contains("sends more than 2"), message);
        }
        assertThrows(IllegalArgumentException.class, () -> StreamSource.publishedOnce("none", 0, new Numbers(0, 1)));
    }

    @Test
    void aRunContinuesWithTheRecordThatTheStateSays() {
        StreamSource source = StreamSource.published("numbers", 32, first -> new Numbers(first, 1000));
        List<Long> pieces = new ArrayList<>();
        Random random = new Random(5);
        LoaderState state = null;
        List<Long> straight = new ArrayList<>();
        state = run(source, null, Integer.MAX_VALUE, 16, straight);
        assertEquals(1000, straight.stream().distinct().count());
        assertEquals(1000, state.position());
        state = null;
        while (pieces.size() < 1000) {
            state = run(source, state, random.nextInt(6), 1 + random.nextInt(30), pieces);
        }
        assertEquals(straight, pieces);
    }

    private static LoaderState run(StreamSource source, LoaderState from, int batches, int batchSize, List<Long> to) {
        try (StreamDataset stream = StreamDataset.builder(source).field("n", DType.I64, 1).shuffle(3, 50).open()) {
            DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(batchSize).workers(1);
            try (DataLoader loader = (from == null ? builder : builder.resume(from)).open()) {
                for (int i = 0; i < batches && loader.hasNext(); i++) {
                    try (Batch batch = loader.next()) {
                        Tensor numbers = batch.tensor("n");
                        for (int row = 0; row < batch.count(); row++) {
                            to.add(numbers.segment().getAtIndex(JAVA_LONG, row));
                        }
                    }
                }
                return loader.state();
            }
        }
    }
}
