// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.penstock.remote.TestCertificate;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * A process that serves the files of a folder with the JDK's server, as the first part of the path says: {@code
 * /plain/FILE}; {@code /delayed/FILE}, each answer 50 ms late; {@code /paced/FILE}, 200 MB a second for all requests
 * together; {@code /faulty/FILE}, of a hundred answers one is 503, one is cut in the middle and one comes 2 s late;
 * {@code /hostile/FILE}, five of a hundred, and once another range behind each {@code /wrong}. {@code /counts} says how
 * many answers there were, and of each fault.
 */
public final class RangeServer {

    private static final int CHUNK_BYTES = 64 << 10;
    private static final long DELAY_MILLIS = 50;
    private static final long LATE_MILLIS = 2000;
    private static final double PACE_BYTES_PER_NANO = 0.2;

    /** What is wrong with an answer, by what was drawn for it. */
    private static final List<String> FAULTS = List.of("503", "late", "cut", "another range");
    private static final int[] FAULTY = {0, 1, 2};
    private static final int[] HOSTILE = {0, 1, 2, 0, 2};
    private static final int OTHER_RANGE = 3;

    private final Path folder;
    private final SplittableRandom random = new SplittableRandom(1);
    private final AtomicLong answers = new AtomicLong();
    private final AtomicLong[] faults = Stream.generate(AtomicLong::new).limit(FAULTS.size())
            .toArray(AtomicLong[]::new);
    private final AtomicBoolean isWrong = new AtomicBoolean();
    /** When the next paced byte may be sent. */
    private final AtomicLong paced = new AtomicLong();

    private RangeServer(Path folder) {
        this.folder = folder;
    }

    /** Takes the folder, and a certificate for TLS; prints the port. */
    public static void main(String[] args) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer server = args.length < 2 ? HttpServer.create(any, 0) : HttpsServer.create(any, 0);
        if (server instanceof HttpsServer secure) {
            secure.setHttpsConfigurator(new HttpsConfigurator(new TestCertificate(Path.of(args[1])).context()));
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        RangeServer files = new RangeServer(Path.of(args[0]));
        server.createContext("/", files::handle);
        server.createContext("/counts", files::count);
        server.createContext("/wrong", exchange -> {
            files.isWrong.set(true);
            files.count(exchange);
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }

    /** Which fault an answer has; the number of faults, or more, for none. */
    private int fault(String kind) {
        int[] drawn = kind.equals("hostile") ? HOSTILE : kind.equals("faulty") ? FAULTY : new int[0];
        int chance = drawn.length == 0 ? 0 : chance();
        int fault = chance < drawn.length ? drawn[chance] : FAULTS.size();
        if (kind.equals("hostile") && isWrong.getAndSet(false)) {
            fault = OTHER_RANGE;
        }
        answers.incrementAndGet();
        if (fault < FAULTS.size()) {
            faults[fault].incrementAndGet();
        }
        return fault;
    }

    private synchronized int chance() {
        return random.nextInt(100);
    }

    private void count(HttpExchange exchange) throws IOException {
        StringBuilder text = new StringBuilder(answers + " answers");
        for (int i = 0; i < faults.length; i++) {
            text.append(", ").append(faults[i]).append(' ').append(FAULTS.get(i));
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        String[] path = exchange.getRequestURI().getPath().substring(1).split("/", 2);
        if (path.length < 2 || !Files.isRegularFile(folder.resolve(path[1]))) {
            try (exchange) {
                exchange.sendResponseHeaders(404, -1);
            }
            return;
        }
        try (exchange; FileChannel file = FileChannel.open(folder.resolve(path[1]))) {
            exchange.getResponseHeaders().set("ETag", "\"" + Files.getLastModifiedTime(folder.resolve(path[1]))
                    .toMillis() + "\"");
            String range = exchange.getRequestHeaders().getFirst("Range");
            long from = 0;
            long bytes = file.size();
            if (exchange.getRequestMethod().equals("HEAD")) {
                exchange.getResponseHeaders().set("Content-Length", Long.toString(bytes));
                exchange.sendResponseHeaders(200, -1);
                return;
            }
            int fault = fault(path[0]);
            if (range != null) {
                String[] ends = range.substring("bytes=".length()).split("-");
                long last = Long.parseLong(ends[1]);
                from = Long.parseLong(ends[0]);
                if (fault == OTHER_RANGE && from > 0) {
                    from--;
                    last--;
                } else if (fault == OTHER_RANGE) {
                    last = Math.max(0, last - 1);
                }
                bytes = last + 1 - from;
                exchange.getResponseHeaders().set("Content-Range", "bytes " + from + "-" + last + "/"
                        + file.size());
            }
            if (fault == 0) {
                exchange.sendResponseHeaders(503, -1);
                return;
            }
            Thread.sleep(fault == 1 ? LATE_MILLIS : path[0].equals("delayed") ? DELAY_MILLIS : 0);
            exchange.sendResponseHeaders(range == null ? 200 : 206, bytes);
            send(exchange.getResponseBody(), file, from, fault == 2 ? bytes / 2 : bytes, path[0].equals("paced"));
            if (fault == 2) {
                throw new IOException("cut");
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void send(OutputStream out, FileChannel file, long from, long bytes, boolean isPaced)
            throws IOException, InterruptedException {
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
        for (long done = 0; done < bytes;) {
            chunk.clear().limit((int) Math.min(CHUNK_BYTES, bytes - done));
            int read = file.read(chunk, from + done);
            if (isPaced) {
                long now = System.nanoTime();
                long due = paced.accumulateAndGet((long) (read / PACE_BYTES_PER_NANO),
                        (before, nanos) -> Math.max(before, now - 1_000_000) + nanos);
                Thread.sleep(Math.max(0, due - now) / 1_000_000, (int) (Math.max(0, due - now) % 1_000_000));
            }
            out.write(chunk.array(), 0, read);
            done += read;
        }
        out.flush();
    }
}
