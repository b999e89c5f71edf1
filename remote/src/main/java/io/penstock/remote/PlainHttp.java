// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Requests ranges over plain HTTP/1.1, and hands their bytes on from the buffer into which the kernel copied them: the
 * JDK's client copies each byte twice more. Thread-safe.
 *
 * <p>It does no more than that needs. Another method, TLS, and a proxy are for the JDK's client
 * ({@link #takes}), and so is, from its first such answer on, a server whose answers have no length.
 */
final class PlainHttp {

    private static final int BUFFER_BYTES = 256 << 10;
    /** So much is handed on at a time, but for the last part of a body. */
    private static final int PART_BYTES = 64 << 10;
    private static final long IDLE_NANOS = 30_000_000_000L;

    private final Duration connectTimeout;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("penstock-http-", 0).factory());
    /** Buffers of no request. Those of threads would stay, when these end, until the collector comes. */
    private final Queue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();
    private final Executor later = CompletableFuture.delayedExecutor(IDLE_NANOS, TimeUnit.NANOSECONDS);
    /** The servers whose answers have no length. */
    private final Set<String> others = ConcurrentHashMap.newKeySet();
    /** The connections without a request, the latest first. Guarded by the monitor. */
    private final Deque<Idle> idle = new ArrayDeque<>();
    private boolean isSweeping;

    private record Idle(String authority, SocketChannel channel, long since) {
    }

    PlainHttp(Duration connectTimeout) {
        this.connectTimeout = connectTimeout;
    }

    /** Tells whether a request can be sent here. */
    boolean takes(HttpRequest request) {
        URI uri = request.uri();
        if (!uri.getScheme().equalsIgnoreCase("http") || !request.method().equals("GET")
                || request.headers().firstValue("Range").isEmpty() || others.contains(uri.getRawAuthority())
                || !target(uri).chars().allMatch(c -> c > ' ' && c < 0x7F)) {
            return false;
        }
        ProxySelector proxies = ProxySelector.getDefault();
        return proxies == null || proxies.select(uri).stream().allMatch(proxy -> proxy.type() == Proxy.Type.DIRECT);
    }

    /** Sends a request; cancelling the result ends it. */
    <T> CompletableFuture<HttpResponse<T>> send(HttpRequest request, BodyHandler<T> handler) {
        Call<T> call = new Call<>(request, handler);
        threads.execute(call);
        return call;
    }

    private static String target(URI uri) {
        String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
    }

    private static byte[] head(HttpRequest request) {
        URI uri = request.uri();
        StringBuilder head = new StringBuilder("GET ").append(target(uri)).append(" HTTP/1.1\r\nHost: ")
                .append(uri.getHost());
        if (uri.getPort() >= 0 && uri.getPort() != 80) {
            head.append(':').append(uri.getPort());
        }
        head.append("\r\n");
        request.headers().map().forEach((name, values) -> values.forEach(value ->
                head.append(name).append(": ").append(value).append("\r\n")));
        return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private SocketChannel connect(URI uri) throws IOException {
        InetSocketAddress address = new InetSocketAddress(uri.getHost(), uri.getPort() < 0 ? 80 : uri.getPort());
        if (address.isUnresolved()) {
            throw new UnknownHostException("the host " + uri.getHost() + " is unknown");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.socket().connect(address, (int) Math.min(connectTimeout.toMillis(), Integer.MAX_VALUE));
            return channel;
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    // ---- connections without a request

    private synchronized @Nullable SocketChannel reuse(String authority) {
        Optional<Idle> found = idle.stream().filter(one -> one.authority.equals(authority)).findFirst();
        found.ifPresent(idle::remove);
        return found.map(Idle::channel).orElse(null);
    }

    private synchronized void keep(String authority, SocketChannel channel) {
        if (!isSweeping) {
            isSweeping = true;
            later.execute(this::sweep);
        }
        idle.push(new Idle(authority, channel, System.nanoTime()));
    }

    /** Closes connections that nobody has used for long. */
    private synchronized void sweep() {
        long now = System.nanoTime();
        while (!idle.isEmpty() && now - idle.getLast().since >= IDLE_NANOS) {
            close(idle.removeLast().channel);
        }
        isSweeping = !idle.isEmpty();
        if (isSweeping) {
            later.execute(this::sweep);
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // it is of no more use
        }
    }

    /** A request under way, on a thread of its own, which is never interrupted: that would close files, too. */
    private final class Call<T> extends CompletableFuture<HttpResponse<T>> implements Runnable {

        private final HttpRequest request;
        private final String authority;
        private final BodyHandler<T> handler;
        /** The connection, while this uses it. Guarded by the monitor. */
        private @Nullable SocketChannel channel;

        Call(HttpRequest request, BodyHandler<T> handler) {
            this.request = request;
            this.authority = request.uri().getRawAuthority();
            this.handler = handler;
        }

        @Override
        public void run() {
            try {
                SocketChannel known = reuse(authority);
                HttpResponse<T> answer = known == null ? null : exchange(known, true);
                complete(answer != null ? answer : exchange(connect(request.uri()), false));
            } catch (CompletionException e) {
                completeExceptionally(e.getCause() == null ? e : e.getCause());
            } catch (Throwable t) {
                completeExceptionally(t);
            }
        }

        /** Ends the exchange, unless it is done: then the connection may be another one's. */
        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean isCancelled = super.cancel(mayInterrupt);
            synchronized (this) {
                if (isCancelled && channel != null) {
                    close(channel);
                }
            }
            return isCancelled;
        }

        private synchronized void attach(SocketChannel given) throws IOException {
            if (isDone()) {
                close(given);
                throw new ClosedChannelException();
            }
            channel = given;
        }

        /** Returns null if the server had closed the connection before: it has not seen the request. */
        private @Nullable HttpResponse<T> exchange(SocketChannel given, boolean isReused) throws IOException {
            attach(given);
            boolean isKept = false;
            ByteBuffer free = buffers.poll();
            ByteBuffer buffer = free == null ? ByteBuffer.allocateDirect(BUFFER_BYTES) : free.clear();
            try {
                if (!ask(given, buffer, isReused)) {
                    return null;
                }
                HttpHead head = HttpHead.read(buffer, given);
                if (head.bodyBytes() < 0) {
                    others.add(authority);
                    throw new IOException("an answer of unknown length");
                }
                BodySubscriber<T> subscriber = handler.apply(head);
                isKept = deliver(given, buffer, head.bodyBytes(), subscriber) && head.isKeptAlive();
                return new Answer<>(request, request.uri(), head.version(), head.statusCode(), head.headers(),
                        subscriber.getBody().toCompletableFuture().join(), Optional.empty(), Optional.empty());
            } finally {
                buffers.add(buffer);
                synchronized (this) {
                    channel = null;
                }
                if (isKept) {
                    keep(authority, given);
                } else {
                    close(given);
                }
            }
        }

        /** Sends the request, and reads the first of the answer; returns false if it has to be sent again. */
        private boolean ask(SocketChannel given, ByteBuffer buffer, boolean isReused) throws IOException {
            try {
                for (ByteBuffer bytes = ByteBuffer.wrap(head(request)); bytes.hasRemaining();) {
                    given.write(bytes);
                }
                if (given.read(buffer) < 0) {
                    throw new IOException("the server closed the connection instead of an answer");
                }
                return true;
            } catch (IOException e) {
                if (isReused && !(e instanceof ClosedChannelException)) {
                    return false;
                }
                throw e;
            }
        }

        /** Hands a body on; returns whether it was read to its end, and nothing follows. */
        private static boolean deliver(SocketChannel given, ByteBuffer buffer, long length,
                BodySubscriber<?> subscriber) {
            Demand demand = new Demand();
            subscriber.onSubscribe(demand);
            for (long left = length; left > 0 && !demand.isCancelled;) {
                boolean isOver = false;
                if (!buffer.hasRemaining()) {
                    isOver = !fill(given, buffer.clear(), Math.min(left, PART_BYTES));
                }
                int part = (int) Math.min(left, buffer.remaining());
                left -= part;
                if (part > 0) {
                    ByteBuffer bytes = buffer.slice(buffer.position(), part);
                    buffer.position(buffer.position() + part);
                    subscriber.onNext(List.of(bytes));
                }
                if (isOver && left > 0) {
                    subscriber.onError(new IOException("the connection ended " + left + " bytes before the body of "
                            + length));
                    return false;
                }
            }
            if (!demand.isCancelled) {
                subscriber.onComplete();
            }
            return !demand.isCancelled && !buffer.hasRemaining();
        }

        /** Reads at least so many bytes; returns false if there are fewer, for whatever reason: they count. */
        private static boolean fill(SocketChannel given, ByteBuffer buffer, long bytes) {
            int read = 0;
            try {
                while (read >= 0 && buffer.position() < bytes) {
                    read = given.read(buffer);
                }
            } catch (IOException _) {
                read = -1;
            }
            buffer.flip();
            return read >= 0;
        }
    }

    /** Takes all that comes until it is cancelled. */
    private static final class Demand implements Flow.Subscription {

        private boolean isCancelled;

        @Override
        public void request(long parts) {
            // all are given
        }

        @Override
        public void cancel() {
            isCancelled = true;
        }
    }

    private record Answer<T>(HttpRequest request, URI uri, HttpClient.Version version, int statusCode,
            HttpHeaders headers, T body, Optional<HttpResponse<T>> previousResponse, Optional<SSLSession> sslSession)
            implements HttpResponse<T> {
    }
}
