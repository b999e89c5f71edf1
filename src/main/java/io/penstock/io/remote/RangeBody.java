// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import io.penstock.io.cache.ObjectReader;
import io.penstock.io.cache.RemoteObject;
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
 * A range of an object on its way to a sink, over one request or, if a body ends early, several: each requests what is
 * still missing. An answer that is not exactly this range of this version is refused before its body is read.
 */
final class RangeBody implements HttpResponse.BodyHandler<Void> {

    private final RemoteObject object;
    private final long offset;
    private final long bytes;
    private final ObjectReader.Sink sink;
    private long done;
    /** The answer that is being read; one of an earlier request counts no more. Guarded by the monitor, as done. */
    private @Nullable Writing current;

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

    synchronized boolean isComplete() {
        return done == bytes;
    }

    private long from() {
        return offset + done;
    }

    private long last() {
        return offset + bytes - 1;
    }

    /** Adds the headers of a request for what is missing. */
    synchronized void addTo(Map<String, String> headers) {
        current = null;
        headers.put("Range", "bytes=" + from() + "-" + last());
        ObjectVersion.require(object.version(), headers);
    }

    @Override
    public synchronized BodySubscriber<Void> apply(ResponseInfo info) {
        int status = info.statusCode();
        if (status != 200 && status != 206) {
            return new Refusal<>(object.name(), info, null);
        }
        IOException wrong = wrong(info);
        if (wrong != null) {
            return new Refusal<>(object.name(), info, wrong);
        }
        current = new Writing();
        return current;
    }

    private @Nullable IOException wrong(ResponseInfo info) {
        if (ObjectVersion.isOther(object.version(), info.headers())) {
            return failure("the object was replaced while it was read: found version "
                    + ObjectVersion.of(info.headers()) + ", expected " + object.version());
        }
        boolean isWhole = from() == 0 && bytes == object.byteSize();
        if (info.statusCode() == 200 && !isWhole) {
            return failure("the server ignores ranges: it answers bytes " + from() + " to " + last() + " with the whole"
                    + " object (status 200, expected 206)");
        }
        String range = "bytes " + from() + "-" + last() + "/" + object.byteSize();
        String found = info.headers().firstValue("Content-Range").orElse("none").strip();
        if (info.statusCode() == 206 && !found.equals(range) && !found.equals(unknownSize())) {
            return failure("the server answers another range: '" + found + "', expected '" + range + "'");
        }
        long length = info.headers().firstValueAsLong("Content-Length").orElse(bytes - done);
        return length == bytes - done ? null : failure("the server answers " + length + " bytes, expected "
                + (bytes - done));
    }

    private String unknownSize() {
        return "bytes " + from() + "-" + last() + "/*";
    }

    private FileSystemException failure(String reason) {
        return new FileSystemException(object.name(), null, reason);
    }

    private synchronized void accept(Writing from, ByteBuffer part) throws IOException {
        if (from != current) {
            throw new IOException(object.name() + ": the part of an answer that was given up");
        }
        int length = part.remaining();
        if (length > bytes - done) {
            throw failure("the server answers more than " + bytes + " bytes from " + offset);
        }
        sink.accept(part);
        done += length;
    }

    /** Hands the parts of one answer to the sink. */
    private final class Writing implements BodySubscriber<Void> {

        private final CompletableFuture<Void> result = new CompletableFuture<>();
        private Flow.@Nullable Subscription subscription;

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
                    accept(this, part);
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
            if (isComplete()) {
                result.complete(null);
            } else {
                result.completeExceptionally(new IOException(object.name() + ": the body ended after " + done()
                        + " of " + bytes + " bytes"));
            }
        }
    }
}
