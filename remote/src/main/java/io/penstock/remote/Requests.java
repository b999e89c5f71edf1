// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.io.FetchWaits.FetchPhase;
import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.file.FileSystemException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests over HTTP/1.1: a bounded number at a time ({@link RequestSlots}), again if they fail for a reason
 * that may pass ({@link Retries}) or are late ({@link Hedges}), with timeouts, and to where they are redirected.
 * Thread-safe.
 *
 * <p>Errors name an object by its name and never show a URI's query or a header. What authorizes a request goes to the
 * host that it was meant for, and is not sent on over a redirect to another one.
 */
final class Requests {

    /** Of a server that does not answer HEAD. */
    static final HttpHeaders NO_HEADERS = HttpHeaders.of(Map.of(), (_, _) -> true);

    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    private static final int MAX_REDIRECTS = 5;
    /** The most bytes of a list of objects or an index page. */
    private static final int MAX_TEXT_BYTES = 64 << 20;
    /** The longest time to send a body. */
    private static final long LEAST_BYTES_A_SECOND = 128 << 10;

    /** Adds the headers that authorize a request. */
    @FunctionalInterface
    interface Authorization {

        /** Adds headers to those of a request. */
        void addTo(String method, URI uri, Map<String, String> headers) throws IOException;
    }

    /**
     * What is asked of a server.
     *
     * @param name the object's name, for messages
     * @param uri where it is
     * @param authorization what authorizes the request
     */
    record Target(String name, URI uri, Authorization authorization) {
    }

    /**
     * How a request is sent.
     *
     * @param isWithinHost whether an answer that leads to another host is the result
     * @param isUrgent whether it goes before those that wait: bytes that should be there already
     */
    private record Sending(boolean isWithinHost, boolean isUrgent, Consumer<FetchPhase> phases) {

        /** Of requests whose waiting nobody measures. */
        static final Sending USUAL = new Sending(false, false, _ -> { });
    }

    private final RequestSettings settings;
    /** The servers that have answered something. */
    private final Set<String> answered = ConcurrentHashMap.newKeySet();
    private final HttpClient client;
    private final PlainHttp plain;
    private final Retries retries;
    private final RequestSlots slots;
    private final Hedges hedges;

    Requests(RequestSettings settings) {
        this(settings, (delay, task) -> CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS)
                .execute(task), Thread::sleep);
    }

    /**
     * Requests.
     *
     * @param alarm runs a task after a time
     * @param sleeper waits for a time
     */
    Requests(RequestSettings settings, BiConsumer<Duration, Runnable> alarm, Retries.Sleeper sleeper) {
        this.settings = settings;
        this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER).connectTimeout(settings.connectTimeout()).build();
        this.plain = new PlainHttp(settings.connectTimeout());
        this.retries = new Retries(settings, ThreadLocalRandom::current, sleeper);
        this.slots = new RequestSlots(settings.parallel());
        this.hedges = new Hedges(settings.hedgePercent(), alarm, System::nanoTime);
    }

    /** Asks for the headers of an object. */
    HttpHeaders head(Target target) throws IOException {
        return retries.run(() -> once("HEAD", target, Map.of(), answer(target.name(), BodySubscribers::discarding)),
                () -> 0).headers();
    }

    /**
     * Asks for the headers of an object as its own host knows it: those of the redirect, if it leads to another host.
     */
    HttpHeaders headOfHost(Target target) throws IOException {
        return retries.run(() -> once("HEAD", target, Map.of(), BodyPublishers.noBody(), answer(target.name(),
                BodySubscribers::discarding), new Sending(true, false, _ -> { })), () -> 0).headers();
    }

    /**
     * Returns the size and the version of an object whose server has answered HEAD with some headers. If they have no
     * size, or 0 as some servers say of any object, its first byte is requested.
     *
     * @param head the headers, or {@link #NO_HEADERS}
     */
    FileInfo info(Target target, HttpHeaders head) throws IOException {
        long byteSize = number(head, "Content-Length");
        if (byteSize > 0) {
            return new FileInfo(EntryKind.FILE, byteSize, ObjectVersion.of(head));
        }
        HttpResponse<String> first = firstByte(target);
        String version = ObjectVersion.of(head);
        return new FileInfo(EntryKind.FILE, first.headers().firstValue("Content-Range").isPresent()
                || first.statusCode() == 206 ? totalSize(target.name(), first.headers()) : 0, version.equals(
                        ObjectVersion.UNKNOWN) ? ObjectVersion.of(first.headers()) : version);
    }

    /** Requests the first byte of an object; the status 206 has it, any other says that there is none. */
    private HttpResponse<String> firstByte(Target target) throws IOException {
        return retries.run(() -> once("GET", target, Map.of("Range", "bytes=0-0"), info -> {
            boolean isEmpty = info.statusCode() == 416
                    || info.statusCode() == 200 && number(info.headers(), "Content-Length") == 0;
            return info.statusCode() == 206 || isEmpty ? BodySubscribers.replacing("")
                    : new Refusal<>(target.name(), info, info.statusCode() != 200 ? null : new FileSystemException(
                            target.name(), null, "the server ignores ranges (status 200 for its first byte, expected"
                                    + " 206)"));
        }), () -> 0);
    }

    private static long totalSize(String name, HttpHeaders headers) throws IOException {
        String range = headers.firstValue("Content-Range").orElse("");
        String total = range.substring(range.lastIndexOf('/') + 1).strip();
        if (!total.matches("[0-9]{1,18}")) {
            throw new FileSystemException(name, null, "the server does not say its size: Content-Range is '" + range
                    + "'");
        }
        return Long.parseLong(total);
    }

    /** Returns the number in a header; -1 if there is none. */
    static long number(HttpHeaders headers, String name) {
        String text = headers.firstValue(name).orElse("");
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
    }

    /** Requests a text. */
    HttpResponse<byte[]> text(Target target) throws IOException {
        return retries.run(() -> once("GET", target, Map.of(), answer(target.name(), () ->
                BodySubscribers.limiting(BodySubscribers.ofByteArray(), MAX_TEXT_BYTES))), () -> 0);
    }

    /** Reads the missing bytes of a range. */
    void read(Target target, RangeBody body) throws IOException {
        retries.run(() -> {
            if (body.missing() > 0) {
                readMissing(target, body);
            }
            return body;
        }, body::done);
    }

    private void readMissing(Target target, RangeBody body) throws IOException {
        try {
            hedges.run(body.missing(), (isSecond, isSent) -> {
                RangeBody.Request request = body.request();
                Map<String, String> headers = new TreeMap<>();
                request.addTo(headers);
                boolean isUrgent = isSecond || body.hasFailed();
                once("GET", target, headers, BodyPublishers.noBody(), request, new Sending(false, isUrgent, phase -> {
                    body.enter(phase);
                    if (phase == FetchPhase.FIRST_BYTE) {
                        body.sent();
                        isSent.run();
                    }
                }));
            });
        } catch (IOException e) {
            body.enter(FetchPhase.RETRY);
            throw e;
        }
    }

    /** Reads an answer; fails as an attempt does. */
    @FunctionalInterface
    interface Reading<T> {
        T of(HttpResponse<byte[]> answer) throws IOException;
    }

    /**
     * Sends a body, which can be published again.
     *
     * @param answers the statuses besides 200 that are read, too
     */
    <T> T send(String method, Target target, Map<String, String> headers, BodyPublisher body, Set<Integer> answers,
            Reading<T> reading) throws IOException {
        return retries.run(() -> reading.of(once(method, target, headers, body,
                info -> info.statusCode() == 200 || answers.contains(info.statusCode())
                        ? BodySubscribers.limiting(BodySubscribers.ofByteArray(), MAX_TEXT_BYTES)
                        : new Refusal<>(target.name(), info, null), Sending.USUAL)), () -> 0);
    }

    private static <T> BodyHandler<T> answer(String name,
            Supplier<HttpResponse.BodySubscriber<T>> body) {
        return info -> info.statusCode() == 200 ? body.get() : new Refusal<>(name, info, null);
    }

    private <T> HttpResponse<T> once(String method, Target target, Map<String, String> headers, BodyHandler<T> handler)
            throws IOException {
        return once(method, target, headers, BodyPublishers.noBody(), handler, Sending.USUAL);
    }

    /** Sends a request once, and on to where it is redirected. */
    private <T> HttpResponse<T> once(String method, Target target, Map<String, String> headers, BodyPublisher body,
            BodyHandler<T> handler, Sending sending) throws IOException {
        URI uri = target.uri();
        boolean isAuthorized = true;
        for (int i = 0; i <= MAX_REDIRECTS; i++) {
            Map<String, String> all = new TreeMap<>(headers);
            if (isAuthorized) {
                target.authorization().addTo(method, uri, all);
            }
            HttpResponse<T> response = exchange(target.name(), request(method, uri, all, body), handler, sending);
            Optional<String> location = redirect(response.statusCode(), response.headers());
            if (location.isEmpty()) {
                return response;
            }
            URI next = resolve(target.name(), uri, location.get());
            if (sending.isWithinHost && !isSameHost(uri, next)) {
                return response;
            }
            isAuthorized &= isSameHost(uri, next);
            uri = next;
        }
        throw new FileSystemException(target.name(), null, "more than " + MAX_REDIRECTS + " redirects");
    }

    private HttpRequest request(String method, URI uri, Map<String, String> headers, BodyPublisher body) {
        Duration toSend = Duration.ofSeconds(body.contentLength() / LEAST_BYTES_A_SECOND);
        HttpRequest.Builder builder = HttpRequest.newBuilder(uri).timeout(settings.answerTimeout().plus(toSend))
                .method(method, body).setHeader("Accept-Encoding", "identity")
                .setHeader("User-Agent", "penstock");
        headers.forEach(builder::setHeader);
        return builder.build();
    }

    /** Returns where an answer redirects to. S3's answers about another region are no redirects. */
    private static Optional<String> redirect(int status, HttpHeaders headers) {
        return REDIRECTS.contains(status) && headers.firstValue(S3Objects.BUCKET_REGION).isEmpty()
                ? headers.firstValue("Location") : Optional.empty();
    }

    private static URI resolve(String name, URI from, String location) throws IOException {
        URI next;
        try {
            next = from.resolve(location);
        } catch (IllegalArgumentException _) {
            throw new FileSystemException(name, null, "a redirect to no URI");
        }
        boolean isSecure = from.getScheme().equalsIgnoreCase("https");
        String scheme = next.getScheme() == null ? "" : next.getScheme().toLowerCase(Locale.ROOT);
        if (next.getHost() == null || !scheme.equals("https") && (isSecure || !scheme.equals("http"))) {
            throw new FileSystemException(name, null, "a redirect from " + from.getScheme() + " to "
                    + (scheme.isEmpty() ? "no scheme" : scheme));
        }
        return next;
    }

    private static boolean isSameHost(URI one, URI other) {
        return one.getScheme().equalsIgnoreCase(other.getScheme()) && one.getHost().equalsIgnoreCase(other.getHost())
                && one.getPort() == other.getPort();
    }

    /** Sends one request and waits for the end of the answer while it makes progress. */
    private <T> HttpResponse<T> exchange(String name, HttpRequest request, BodyHandler<T> handler, Sending sending)
            throws IOException {
        AtomicLong progress = new AtomicLong();
        String server = request.uri().getRawAuthority();
        BodyHandler<T> watched = info -> {
            answered.add(server);
            return watch(name, info, handler, progress);
        };
        sending.phases.accept(FetchPhase.QUEUE);
        try (RequestSlots.Slot slot = slots.acquire(sending.isUrgent)) {
            sending.phases.accept(FetchPhase.FIRST_BYTE);
            CompletableFuture<HttpResponse<T>> future = plain.takes(request) ? plain.send(request, watched)
                    : client.sendAsync(request, watched);
            try {
                HttpResponse<T> response = await(name, request.uri(), future, request.timeout().orElseThrow(),
                        progress);
                slot.succeeded();
                return response;
            } catch (StatusException e) {
                if (e.isOverload()) {
                    slot.refused();
                }
                throw e;
            } finally {
                future.cancel(true);
            }
        } catch (InterruptedException _) {
            throw Retries.interrupted();
        }
    }

    private static <T> HttpResponse.BodySubscriber<T> watch(String name, ResponseInfo info, BodyHandler<T> handler,
            AtomicLong progress) {
        progress.incrementAndGet();
        if (redirect(info.statusCode(), info.headers()).isPresent()) {
            return nothing();
        }
        FileSystemException encoded = info.statusCode() != 200 && info.statusCode() != 206 ? null
                : BodyCoding.refusal(name, info.headers());
        return new Watched<>(encoded != null ? new Refusal<>(name, info, encoded) : handler.apply(info), progress);
    }

    @SuppressWarnings("NullAway") // the body of a redirect is not looked at
    private static <T> HttpResponse.BodySubscriber<T> nothing() {
        return BodySubscribers.replacing(null);
    }

    private <T> HttpResponse<T> await(String name, URI uri, CompletableFuture<HttpResponse<T>> future,
            Duration toAnswer, AtomicLong progress) throws IOException, InterruptedException {
        while (true) {
            long before = progress.get();
            long millis = (before == 0 ? toAnswer : settings.stallTimeout()).toMillis();
            try {
                return future.get(millis, TimeUnit.MILLISECONDS);
            } catch (TimeoutException _) {
                if (progress.get() == before) {
                    throw new IOException(name + ": no " + (before == 0 ? "answer" : "byte") + " from "
                            + uri.getRawAuthority() + " for " + millis + " ms");
                }
            } catch (ExecutionException e) {
                throw failure(name, uri, e.getCause());
            }
        }
    }

    private IOException failure(String name, URI uri, @Nullable Throwable cause) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            UnreachableException unreachable = UnreachableException.of(name, uri, t,
                    answered.contains(uri.getRawAuthority()), settings.connectTimeout());
            if (unreachable != null) {
                return unreachable;
            }
            if (t instanceof FileSystemException || t instanceof StatusException) {
                return (IOException) t;
            }
            FileSystemException insecure = t instanceof SSLException e ? insecure(name, e) : null;
            if (insecure != null) {
                return insecure;
            }
        }
        String reason = cause == null ? "no answer" : cause.getMessage() == null ? cause.getClass().getSimpleName()
                : cause.getMessage();
        return new IOException(reason.startsWith(name) ? reason
                : name + ": " + UnreachableException.endpoint(uri) + ": " + reason, cause);
    }

    /** Returns the error of a connection that cannot be made secure; null if the connection only ended too early. */
    private static @Nullable FileSystemException insecure(String name, SSLException failure) {
        Throwable refused = null;
        for (Throwable t = failure; t != null; t = t.getCause()) {
            refused = t instanceof GeneralSecurityException ? t : refused;
        }
        if (refused != null) {
            return new FileSystemException(name, null, "the server's certificate is refused: " + refused.getMessage()
                    + " (the property javax.net.ssl.trustStore names a file of trusted certificates)");
        }
        String reason = String.valueOf(failure.getMessage());
        return failure instanceof SSLHandshakeException && !reason.startsWith("Received fatal alert") ? null
                : new FileSystemException(name, null, "no secure connection: " + reason);
    }
}
