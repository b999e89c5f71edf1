// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves a view of a run as one page that updates itself, on the loopback address alone: {@code /}, and {@code
 * /run.json} behind it. The page loads nothing from elsewhere. Needs the module {@code jdk.httpserver}.
 */
public final class WatchPage implements AutoCloseable {

    private static final String PAGE = "watch.html";

    private final HttpServer server;
    private final ExecutorService executor;
    private final byte[] page;
    private volatile String json = "null";

    private WatchPage(int port) throws IOException {
        try (InputStream in = Objects.requireNonNull(WatchPage.class.getResourceAsStream(PAGE), PAGE)) {
            page = in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        // A thread for each request: a browser that connects and sends nothing holds up no other.
        executor = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("penstock-page-", 0).factory());
        server.setExecutor(executor);
        server.createContext("/", this::answer);
        server.start();
    }

    /**
     * Serves, without a view at first.
     *
     * @param port the port, or 0 for any free one
     * @return the page, which the caller closes
     * @throws IOException if the port is taken
     */
    public static WatchPage open(int port) throws IOException {
        return new WatchPage(port);
    }

    /** {@return where it is: {@code http://127.0.0.1:8080/}} */
    public String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /**
     * Shows a view from now on.
     *
     * @param view the run
     */
    public void show(RunView view) {
        json = Json.write(RecordJson.write(view));
    }

    /** Another site that a name of its own leads to this address is not answered. */
    private static boolean isOwn(String host) {
        String name = host.replaceFirst(":\\d+$", "");
        return name.equals("127.0.0.1") || name.equals("localhost") || name.equals("[::1]");
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            boolean isPage = path.equals("/");
            if (!isOwn(Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Host"), ""))) {
                exchange.sendResponseHeaders(403, -1);
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(405, -1);
            } else if (!isPage && !path.equals("/run.json")) {
                exchange.sendResponseHeaders(404, -1);
            } else {
                byte[] body = isPage ? page : json.getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type",
                        isPage ? "text/html; charset=utf-8" : "application/json");
                exchange.getResponseHeaders().set("Cache-Control", "no-store");
                exchange.getResponseHeaders().set("Content-Security-Policy", "default-src 'none'; style-src"
                        + " 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        }
    }

    /** Stops serving. Repeating it has no effect. */
    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }
}
