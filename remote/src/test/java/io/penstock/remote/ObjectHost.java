// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.penstock.internal.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Objects on a loopback port, over HTTP with ranges, ETags and conditions, and over S3's API below {@code /BUCKET/}
 * when a bucket is named: signatures are checked against what was really sent. It can misbehave.
 */
public final class ObjectHost implements AutoCloseable {

    /** What a server may do to a request for bytes instead of answering it. */
    public enum Fault {
        /** 503. */
        UNAVAILABLE,
        /** 503, and says when to come again. */
        UNAVAILABLE_FOR_A_SECOND,
        /** Half of the body, then the end of the connection. */
        CUT,
        /** The whole object, for a part of it. */
        IGNORE_RANGE,
        /** The bytes one further than those asked for. */
        OTHER_RANGE,
        /** One byte less than those asked for, and says so. */
        SHORT,
        /** No answer. */
        SILENT,
        /** Half of the body, then nothing. */
        STALL
    }

    /** What a server may do to any request. */
    public enum RequestFault {
        /** 503, and nothing else. */
        UNAVAILABLE,
        /** What was asked for, and then the end of the connection instead of an answer. */
        LOST,
        /** 403. */
        DENIED,
        /** Of a request that makes an object: 200, and an error in the body. */
        LATE_ERROR
    }

    /** Chooses what happens to a request; null for nothing. */
    @FunctionalInterface
    public interface Faults {

        /**
         * Chooses.
         *
         * @param number counted from 0
         * @param request its method and URI
         */
        RequestFault of(int number, String request);
    }

    /** The key that may read the bucket. */
    public static final S3Credentials KEY = S3Credentials.of("TESTKEY", "not/a+secret");

    private static final Pattern RANGE = Pattern.compile("bytes=([0-9]+)-([0-9]+)");
    private static final int PAGE = 3;

    static {
        // Without it, the JDK's server waits 40 ms before it answers on a kept connection.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final String scheme;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, byte[]> objects = new ConcurrentSkipListMap<>();
    private final Map<String, String> redirects = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();
    private final List<String> requests = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Set<HttpExchange> unanswered = ConcurrentHashMap.newKeySet();
    private volatile String bucket;
    private volatile String password;
    private volatile boolean heads = true;
    private volatile boolean lists = true;
    private volatile boolean tokens = true;
    private volatile boolean encodesPercent = true;
    private volatile int mostUnanswered;
    private final BucketWrites writes = new BucketWrites(objects);
    private final AtomicInteger count = new AtomicInteger();
    private volatile Faults requestFaults = (_, _) -> null;

    private ObjectHost(TestCertificate certificate) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        if (certificate == null) {
            scheme = "http://";
            server = HttpServer.create(address, 0);
        } else {
            scheme = "https://";
            HttpsServer secure = HttpsServer.create(address, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(certificate.context()));
            server = secure;
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Starts a host. */
    public static ObjectHost start() throws IOException {
        return new ObjectHost(null);
    }

    /** Starts a host that speaks TLS. */
    public static ObjectHost start(TestCertificate certificate) throws IOException {
        return new ObjectHost(certificate);
    }

    /** Makes the host speak S3 below this bucket's name. */
    public ObjectHost bucket(String name) {
        bucket = name;
        return this;
    }

    /** Adds an object, or replaces it. */
    public ObjectHost put(String path, byte[] bytes) {
        objects.put(path, bytes);
        return this;
    }

    public void remove(String path) {
        objects.remove(path);
    }

    /** Sends who asks for a path elsewhere. */
    public void redirect(String path, String location) {
        redirects.put(path, location);
    }

    /** Requires a header {@code Authorization}. */
    public void requireAuthorization(String value) {
        password = value;
    }

    /** Takes a header {@code Authorization} for a problem. */
    public void forbidAuthorization() {
        password = "";
    }

    /** Answers HEAD with 405. */
    public void refuseHead() {
        heads = false;
    }

    /** Denies lists of objects. */
    public void refuseLists() {
        lists = false;
    }

    /** Links to a name with a sign of percent as if that needed no encoding. */
    void forgetPercent() {
        encodesPercent = false;
    }

    /** Lists only what fits in one answer, as the first version of S3's list does without a marker. */
    void forgetTokens() {
        tokens = false;
    }

    /** What happens to the next requests for bytes, one each. */
    public void fail(Fault... next) {
        faults.addAll(List.of(next));
    }

    /** Counts requests from 0 again, and says what happens to each. */
    public void failRequests(Faults chosen) {
        count.set(0);
        requestFaults = chosen;
    }

    /** How many requests there were since. */
    public int requestCount() {
        return count.get();
    }

    /** The objects that there are. */
    public Map<String, byte[]> objects() {
        return new TreeMap<>(objects);
    }

    /** What was written. */
    BucketWrites writes() {
        return writes;
    }

    /** Every request so far: its method, path, query and range. */
    public synchronized List<String> requests() {
        return List.copyOf(requests);
    }

    /** The requests for bytes. */
    public List<String> gets() {
        return requests().stream().filter(request -> request.startsWith("GET") && request.contains("bytes=")).toList();
    }

    public synchronized void forgetRequests() {
        requests.clear();
    }

    /** What was wrong with requests that should have been right. */
    public synchronized List<String> problems() {
        return List.copyOf(problems);
    }

    /** How many requests there were at once at most whose answers had not begun. */
    public int mostUnanswered() {
        return mostUnanswered;
    }

    /** Waits for the end of every request, also of those whose answer nobody reads. */
    void awaitIdle() {
        while (inFlight.get() > 0) {
            Thread.onSpinWait();
        }
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public String host() {
        return "127.0.0.1:" + port();
    }

    public URI endpoint() {
        return URI.create(scheme + host());
    }

    /** The URL of an object. */
    public String url(String path) {
        return scheme + host() + "/" + path;
    }

    /**
     * Settings for this host, with fast retries and a cache of blocks of 64 KiB. No request is sent twice for being
     * late: tests count requests, and which of them are late is for the scheduler to say.
     */
    public RemoteSettings settings(Path cache) {
        return RemoteSettings.of(Map.of()).withCache(cache, 1L << 30).withBlockBytes(1 << 16)
                .withS3(new S3Settings(endpoint(), "us-east-1", S3Settings.Addressing.AUTO, () ->
                        Optional.of(KEY)))
                .withRequests(RequestSettings.DEFAULT.withRetries(4, Duration.ofMillis(1),
                        Duration.ofMillis(4), 1000).withHedges(0));
    }

    /** Files of this host. */
    public RemoteFiles files(Path cache) {
        return RemoteFiles.of(settings(cache), Map.of());
    }

    /** The version of some bytes. */
    public static String etag(byte[] bytes) {
        MessageDigest sha256 = Sha256.digest();
        sha256.update(bytes);
        return '"' + Sha256.hex(sha256).substring(0, 20) + '"';
    }

    private synchronized void note(HttpExchange exchange) {
        String range = exchange.getRequestHeaders().getFirst("Range");
        requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI()
                + (range == null ? "" : " " + range));
    }

    private synchronized void problem(String text) {
        problems.add(text);
    }

    private void handle(HttpExchange exchange) throws IOException {
        note(exchange);
        inFlight.incrementAndGet();
        unanswered.add(exchange);
        synchronized (this) {
            mostUnanswered = Math.max(mostUnanswered, unanswered.size());
        }
        try (exchange) {
            answer(exchange);
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            unanswered.remove(exchange);
            inFlight.decrementAndGet();
        }
    }

    private void answer(HttpExchange exchange) throws IOException, InterruptedException {
        String path = exchange.getRequestURI().getPath().substring(1);
        Headers headers = exchange.getRequestHeaders();
        byte[] sent = exchange.getRequestBody().readAllBytes();
        RequestFault fault = requestFaults.of(count.getAndIncrement(),
                exchange.getRequestMethod() + " " + exchange.getRequestURI());
        if (fault == RequestFault.UNAVAILABLE || fault == RequestFault.DENIED) {
            status(exchange, fault == RequestFault.DENIED ? 403 : 503, "");
            return;
        }
        if (redirects.containsKey(path)) {
            exchange.getResponseHeaders().set("Location", redirects.get(path));
            exchange.sendResponseHeaders(302, -1);
            return;
        }
        if ("".equals(password) && headers.containsKey("Authorization")) {
            problem("Authorization was sent");
        } else if (password != null && !password.isEmpty() && !password.equals(headers.getFirst("Authorization"))) {
            status(exchange, 403, "denied");
            return;
        }
        if (bucket != null) {
            if (!isSigned(exchange, sent)) {
                status(exchange, 403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
                return;
            }
            if (path.equals(bucket) || path.equals(bucket + "/")) {
                list(exchange);
                return;
            }
            path = path.startsWith(bucket + "/") ? path.substring(bucket.length() + 1) : "?";
            if (!Set.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
                write(exchange, path, sent, fault);
                return;
            }
        } else if (path.isEmpty() || path.endsWith("/")) {
            page(exchange, path);
            return;
        }
        byte[] bytes = objects.get(path);
        if (bytes == null) {
            status(exchange, 404, "<Error><Code>NoSuchKey</Code></Error>");
        } else if (exchange.getRequestMethod().equals("HEAD")) {
            head(exchange, path, bytes);
        } else {
            get(exchange, path, bytes);
        }
    }

    private void write(HttpExchange exchange, String key, byte[] body, RequestFault fault) throws IOException {
        Map<String, String> query = query(exchange);
        if (fault == RequestFault.LATE_ERROR && exchange.getRequestMethod().equals("POST")) {
            status(exchange, 200, "<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>");
            return;
        }
        BucketWrites.Answer answer = writes.answer(exchange.getRequestMethod(), key, query,
                exchange.getRequestHeaders(), body);
        if (fault == RequestFault.LOST) {
            throw new IOException("the end of the connection");
        }
        if (!answer.etag().isEmpty()) {
            exchange.getResponseHeaders().set("ETag", answer.etag());
        }
        status(exchange, answer.status(), answer.body());
    }

    private static Map<String, String> query(HttpExchange exchange) {
        Map<String, String> query = new TreeMap<>();
        String raw = exchange.getRequestURI().getRawQuery();
        for (String pair : raw == null ? new String[0] : raw.split("&")) {
            int equals = pair.indexOf('=');
            query.put(equals < 0 ? pair : pair.substring(0, equals), equals < 0 ? ""
                    : URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        }
        return query;
    }

    private void head(HttpExchange exchange, String path, byte[] bytes) throws IOException {
        if (writes.mark(path) != null) {
            exchange.getResponseHeaders().set("x-amz-meta-penstock-write", writes.mark(path));
        }
        exchange.getResponseHeaders().set("ETag", etag(bytes));
        exchange.getResponseHeaders().set("Content-Length", Integer.toString(bytes.length));
        exchange.sendResponseHeaders(heads ? 200 : 405, -1);
    }

    private void get(HttpExchange exchange, String path, byte[] bytes) throws IOException, InterruptedException {
        Headers headers = exchange.getRequestHeaders();
        Matcher range = RANGE.matcher(headers.getFirst("Range") == null ? "" : headers.getFirst("Range"));
        if (!range.matches()) {
            problem("GET " + path + " without a range");
            send(exchange, 200, bytes, bytes.length);
            return;
        }
        int from = Integer.parseInt(range.group(1));
        int last = Math.min(Integer.parseInt(range.group(2)), bytes.length - 1);
        String match = headers.getFirst("If-Match");
        if (match == null && heads && !range.group().equals("bytes=0-0")) {
            problem("GET " + path + " without If-Match");
        }
        Fault fault = faults.poll();
        if (fault != Fault.IGNORE_RANGE && match != null && !match.equals(etag(bytes))) {
            status(exchange, 412, "<Error><Code>PreconditionFailed</Code></Error>");
            return;
        }
        exchange.getResponseHeaders().set("ETag", etag(bytes));
        if (from >= bytes.length) {
            status(exchange, 416, "");
            return;
        }
        int shift = fault == Fault.OTHER_RANGE ? 1 : 0;
        int end = fault == Fault.SHORT ? last : last + 1;
        byte[] part = Arrays.copyOfRange(bytes, from + shift, end + shift);
        exchange.getResponseHeaders().set("Content-Range", "bytes " + (from + shift) + "-" + (end + shift - 1) + "/"
                + bytes.length);
        switch (fault) {
            case UNAVAILABLE -> status(exchange, 503, "<Error><Code>SlowDown</Code></Error>");
            case UNAVAILABLE_FOR_A_SECOND -> {
                exchange.getResponseHeaders().set("Retry-After", "1");
                status(exchange, 503, "");
            }
            case IGNORE_RANGE -> send(exchange, 200, bytes, bytes.length);
            case CUT -> send(exchange, 206, part, part.length / 2);
            case SILENT -> Thread.sleep(60_000);
            case STALL -> {
                exchange.sendResponseHeaders(206, part.length);
                exchange.getResponseBody().write(part, 0, part.length / 2);
                exchange.getResponseBody().flush();
                Thread.sleep(60_000);
            }
            case null, default -> send(exchange, 206, part, part.length);
        }
    }

    /** Answers so many bytes of a body; a body that is cut ends the connection. */
    private void send(HttpExchange exchange, int status, byte[] body, int bytes) throws IOException {
        unanswered.remove(exchange);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        OutputStream out = exchange.getResponseBody();
        out.write(body, 0, bytes);
        out.flush();
        if (bytes == body.length) {
            out.close();
        }
    }

    private void status(HttpExchange exchange, int status, String body) throws IOException {
        unanswered.remove(exchange);
        boolean isEmpty = body.isEmpty() || exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, isEmpty ? -1 : body.length());
        if (!isEmpty) {
            exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void page(HttpExchange exchange, String folder) throws IOException {
        StringBuilder html = new StringBuilder("<html><body><a href=\"../\">../</a>");
        for (String name : names(folder)) {
            String link = UriText.path(name).replace("%26", "&amp;");
            html.append("<a class=\"x\" href=\"").append(encodesPercent ? link : link.replace("%25", "%"))
                    .append("\">").append("link</a>\n");
        }
        exchange.getResponseHeaders().set("Content-Type", lists ? "text/html; charset=utf-8" : "text/plain");
        byte[] body = html.toString().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    /** The names directly in a folder; subfolders end in a slash. */
    private Set<String> names(String prefix) {
        Set<String> names = new LinkedHashSet<>();
        for (String path : objects.keySet()) {
            if (path.startsWith(prefix)) {
                String rest = path.substring(prefix.length());
                int slash = rest.indexOf('/');
                names.add(slash < 0 ? rest : rest.substring(0, slash + 1));
            }
        }
        return names;
    }

    private void list(HttpExchange exchange) throws IOException {
        Map<String, String> query = query(exchange);
        if (!lists) {
            status(exchange, 403, "<Error><Code>AccessDenied</Code></Error>");
            return;
        }
        String prefix = query.get("prefix");
        List<String> names = List.copyOf(new TreeSet<>(names(prefix)));
        int from = Integer.parseInt(query.getOrDefault("continuation-token", "0").replace("token ", ""));
        int end = Math.min(names.size(), from + Math.min(PAGE, Integer.parseInt(query.get("max-keys"))));
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult"
                + " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix>" + UriText.path(prefix)
                + "</Prefix><EncodingType>url</EncodingType>");
        for (String name : names.subList(Math.min(from, end), end)) {
            String key = UriText.path(prefix + name);
            if (name.endsWith("/")) {
                xml.append("<CommonPrefixes><Prefix>").append(key).append("</Prefix></CommonPrefixes>");
            } else {
                byte[] bytes = objects.get(prefix + name);
                xml.append("<Contents><Key>").append(key).append("</Key><ETag>").append(etag(bytes).replace("\"",
                        "&quot;")).append("</ETag><Size>").append(bytes.length).append("</Size></Contents>");
            }
        }
        xml.append("<IsTruncated>").append(end < names.size()).append("</IsTruncated>");
        if (end < names.size() && tokens) {
            xml.append("<NextContinuationToken>token ").append(end).append("</NextContinuationToken>");
        }
        byte[] body = xml.append("</ListBucketResult>").toString().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    /** Computes the signature of what was sent. */
    private boolean isSigned(HttpExchange exchange, byte[] body) {
        Headers headers = exchange.getRequestHeaders();
        String given = headers.getFirst("Authorization");
        MessageDigest sha256 = Sha256.digest();
        sha256.update(body);
        if (given == null || !Sha256.hex(sha256).equals(headers.getFirst("x-amz-content-sha256"))) {
            return false;
        }
        Map<String, String> signed = new TreeMap<>();
        Matcher names = Pattern.compile("SignedHeaders=([^,]*)").matcher(given);
        if (!names.find()) {
            return false;
        }
        for (String name : names.group(1).split(";")) {
            if (!name.equals("host") && !name.startsWith("x-amz-date")) {
                signed.put(name, headers.getFirst(name));
            }
        }
        Instant time = LocalDateTime.parse(headers.getFirst("x-amz-date"),
                DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'")).toInstant(ZoneOffset.UTC);
        URI sent = URI.create("http://" + headers.getFirst("Host") + exchange.getRequestURI());
        return given.equals(new AwsSignature("us-east-1", "s3").authorization(KEY, exchange.getRequestMethod(), sent,
                signed, time));
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    /** Bytes that no two places have alike. */
    public static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
