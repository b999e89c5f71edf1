// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.cache.RemoteObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranges over plain HTTP, from a server that answers byte by byte what the test says. */
@Timeout(60)
class PlainHttpTest {

    private static final byte[] BYTES = ObjectHost.bytes(1_000_000, 3);
    private static final String HEAD = "HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\nETag: \"v\"\r\n"
            + "Content-Range: bytes %d-%d/" + BYTES.length + "\r\n";

    /** What the server does to a request. */
    private record Answer(byte[] bytes, int pieceBytes, boolean isLast) {
    }

    private final Deque<Answer> answers = new ArrayDeque<>();
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger connections = new AtomicInteger();
    private final ServerSocket server;

    PlainHttpTest() throws IOException {
        server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        Thread.startVirtualThread(this::accept);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                connections.incrementAndGet();
                Thread.startVirtualThread(() -> serve(client));
            } catch (IOException _) {
                // closed
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            InputStream in = client.getInputStream();
            OutputStream out = client.getOutputStream();
            client.setTcpNoDelay(true);
            for (Answer answer = null; answer == null || !answer.isLast;) {
                ByteArrayOutputStream request = new ByteArrayOutputStream();
                while (!request.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
                    int next = in.read();
                    if (next < 0) {
                        return;
                    }
                    request.write(next);
                }
                requests.add(request.toString(StandardCharsets.ISO_8859_1));
                synchronized (answers) {
                    answer = answers.remove();
                }
                for (int at = 0; at < answer.bytes.length; at += answer.pieceBytes) {
                    out.write(answer.bytes, at, Math.min(answer.pieceBytes, answer.bytes.length - at));
                }
            }
        } catch (IOException _) {
            // the client has had enough
        }
    }

    private void answer(String head, byte[] body, int pieceBytes, boolean isLast) {
        byte[] start = (head + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = Arrays.copyOf(start, start.length + body.length);
        System.arraycopy(body, 0, all, start.length, body.length);
        synchronized (answers) {
            answers.add(new Answer(all, pieceBytes, isLast));
        }
    }

    private static byte[] part(int from, int bytes) {
        return Arrays.copyOfRange(BYTES, from, from + bytes);
    }

    private static String head(int from, int bytes) {
        return HEAD.formatted(bytes, from, from + bytes - 1);
    }

    private static Requests requests() {
        return new Requests(RequestSettings.DEFAULT.withHedges(0).withRetries(3, Duration.ofMillis(1),
                Duration.ofMillis(1), 100));
    }

    private byte[] read(Requests requests, int from, int bytes) throws IOException {
        ByteArrayOutputStream found = new ByteArrayOutputStream();
        try (RangeBody body = new RangeBody(new RemoteObject("x", "\"v\"", BYTES.length), from, bytes, part -> {
            byte[] copy = new byte[part.remaining()];
            part.get(copy);
            found.writeBytes(copy);
        })) {
            requests.read(new Requests.Target("x", URI.create("http://127.0.0.1:" + server.getLocalPort()
                    + "/a%20b?q=1"), (_, _, headers) -> headers.put("Authorization", "Bearer t")), body);
        }
        return found.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000, 1 << 20})
    void anAnswerIsTheSameInWhateverPiecesItComes(int pieceBytes) throws IOException {
        int most = pieceBytes == 1 ? 2000 : 700_000;
        answer(head(7, most), part(7, most), pieceBytes, false);
        assertArrayEquals(part(7, most), read(requests(), 7, most));
        assertEquals("GET /a%20b?q=1 HTTP/1.1\r\nHost: 127.0.0.1:" + server.getLocalPort(),
                requests.getFirst().substring(0, requests.getFirst().indexOf("\r\n", 30)));
        for (String header : List.of("Range: bytes=7-" + (6 + most), "If-Match: \"v\"", "Authorization: Bearer t",
                "Accept-Encoding: identity")) {
            assertTrue(requests.getFirst().contains("\r\n" + header + "\r\n"), requests.getFirst());
        }
    }

    @Test
    void aConnectionIsUsedAgain() throws IOException {
        Requests requests = requests();
        for (int i = 0; i < 5; i++) {
            answer(head(i, 10), part(i, 10), 1000, false);
            assertArrayEquals(part(i, 10), read(requests, i, 10));
        }
        assertEquals(1, connections.get());
    }

    @Test
    void aConnectionThatTheServerHasClosedMeanwhileIsReplaced() throws IOException {
        Requests requests = requests();
        for (int i = 0; i < 3; i++) {
            answer(head(i, 10), part(i, 10), 1000, true);
            assertArrayEquals(part(i, 10), read(requests, i, 10));
        }
        assertEquals(3, connections.get());
        assertEquals(3, this.requests.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Connection: close\r\n", "Connection: keep-alive, Close\r\n"})
    void aConnectionThatIsToCloseIsNotUsedAgain(String header) throws IOException {
        Requests requests = requests();
        for (int i = 0; i < 3; i++) {
            answer(head(i, 10) + header, part(i, 10), 1000, false);
            assertArrayEquals(part(i, 10), read(requests, i, 10));
        }
        assertEquals(3, connections.get());
    }

    @Test
    void whatFollowsABodyIsNoAnswer() throws IOException {
        Requests requests = requests();
        answer(head(0, 10), part(0, 500), 1000, false);
        assertArrayEquals(part(0, 10), read(requests, 0, 10));
        answer(head(5, 10), part(5, 10), 1000, false);
        assertArrayEquals(part(5, 10), read(requests, 5, 10));
        assertEquals(2, connections.get());
    }

    @Test
    void answersThatOnlySayThatOneWillComeAreSkipped() throws IOException {
        answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head(0, 10), part(0, 10), 1,
                false);
        assertArrayEquals(part(0, 10), read(requests(), 0, 10));
    }

    /** Of Å in UTF-8, the second byte is NEL in ISO 8859-1, which ends a line for regular expressions, not for HTTP. */
    @Test
    void theTextOfAHeaderMayHaveAnyByteThatEndsNoLine() throws IOException {
        answer(head(0, 10) + "Content-Disposition: inline; filename=\u00c3\u0085.npy \t\r\nX-Empty:\r\n", part(0, 10),
                1000, false);
        assertArrayEquals(part(0, 10), read(requests(), 0, 10));
    }

    /** Such an answer is for the JDK's client, and so is what follows. */
    @Test
    void anAnswerInChunksIsReadByTheOtherClient() throws IOException {
        Requests requests = requests();
        for (int i = 0; i < 3; i++) {
            answer("HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\nETag: \"v\"\r\nContent-Range: bytes "
                    + "0-9/" + BYTES.length + "\r\n\r\na\r\n" + new String(part(0, 10), StandardCharsets.ISO_8859_1)
                    + "\r\n0\r\n", new byte[0], 1000, false);
        }
        assertArrayEquals(part(0, 10), read(requests, 0, 10));
        assertArrayEquals(part(0, 10), read(requests, 0, 10));
        assertEquals(3, this.requests.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "SSH-2.0-x\r\n", "HTTP/2 206\r\n",
        "HTTP/1.1 206 OK\r\nContent-Length: 10\r\n folded\r\n",
        "HTTP/1.1 206 OK\r\nContent-Length: 10\r\nContent-Length: 11\r\n", "HTTP/1.1 206 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 206 OK\r\nContent-Length: 99999999999999999999\r\n", "HTTP/1.1 206 OK\r\nno header\r\n",
        "HTTP/1.1 206 OK\r\nContent Length: 10\r\n"})
    void whatIsNoAnswerIsAnError(String head) {
        for (int i = 0; i < 3; i++) {
            answer(head, part(0, 10), 1000, true);
        }
        String message = assertThrows(IOException.class, () -> read(requests(), 0, 10)).getMessage();
        assertTrue(message.startsWith("x: ") && message.endsWith("(after 3 attempts)"), message);
        assertFalse(message.contains("\n"), message);
        assertEquals(3, requests.size());
    }

    @Test
    void headersWithoutAnEndAreAnError() {
        for (int i = 0; i < 3; i++) {
            answer("HTTP/1.1 206 OK\r\n" + "X-Long: 123456789\r\n".repeat(1 << 16), new byte[0], 1 << 16, true);
        }
        String message = assertThrows(IOException.class, () -> read(requests(), 0, 10)).getMessage();
        assertTrue(message.contains("headers do not end"), message);
    }

    @Test
    void whatCameBeforeTheConnectionBrokeIsNotAskedForAgain() throws IOException {
        answer(head(0, 300_000), part(0, 123_456), 1000, true);
        answer(head(123_456, 300_000 - 123_456), part(123_456, 300_000 - 123_456), 100_000, true);
        assertArrayEquals(part(0, 300_000), read(requests(), 0, 300_000));
        assertTrue(requests.get(1).contains("Range: bytes=123456-299999\r\n"), requests.get(1));
    }

    @Test
    void anErrorWithoutALengthIsThatOfItsStatus() {
        for (int i = 0; i < 3; i++) {
            answer("HTTP/1.0 503 Busy\r\n", new byte[0], 1000, true);
        }
        assertEquals("x: status 503 (after 3 attempts)", assertThrows(IOException.class, () ->
                read(requests(), 0, 10)).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://h/x", "http://h/\u00e9"})
    void otherRequestsAreNotTaken(String uri) {
        PlainHttp plain = new PlainHttp(Duration.ofSeconds(1));
        assertTrue(plain.takes(HttpRequest.newBuilder(URI.create("http://h/x")).header("Range", "bytes=0-1").build()));
        assertFalse(plain.takes(HttpRequest.newBuilder(URI.create("http://h/x")).build()));
        assertFalse(plain.takes(HttpRequest.newBuilder(URI.create(uri)).header("Range", "bytes=0-1").build()));
        assertFalse(plain.takes(HttpRequest.newBuilder(URI.create("http://h/x")).header("Range", "bytes=0-1")
                .DELETE().build()));
    }
}
