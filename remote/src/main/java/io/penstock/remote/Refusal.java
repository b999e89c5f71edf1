// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Ends a request with an error, and reads no more of the answer's body than the error needs. */
final class Refusal<T> implements BodySubscriber<T> {

    private static final int MOST_BYTES = 4096;

    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final String name;
    private final ResponseInfo info;
    private final @Nullable IOException error;
    private final ByteBuffer body = ByteBuffer.allocate(MOST_BYTES);
    private Flow.@Nullable Subscription subscription;

    /**
     * A refusal.
     *
     * @param error the error; null for that of the answer's status
     */
    Refusal(String name, ResponseInfo info, @Nullable IOException error) {
        this.name = name;
        this.info = info;
        this.error = error;
    }

    @Override
    public CompletionStage<T> getBody() {
        return result;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (error != null) {
            end();
        } else {
            given.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
        for (ByteBuffer part : parts) {
            body.put(part.slice(part.position(), Math.min(part.remaining(), body.remaining())));
        }
        if (!body.hasRemaining()) {
            end();
        } else if (subscription != null) {
            subscription.request(1);
        }
    }

    private void end() {
        if (subscription != null) {
            subscription.cancel();
        }
        onComplete();
    }

    @Override
    public void onError(Throwable failure) {
        onComplete();
    }

    @Override
    public void onComplete() {
        result.completeExceptionally(error != null ? error : StatusException.of(name, info.statusCode(),
                info.headers(), new String(body.array(), 0, body.position(), StandardCharsets.UTF_8)));
    }
}
