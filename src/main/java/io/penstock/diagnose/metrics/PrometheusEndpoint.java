// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves {@code GET /metrics} as text for Prometheus, from the JDK's HTTP server. It binds to loopback, so only this
 * machine reaches it, unless you pass another address. It has no authentication or encryption: bind other addresses
 * only on a trusted network.
 *
 * <p>Needs the module {@code jdk.httpserver}. One daemon thread serves; a scrape reads totals and blocks no one.
 */
public final class PrometheusEndpoint implements AutoCloseable {

    private static final String PATH = "/metrics";
    private static final System.Logger LOG = System.getLogger(PrometheusEndpoint.class.getName());

    private final HttpServer server;
    private final ExecutorService executor;

    private PrometheusEndpoint(Metrics metrics, InetSocketAddress address) throws IOException {
        server = HttpServer.create(address, 0);
        executor = Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("penstock-metrics").factory());
        server.setExecutor(executor);
        server.createContext("/", exchange -> answer(exchange, metrics));
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
        return new PrometheusEndpoint(metrics, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
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
        return new PrometheusEndpoint(metrics, address);
    }

    /** {@return the address and port that it is bound to} */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    private static void answer(HttpExchange exchange, Metrics metrics) throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(404, -1);
            } else if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                exchange.sendResponseHeaders(405, -1);
            } else {
                byte[] text = PrometheusText.write(metrics).getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", PrometheusText.CONTENT_TYPE);
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
