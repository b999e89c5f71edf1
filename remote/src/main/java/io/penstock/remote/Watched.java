// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the parts of a body, so that one that stalls is noticed. */
record Watched<T>(BodySubscriber<T> body, AtomicLong progress) implements BodySubscriber<T> {

    @Override
    public CompletionStage<T> getBody() {
        return body.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        body.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
        progress.incrementAndGet();
        body.onNext(parts);
    }

    @Override
    public void onError(Throwable failure) {
        body.onError(failure);
    }

    @Override
    public void onComplete() {
        body.onComplete();
    }
}
