// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.penstock.diagnose.watch.RankStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves {@code GET /metrics} as text for Prometheus, from the JDK's HTTP server, and beside it {@code GET /status} as
 * JSON for {@code penstock watch}. It binds to loopback, so only this machine reaches it, unless you pass another
 * address. Metrics have no authentication, a status for other machines needs a token; nothing is encrypted: bind other
 * addresses only on a trusted network.
 *
 * <p>Needs the module {@code jdk.httpserver}. Each request has a virtual thread, so a slow client holds up no other.
 * Totals are read by one request at a time; that does not block the loader.
 */
public final class PrometheusEndpoint implements AutoCloseable {

    private static final String PATH = "/metrics";
    private static final String STATUS_PATH = "/status";
    private static final int LEAST_TOKEN = 16;
    private static final System.Logger LOG = System.getLogger(PrometheusEndpoint.class.getName());

    private final HttpServer server;
    private final ExecutorService executor;

    private PrometheusEndpoint(Metrics metrics, @Nullable Supplier<RankStatus> status, String token,
            InetSocketAddress address) throws IOException {
        server = HttpServer.create(address, 0);
        executor = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("penstock-metrics-", 0).factory());
        server.setExecutor(executor);
        server.createContext("/", exchange -> answer(exchange, metrics, status, token));
        server.start();
        LOG.log(System.Logger.Level.INFO, "metrics at http://{0}:{1}{2}", server.getAddress().getHostString(),
                Integer.toString(server.getAddress().getPort()), PATH);
    }

    /**
     * Serves on the loopback address.
     *
     * @param metrics the metrics
     * @param port the port, or 0 for any free one
     * @return the endpoint, which the caller closes
     * @throws IOException if the port is taken
     */
    public static PrometheusEndpoint open(Metrics metrics, int port) throws IOException {
        return new PrometheusEndpoint(metrics, null, "",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /**
     * Serves on another address, which other machines may reach.
     *
     * @param metrics the metrics
     * @param address the address
     * @return the endpoint, which the caller closes
     * @throws IOException if the address cannot be used
     */
    public static PrometheusEndpoint open(Metrics metrics, InetSocketAddress address) throws IOException {
        return new PrometheusEndpoint(metrics, null, "", address);
    }

    /**
     * Serves a rank's status too, on the loopback address.
     *
     * @param metrics the metrics
     * @param status for example {@code diagnosis::status}; called by one thread at a time
     * @param port the port, or 0 for any free one
     * @return the endpoint, which the caller closes
     * @throws IOException if the port is taken
     */
    public static PrometheusEndpoint open(Metrics metrics, Supplier<RankStatus> status, int port) throws IOException {
        return new PrometheusEndpoint(metrics, status, "",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /**
     * Serves a rank's status too, on another address, to those who send a token.
     *
     * @param metrics the metrics, which need no token
     * @param status for example {@code diagnosis::status}; called by one thread at a time
     * @param address the address
     * @param token what {@code penstock watch --token-file} sends; at least 16 characters
     * @return the endpoint, which the caller closes
     * @throws IOException if the address cannot be used
     * @throws IllegalArgumentException if the token is shorter
     */
    public static PrometheusEndpoint open(Metrics metrics, Supplier<RankStatus> status, InetSocketAddress address,
            String token) throws IOException {
        if (token.length() < LEAST_TOKEN) {
            throw new IllegalArgumentException("found a token of " + token.length() + " characters, expected at least "
                    + LEAST_TOKEN);
        }
        return new PrometheusEndpoint(metrics, status, token, address);
    }

    /** {@return the address and port that it is bound to} */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private static boolean isAllowed(HttpExchange exchange, String token) {
        String sent = exchange.getRequestHeaders().getFirst("Authorization");
        return token.isEmpty() || sent != null && MessageDigest.isEqual(
                ("Bearer " + token).getBytes(StandardCharsets.UTF_8), sent.getBytes(StandardCharsets.UTF_8));
    }

    private synchronized String text(Metrics metrics, @Nullable Supplier<RankStatus> status) {
        return status == null ? PrometheusText.write(metrics) : status.get().toJson() + "\n";
    }

    private void answer(HttpExchange exchange, Metrics metrics, @Nullable Supplier<RankStatus> status, String token)
            throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            boolean isStatus = status != null && exchange.getRequestURI().getPath().equals(STATUS_PATH);
            if (!isStatus && !exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(404, -1);
            } else if (isStatus && !isAllowed(exchange, token)) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
                exchange.sendResponseHeaders(401, -1);
            } else if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                exchange.sendResponseHeaders(405, -1);
            } else {
                byte[] text = text(metrics, isStatus ? status : null).getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type",
                        isStatus ? "application/json" : PrometheusText.CONTENT_TYPE);
                boolean head = method.equals("HEAD");
                exchange.sendResponseHeaders(200, head ? -1 : text.length);
                if (!head) {
                    exchange.getResponseBody().write(text);
                }
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "cannot read the metrics", e);
            throw e;
        }
    }

    /** Stops serving. Repeating it has no effect. */
    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }
}
