// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.penstock.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A hub with one data set, {@code owner/name}, that answers as Hugging Face's does: large files are at a CDN, which is
 * another host with ETags of its own; small ones are below another path; lists have pages of two.
 */
final class HubHost implements AutoCloseable {

    static final String TOKEN = "hf_secret";
    private static final String REPOSITORY = "owner/name";
    private static final int LARGE = 1000;
    private static final int PAGE = 2;

    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ObjectHost cdn = ObjectHost.start();
    private final Map<String, Map<String, byte[]>> commits = new TreeMap<>();
    private final Map<String, String> branches = new TreeMap<>();
    private final List<String> requests = new ArrayList<>();
    private boolean isPrivate;
    private int addresses;

    HubHost() throws IOException {
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                handle(exchange);
            }
        });
        server.start();
    }

    ObjectHost cdn() {
        return cdn;
    }

    String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The requests for whole addresses that the hub has answered. */
    synchronized List<String> requests() {
        return List.copyOf(requests);
    }

    /** Lets only those in who have the token. */
    synchronized void requireToken() {
        isPrivate = true;
    }

    /** The addresses of the CDN that were given out are no longer good. */
    synchronized void expireAddresses() {
        cdn.objects().keySet().forEach(cdn::remove);
    }

    /** Adds a commit and lets a branch be it. */
    synchronized void push(String branch, String commit, Map<String, byte[]> files) {
        commits.put(commit, new TreeMap<>(files));
        branches.put(branch, commit);
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
        Headers answer = exchange.getResponseHeaders();
        if (isPrivate && !("Bearer " + TOKEN).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
            answer.set("X-Error-Code", "RepoNotFound");
            exchange.sendResponseHeaders(401, -1);
            return;
        }
        String api = "/api/datasets/" + REPOSITORY;
        if (path.startsWith(api + "/revision/")) {
            String revision = URLDecoder.decode(path.substring((api + "/revision/").length()), StandardCharsets.UTF_8);
            String commit = branches.getOrDefault(revision, revision);
            json(exchange, commits.containsKey(commit) ? Map.of("id", REPOSITORY, "sha", commit) : null);
        } else if (path.startsWith(api + "/tree/")) {
            String[] parts = (path.substring((api + "/tree/").length()) + "/").split("/", 2);
            tree(exchange, parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        } else if (path.startsWith("/datasets/" + REPOSITORY + "/resolve/")) {
            String[] parts = path.substring(("/datasets/" + REPOSITORY + "/resolve/").length()).split("/", 2);
            resolve(exchange, parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        } else if (path.startsWith("/api/resolve-cache/")) {
            String[] parts = path.substring("/api/resolve-cache/".length()).split("/", 2);
            small(exchange, commits.get(parts[0]).get(URLDecoder.decode(parts[1], StandardCharsets.UTF_8)));
        } else {
            exchange.sendResponseHeaders(404, -1);
        }
    }

    private static void json(HttpExchange exchange, Object value) throws IOException {
        byte[] body = Json.write(value).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(value == null ? 404 : 200, body.length);
        exchange.getResponseBody().write(body);
    }

    private void tree(HttpExchange exchange, String commit, String folder) throws IOException {
        String prefix = folder.equals("/") ? "" : folder;
        Set<Object> entries = new LinkedHashSet<>();
        commits.getOrDefault(commit, Map.of()).forEach((path, bytes) -> {
            if (path.startsWith(prefix)) {
                String rest = path.substring(prefix.length());
                int slash = rest.indexOf('/');
                entries.add(slash >= 0 ? Map.of("type", "directory", "oid", "0", "size", 0L, "path",
                        prefix + rest.substring(0, slash)) : file(path, bytes));
            }
        });
        String query = exchange.getRequestURI().getRawQuery();
        int from = query == null ? 0 : Integer.parseInt(query.replace("cursor=", ""));
        List<Object> all = new ArrayList<>(entries);
        if (from + PAGE < all.size()) {
            exchange.getResponseHeaders().set("Link", "<" + endpoint() + exchange.getRequestURI().getRawPath()
                    + "?cursor=" + (from + PAGE) + ">; rel=\"next\"");
        }
        json(exchange, all.isEmpty() ? null : all.subList(from, Math.min(all.size(), from + PAGE)));
    }

    private static Object file(String path, byte[] bytes) {
        String hash = hash(bytes);
        return bytes.length < LARGE ? Map.of("type", "file", "oid", hash, "size", (long) bytes.length, "path", path)
                : Map.of("type", "file", "oid", "pointer", "size", (long) bytes.length, "path", path, "lfs",
                        Map.of("oid", hash, "size", (long) bytes.length, "pointerSize", 130L));
    }

    static String hash(byte[] bytes) {
        return "f" + ObjectHost.etag(bytes).replace("\"", "");
    }

    private void resolve(HttpExchange exchange, String commit, String path) throws IOException {
        byte[] bytes = commits.getOrDefault(commit, Map.of()).get(path);
        Headers answer = exchange.getResponseHeaders();
        if (bytes == null) {
            answer.set("X-Error-Code", "EntryNotFound");
            exchange.sendResponseHeaders(404, -1);
            return;
        }
        answer.set("X-Repo-Commit", commit);
        if (bytes.length < LARGE) {
            answer.set("Location", "/api/resolve-cache/" + commit + "/" + UriText.path(path));
            exchange.sendResponseHeaders(307, -1);
            return;
        }
        String address = "blob-" + addresses++;
        cdn.put(address, bytes);
        answer.set("X-Linked-ETag", '"' + hash(bytes) + '"');
        answer.set("X-Linked-Size", Integer.toString(bytes.length));
        answer.set("Location", cdn.url(address) + "?Signature=secret");
        exchange.sendResponseHeaders(302, -1);
    }

    private static void small(HttpExchange exchange, byte[] bytes) throws IOException {
        Headers answer = exchange.getResponseHeaders();
        answer.set("ETag", '"' + hash(bytes) + '"');
        if (exchange.getRequestMethod().equals("HEAD")) {
            answer.set("Content-Length", Integer.toString(bytes.length));
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        answer.set("Content-Range", "bytes 0-" + (bytes.length - 1) + "/" + bytes.length);
        exchange.sendResponseHeaders(206, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        cdn.close();
    }
}
