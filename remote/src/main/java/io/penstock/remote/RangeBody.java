// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FetchWaits.FetchPhase;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A range of an object on its way to a sink, over one request or several: each requests what is missing when it is
 * made. Of requests that answer at the same time the sink gets each byte once, from whichever is first. An answer that
 * is not exactly what was requested of this version is refused before its body is read. Thread-safe.
 */
final class RangeBody implements AutoCloseable {

    private final RemoteObject object;
    private final long offset;
    private final long bytes;
    private final ObjectReader.Sink sink;
    /** The bytes that the sink has. Guarded by the monitor. */
    private long done;
    private FetchPhase phase = FetchPhase.QUEUE;
    private boolean hasFailed;
    private boolean isOver;
    /** Why the sink takes no more bytes; null while it does. It may have taken some of those that it failed at. */
    private @Nullable IOException sinkFailure;

    RangeBody(RemoteObject object, long offset, long bytes, ObjectReader.Sink sink) {
        this.object = object;
        this.offset = offset;
        this.bytes = bytes;
        this.sink = sink;
    }

    /** The bytes that the sink has. */
    synchronized long done() {
        return done;
    }

    synchronized long missing() {
        return bytes - done;
    }

    /** Returns a request for the missing bytes. */
    synchronized Request request() {
        return new Request(done);
    }

    /** Tells the sink what it waits for: after a failure, for the next attempt, until there is an answer. */
    synchronized void enter(FetchPhase next) {
        boolean isAttempt = next == FetchPhase.QUEUE || next == FetchPhase.FIRST_BYTE;
        boolean isSecond = isAttempt && (phase == FetchPhase.RETRY || phase == FetchPhase.TRANSFER);
        hasFailed |= next == FetchPhase.RETRY;
        if (!isOver && !isSecond) {
            phase = next;
            sink.enter(next);
        }
    }

    void sent() {
        sink.sent();
    }

    /** Tells whether a request has failed. */
    synchronized boolean hasFailed() {
        return hasFailed;
    }

    /** Ends the transfer: the sink takes no more bytes. */
    @Override
    public synchronized void close() {
        isOver = true;
    }

    private FileSystemException failure(String reason) {
        return new FileSystemException(object.name(), null, reason);
    }

    private synchronized void accept(long at, ByteBuffer part) throws IOException {
        if (isOver) {
            throw new IOException(object.name() + ": an answer that nobody waits for");
        }
        if (sinkFailure != null) {
            throw sinkFailure;
        }
        if (at + part.remaining() > bytes) {
            throw failure("the server answers more than " + bytes + " bytes from " + offset);
        }
        if (at + part.remaining() > done) {
            long end = at + part.remaining();
            part.position(part.position() + (int) (done - at));
            try {
                sink.accept(part);
            } catch (IOException e) {
                sinkFailure = e;
                throw e;
            }
            done = end;
        }
    }

    /** A request for the bytes from a position on. */
    final class Request implements HttpResponse.BodyHandler<Void> {

        private final long start;

        private Request(long start) {
            this.start = start;
        }

        private long from() {
            return offset + start;
        }

        private long last() {
            return offset + bytes - 1;
        }

        /** Adds the request's headers. */
        void addTo(Map<String, String> headers) {
            headers.put("Range", "bytes=" + from() + "-" + last());
            ObjectVersion.require(object.version(), headers);
        }

        @Override
        public BodySubscriber<Void> apply(ResponseInfo info) {
            int status = info.statusCode();
            IOException wrong = status != 200 && status != 206 ? null : wrong(info);
            if (wrong != null || status != 200 && status != 206) {
                return new Refusal<>(object.name(), info, wrong);
            }
            enter(FetchPhase.TRANSFER);
            return new Writing(start);
        }

        private @Nullable IOException wrong(ResponseInfo info) {
            if (ObjectVersion.isOther(object.version(), info.headers())) {
                return failure("the object was replaced while it was read: found version "
                        + ObjectVersion.of(info.headers()) + ", expected " + object.version());
            }
            boolean isWhole = from() == 0 && bytes == object.byteSize();
            if (info.statusCode() == 200 && !isWhole) {
                return failure("the server ignores ranges: it answers bytes " + from() + " to " + last()
                        + " with the whole object (status 200, expected 206)");
            }
            String range = "bytes " + from() + "-" + last() + "/" + object.byteSize();
            String found = info.headers().firstValue("Content-Range").orElse("none").strip();
            if (info.statusCode() == 206 && !found.equals(range) && !found.equals(unknownSize())) {
                String size = found.startsWith("bytes " + from() + "-") ? found.substring(found.indexOf('/') + 1) : "";
                return size.matches("[0-9]+") && !size.equals(Long.toString(object.byteSize())) ? failure(
                        "the server says two sizes: " + object.byteSize() + " bytes when it was opened, now " + size
                                + " (was it replaced, or is the answer to HEAD wrong?)") : failure(
                                        "the server answers another range: '" + found + "', expected '" + range + "'");
            }
            long length = info.headers().firstValueAsLong("Content-Length").orElse(bytes - start);
            return length == bytes - start ? null : failure("the server answers " + length + " bytes, expected "
                    + (bytes - start));
        }

        private String unknownSize() {
            return "bytes " + from() + "-" + last() + "/*";
        }
    }

    /** Hands the parts of one answer to the sink. */
    private final class Writing implements BodySubscriber<Void> {

        private final CompletableFuture<Void> result = new CompletableFuture<>();
        /** Where the answer's next part belongs in the range. */
        private long at;
        private Flow.@Nullable Subscription subscription;

        Writing(long start) {
            at = start;
        }

        @Override
        public CompletionStage<Void> getBody() {
            return result;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(List<ByteBuffer> parts) {
            Flow.Subscription given = Objects.requireNonNull(subscription);
            try {
                for (ByteBuffer part : parts) {
                    long next = at + part.remaining();
                    accept(at, part);
                    at = next;
                }
                given.request(1);
            } catch (IOException | RuntimeException e) {
                given.cancel();
                result.completeExceptionally(e);
            }
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            if (at == bytes) {
                result.complete(null);
            } else {
                result.completeExceptionally(new IOException(object.name() + ": the body ended after " + at + " of "
                        + bytes + " bytes"));
            }
        }
    }
}
