// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import io.penstock.error.PenstockException;
import io.penstock.io.local.RegularFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * Asks the ranks of a run for their statuses. A place is a port, a host with a port, or a folder of status files. Peers
 * are not trusted: an answer has a limit of bytes and of time, and one that is no status is said to be none. A peer
 * that hangs holds nobody else up; it is not asked again while it does. For one thread.
 */
public final class Peers implements AutoCloseable {

    private static final int MOST_FILES = 4096;
    private static final int MOST_PORT = 65_535;

    /**
     * What a place said.
     *
     * @param place as it was given; of a folder, with the file's name
     * @param statuses one for each rank; empty if there is a problem
     * @param problem why there are none; empty if there are
     */
    public record Reply(String place, List<RankStatus> statuses, String problem) {
    }

    private final Map<String, Callee> places = new LinkedHashMap<>();
    private final Map<String, Future<List<Reply>>> running = new LinkedHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("penstock-watch-", 0).factory());
    private final String token;
    private final long patienceMillis;

    /** Gives the answers of a place. */
    @FunctionalInterface
    private interface Callee {
        List<Reply> ask() throws IOException;
    }

    /**
     * Names the places; asks none yet.
     *
     * @param places ports of this machine, {@code host:port}, or folders
     * @param token sent to ports of other machines; empty for none
     * @param patienceMillis how long a place may take
     * @throws IllegalArgumentException if a place is none of these
     */
    public Peers(List<String> places, String token, long patienceMillis) {
        this.token = token;
        this.patienceMillis = patienceMillis;
        for (String place : places) {
            this.places.put(place, callee(place));
        }
    }

    private Callee callee(String place) {
        int colon = place.lastIndexOf(':');
        String digits = place.substring(colon + 1);
        if (!place.contains("/") && digits.matches("\\d{1,5}")) {
            int port = Integer.parseInt(digits);
            if (port < 1 || port > MOST_PORT) {
                throw new IllegalArgumentException("found port " + port + ", expected 1 to 65535");
            }
            String host = colon < 0 ? "127.0.0.1" : place.substring(0, colon);
            return () -> List.of(answer(place, get(host, port)));
        }
        Path folder = Path.of(place);
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException("found " + place + ", expected a port, host:port, or a folder");
        }
        return () -> files(folder);
    }

    /** {@return what each place says, in their order; takes at most the patience} */
    public List<Reply> ask() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        places.forEach((place, callee) -> {
            Future<List<Reply>> before = running.get(place);
            if (before == null || before.isDone()) {
                running.put(place, threads.submit(callee::ask));
            }
        });
        List<Reply> answers = new ArrayList<>();
        running.forEach((place, future) -> answers.addAll(await(place, future, end)));
        return answers;
    }

    private static List<Reply> await(String place, Future<List<Reply>> future, long end) {
        try {
            return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            return List.of(new Reply(place, List.of(), "no answer"));
        } catch (ExecutionException e) {
            return List.of(new Reply(place, List.of(), problem(Objects.requireNonNullElse(e.getCause(), e))));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return List.of(new Reply(place, List.of(), "interrupted"));
        }
    }

    private static String problem(Throwable e) {
        return RankStatus.plain(e instanceof SocketTimeoutException ? "no answer"
                : (e instanceof IOException || e instanceof PenstockException) && e.getMessage() != null
                        ? e.getMessage() : e.toString());
    }

    private static Reply answer(String place, byte[] json) {
        try {
            return new Reply(place, List.of(RankStatus.parse(json)), "");
        } catch (IllegalArgumentException e) {
            return new Reply(place, List.of(), RankStatus.plain(e.getMessage()));
        }
    }

    // ---- files

    private static List<Reply> files(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder,
                StatusFile.PREFIX + "*" + StatusFile.SUFFIX)) {
            for (Path file : all) {
                if (files.size() < MOST_FILES) {
                    files.add(file);
                }
            }
        }
        files.sort(null);
        List<Reply> answers = new ArrayList<>();
        for (Path file : files) {
            String place = RankStatus.plain(file.toString());
            try (InputStream in = RegularFile.newInputStream(file)) {
                answers.add(answer(place, in.readNBytes(RankStatus.MOST_BYTES)));
            } catch (IOException | PenstockException e) {
                answers.add(new Reply(place, List.of(), problem(e)));
            }
        }
        return answers.isEmpty() ? List.of(new Reply(folder.toString(), List.of(), "no rank has written yet"))
                : answers;
    }

    // ---- HTTP

    /** One request of HTTP 1.0, whose answer ends with the connection, as bytes of its body. */
    private byte[] get(String host, int port) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        LongSupplier left = () -> TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), (int) Math.max(1, left.getAsLong()));
            String request = "GET /status HTTP/1.0\r\nHost: " + host + "\r\n"
                    + (token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            byte[] answer = read(socket, left);
            int head = new String(answer, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
            String first = new String(answer, 0, Math.min(answer.length, 32), StandardCharsets.ISO_8859_1);
            if (head < 0 || !first.startsWith("HTTP/1.")) {
                throw new IOException("found no answer of HTTP");
            }
            if (!first.substring(8).startsWith(" 200")) {
                throw new IOException("found status " + first.substring(8).strip().split("\\s")[0]
                        + ", expected 200 (is the token right?)");
            }
            return Arrays.copyOfRange(answer, head + 4, answer.length);
        }
    }

    private static byte[] read(Socket socket, LongSupplier leftMillis) throws IOException {
        var answer = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        InputStream in = socket.getInputStream();
        while (true) {
            long left = leftMillis.getAsLong();
            if (left <= 0) {
                throw new SocketTimeoutException();
            }
            socket.setSoTimeout((int) left);
            int count = in.read(part);
            if (count < 0) {
                return answer.toByteArray();
            }
            answer.write(part, 0, count);
            if (answer.size() > RankStatus.MOST_BYTES) {
                throw new IOException("found more than " + RankStatus.MOST_BYTES + " bytes, expected a status");
            }
        }
    }

    /** Asks nobody any more; leaves threads alone that hang. Repeating it has no effect. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
