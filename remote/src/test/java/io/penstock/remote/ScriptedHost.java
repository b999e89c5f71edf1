// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server on a loopback port that answers as a test says: as those servers do that are not like others. */
public final class ScriptedHost implements AutoCloseable {

    private static final Pattern RANGE = Pattern.compile("bytes=([0-9]+)-([0-9]+)");

    /** Answers a request. */
    @FunctionalInterface
    public interface Script {
        void answer(Request request) throws IOException;
    }

    /** A request, and what it is answered. */
    public static final class Request {

        private final HttpExchange exchange;

        private Request(HttpExchange exchange) {
            this.exchange = exchange;
        }

        public String method() {
            return exchange.getRequestMethod();
        }

        public String path() {
            return exchange.getRequestURI().getPath();
        }

        public String query() {
            String query = exchange.getRequestURI().getRawQuery();
            return query == null ? "" : query;
        }

        public String header(String name) {
            String value = exchange.getRequestHeaders().getFirst(name);
            return value == null ? "" : value;
        }

        public boolean isHead() {
            return method().equals("HEAD");
        }

        /** Adds a header to the answer. */
        public Request with(String name, String value) {
            exchange.getResponseHeaders().set(name, value);
            return this;
        }

        /** Answers the range of some bytes that was asked for. */
        public void data(byte[] bytes) throws IOException {
            Matcher range = RANGE.matcher(header("Range"));
            if (!range.matches()) {
                status(200, bytes);
                return;
            }
            int from = Integer.parseInt(range.group(1));
            if (from >= bytes.length) {
                status(416, new byte[0]);
                return;
            }
            int end = Math.min(Integer.parseInt(range.group(2)) + 1, bytes.length);
            with("Content-Range", "bytes " + from + "-" + (end - 1) + "/" + bytes.length);
            status(206, Arrays.copyOfRange(bytes, from, end));
        }

        /** Answers HEAD with another length than that of the file. */
        public void headOf(long length) throws IOException {
            with("Content-Length", Long.toString(length));
            exchange.sendResponseHeaders(200, -1);
        }

        public void status(int status, byte[] body) throws IOException {
            if (isHead()) {
                with("Content-Length", Integer.toString(body.length));
            }
            exchange.sendResponseHeaders(status, isHead() || body.length == 0 ? -1 : body.length);
            if (!isHead()) {
                exchange.getResponseBody().write(body);
            }
        }

        public void status(int status, String body) throws IOException {
            status(status, body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ConcurrentLinkedQueue<String> requests = new ConcurrentLinkedQueue<>();

    private ScriptedHost(Script script) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            try (exchange) {
                script.answer(new Request(exchange));
            }
        });
        server.start();
    }

    public static ScriptedHost start(Script script) {
        try {
            return new ScriptedHost(script);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Every request so far: its method, path and query. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    public void forgetRequests() {
        requests.clear();
    }

    public String host() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    public String url(String path) {
        return "http://" + host() + "/" + path;
    }

    /** Files of HTTP servers, of buckets of this one, and of data sets of this one. */
    public RemoteFiles files(Path cache) {
        return files(cache, RemoteSettings.Access.ONLINE);
    }

    public RemoteFiles files(Path cache, RemoteSettings.Access access) {
        Map<String, String> environment = Map.of("AWS_ENDPOINT_URL_S3", "http://" + host(), "AWS_CONFIG_FILE",
                cache.resolve("none").toString(), "AWS_SHARED_CREDENTIALS_FILE", cache.resolve("none").toString(),
                "AWS_ACCESS_KEY_ID", "KEY", "AWS_SECRET_ACCESS_KEY", "SECRET", "HF_ENDPOINT", "http://" + host(),
                "HF_TOKEN_PATH", cache.resolve("none").toString());
        return RemoteFiles.of(RemoteSettings.of(environment).withCache(cache, 1L << 30).withBlockBytes(1 << 16)
                .withAccess(access).withRequests(RequestSettings.DEFAULT.withHedges(0)), environment);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
