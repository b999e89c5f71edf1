// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.FetchWaits.FetchPhase;
import io.penstock.remote.ObjectHost.Fault;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that are late, by a clock that the test advances. */
class HedgesTest {

    private static final byte[] BYTES = ObjectHost.bytes(100_000, 1);
    private static final int PART = 4096;

    private final BlockingQueue<Runnable> alarms = new LinkedBlockingQueue<>();
    private final List<Duration> delays = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong clock = new AtomicLong();
    private ObjectHost host;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().put("x", BYTES);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private Requests requests() {
        return new Requests(RequestSettings.DEFAULT.withHedges(100).withRetries(3, Duration.ofMillis(1),
                Duration.ofMillis(1), 100), (_, task) -> alarms.add(task), _ -> { });
    }

    /** Keeps what it is given. */
    private static final class Kept implements ObjectReader.Sink {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final List<FetchPhase> phases = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger sent = new AtomicInteger();

        @Override
        public synchronized void accept(ByteBuffer part) {
            byte[] copy = new byte[part.remaining()];
            part.get(copy);
            bytes.writeBytes(copy);
        }

        @Override
        public void enter(FetchPhase phase) {
            phases.add(phase);
        }

        @Override
        public void sent() {
            sent.incrementAndGet();
        }
    }

    private Kept read(Requests requests, long offset) throws IOException {
        Kept kept = new Kept();
        try (RangeBody body = new RangeBody(new RemoteObject("x", ObjectHost.etag(BYTES), BYTES.length), offset, PART,
                kept)) {
            requests.read(new Requests.Target("x", URI.create(host.url("x")), (_, _, _) -> { }), body);
        }
        assertArrayEquals(Arrays.copyOfRange(BYTES, (int) offset, (int) offset + PART), kept.bytes.toByteArray());
        return kept;
    }

    /** Reads until it is known when a request is late. */
    private Requests experienced() throws IOException {
        Requests requests = requests();
        for (int i = 0; i < 24; i++) {
            read(requests, i * PART);
        }
        alarms.clear();
        host.forgetRequests();
        return requests;
    }

    private Kept readLate(Requests requests, Fault fault) throws Exception {
        host.fail(fault);
        FutureTask<Kept> reading = new FutureTask<>(() -> read(requests, PART));
        Thread.startVirtualThread(reading);
        while (host.gets().isEmpty()) {
            Thread.onSpinWait();
        }
        alarms.take().run();
        return reading.get();
    }

    @Test
    void aLateRequestIsSentASecondTimeAndTheFirstAnswerCounts() throws Exception {
        Kept kept = readLate(experienced(), Fault.SILENT);
        assertEquals(List.of("GET /x bytes=4096-8191", "GET /x bytes=4096-8191"), host.gets());
        assertEquals(2, kept.sent.get());
        assertEquals(List.of(FetchPhase.QUEUE, FetchPhase.FIRST_BYTE), kept.phases.subList(0, 2));
        assertEquals(FetchPhase.TRANSFER, kept.phases.getLast());
    }

    @Test
    void ofTwoAnswersEachByteIsTakenOnce() throws Exception {
        readLate(experienced(), Fault.STALL);
        assertEquals(2, host.gets().size());
    }

    /** Or another answer would hand it once more what it has stored before it failed, when the disk has room again. */
    @Test
    void aSinkThatHasFailedTakesNothingMore() {
        AtomicInteger taken = new AtomicInteger();
        HttpHeaders headers = HttpHeaders.of(Map.of("Content-Range", List.of("bytes 0-9/10")), (_, _) -> true);
        HttpHead head = new HttpHead(206, headers, HttpClient.Version.HTTP_1_1, 10, true);
        try (RangeBody body = new RangeBody(new RemoteObject("x", "\"v\"", 10), 0, 10, _ -> {
            if (taken.incrementAndGet() == 1) {
                throw new FileSystemException("x", null, "no space left");
            }
        })) {
            for (int i = 0; i < 2; i++) {
                BodySubscriber<Void> answer = body.request().apply(head);
                answer.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long parts) {
                        // one is given below
                    }

                    @Override
                    public void cancel() {
                        // and no more
                    }
                });
                answer.onNext(List.of(ByteBuffer.allocate(10)));
                CompletableFuture<Void> result = answer.getBody().toCompletableFuture();
                assertTrue(result.isDone());
                assertEquals("x: no space left", assertThrows(CompletionException.class, result::join).getCause()
                        .getMessage());
            }
        }
        assertEquals(1, taken.get());
    }

    @Test
    void aRequestThatIsInTimeIsSentOnce() throws Exception {
        Requests requests = experienced();
        read(requests, 0);
        alarms.take().run();
        assertEquals(1, host.gets().size());
    }

    @Test
    void aFailureIsTriedAgainAndCountsAsThat() throws Exception {
        Requests requests = requests();
        host.fail(Fault.UNAVAILABLE, Fault.CUT);
        Kept kept = read(requests, 0);
        assertEquals(3, kept.sent.get());
        assertEquals(List.of(FetchPhase.QUEUE, FetchPhase.FIRST_BYTE, FetchPhase.RETRY, FetchPhase.TRANSFER,
                FetchPhase.RETRY, FetchPhase.TRANSFER), kept.phases);
    }

    // ---- by itself

    private Hedges hedges(int percent) {
        return new Hedges(percent, (delay, task) -> {
            delays.add(delay);
            alarms.add(task);
        }, () -> clock.addAndGet(1000));
    }

    private static void known(Hedges hedges, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            hedges.run(PART, (_, isSent) -> isSent.run());
        }
    }

    @Test
    void noMoreRequestsAreSentTwiceThanTheirShare() throws IOException {
        Hedges hedges = hedges(2);
        AtomicInteger sent = new AtomicInteger();
        for (int i = 0; i < 1000; i++) {
            hedges.run(PART, (_, isSent) -> {
                sent.incrementAndGet();
                alarms.clear();
                isSent.run();
                Runnable alarm = alarms.poll();
                if (alarm != null) {
                    alarm.run();
                }
            });
        }
        assertEquals(20, hedges.sentTwice());
        assertTrue(sent.get() <= 1020, sent + " requests");
    }

    @Test
    void noRequestIsSentTwiceBeforeItIsKnownWhenItIsLateOrIfNoneMay() throws IOException {
        known(hedges(100), 20);
        known(hedges(0), 200);
        assertEquals(0, alarms.size());
    }

    /** Otherwise it would wait for the next requests, which may wait for it. */
    @Test
    void aRequestThatIsVeryLateIsSentAgainAlthoughTheShareIsUsed() throws Exception {
        Hedges hedges = hedges(2);
        known(hedges, 49);
        alarms.clear();
        for (int i = 0; i < 2; i++) {
            AtomicInteger attempts = new AtomicInteger();
            CountDownLatch again = new CountDownLatch(1);
            FutureTask<Void> running = new FutureTask<>(() -> {
                hedges.run(PART, (second, isSent) -> {
                    attempts.incrementAndGet();
                    isSent.run();
                    if (second) {
                        again.countDown();
                    } else {
                        await(again);
                    }
                });
                return null;
            });
            Thread.startVirtualThread(running);
            // The first uses the share of 50 requests up; the second waits until it is four times as late.
            for (int late = 0; late < (i == 0 ? 1 : 4); late++) {
                assertEquals(i, hedges.sentTwice());
                alarms.take().run();
            }
            running.get();
            assertEquals(2, attempts.get());
            alarms.clear();
        }
        assertEquals(2, hedges.sentTwice());
    }

    @Test
    void aSecondRequestThatIsLateIsFollowedByAThirdAndNoMore() throws Exception {
        Hedges hedges = hedges(100);
        known(hedges, 30);
        alarms.clear();
        AtomicInteger attempts = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(1);
        FutureTask<Void> running = new FutureTask<>(() -> {
            hedges.run(PART, (_, isSent) -> {
                isSent.run();
                if (attempts.incrementAndGet() == 3) {
                    alarms.remove().run();
                    third.countDown();
                }
                await(third);
            });
            return null;
        });
        Thread.startVirtualThread(running);
        alarms.take().run();
        alarms.take().run();
        running.get();
        assertEquals(3, attempts.get());
    }

    /** A few that were very late do not change what is taken for late. */
    @Test
    void aRequestIsLateThatTakesHalfAsLongAgainAsUsual() throws IOException {
        Hedges hedges = hedges(2);
        for (int i = 0; i < 128; i++) {
            int nanos = i % 40 == 7 ? 2_000_000_000 : 9_000;
            hedges.run(PART, (_, isSent) -> {
                isSent.run();
                clock.addAndGet(nanos);
            });
        }
        assertEquals(Duration.ofNanos(15_000), delays.getLast());
    }

    @Test
    void aSecondRequestThatFailsDoesNotEndTheFirst() throws Exception {
        Hedges hedges = hedges(100);
        known(hedges, 30);
        CountDownLatch hasFailed = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        FutureTask<Void> running = new FutureTask<>(() -> {
            hedges.run(PART, (isSecond, isSent) -> {
                isSent.run();
                attempts.incrementAndGet();
                if (isSecond) {
                    hasFailed.countDown();
                    throw new IOException("reset");
                }
                await(hasFailed);
            });
            return null;
        });
        alarms.clear();
        Thread.startVirtualThread(running);
        alarms.take().run();
        running.get();
        assertEquals(2, attempts.get());
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void anErrorThatWillNotPassIsThatOfTheFirst() throws IOException {
        Hedges hedges = hedges(100);
        known(hedges, 30);
        assertThrows(NoSuchFileException.class, () -> hedges.run(PART, (_, _) -> {
            throw new NoSuchFileException("x");
        }));
    }
}
