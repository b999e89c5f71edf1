// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.metrics.Metrics;
import io.penstock.diagnose.metrics.PrometheusEndpoint;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that answer, and peers that are none. */
@Timeout(120)
@SuppressWarnings("try")
class PeersTest {

    private static final RankStatus STATUS = Statuses.of(0, 1, Double.NaN, "decode", 3, "compute", 7);

    @TempDir
    private Path folder;

    /** What a peer does with a connection. */
    private interface Manner {
        void serve(OutputStream out, Socket socket) throws Exception;
    }

    private static ServerSocket peer(List<ServerSocket> open, Manner manner) throws IOException {
        var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        open.add(server);
        Thread.ofPlatform().daemon().start(() -> {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    Thread.ofPlatform().daemon().start(() -> {
                        try (socket) {
                            manner.serve(socket.getOutputStream(), socket);
                        } catch (Exception _) {
                            // The other side has gone.
                        }
                    });
                } catch (IOException _) {
                    return;
                }
            }
        });
        return server;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void hostilePeersHoldNobodyUp() throws Exception {
        List<ServerSocket> open = new ArrayList<>();
        byte[] garbage = new byte[1000];
        new Random(3).nextBytes(garbage);
        byte[] head = bytes("HTTP/1.1 200 OK\r\n\r\n");
        List<Manner> manners = List.of(
                (out, _) -> out.write(garbage),
                (_, _) -> Thread.sleep(Long.MAX_VALUE),
                (out, _) -> {
                    out.write(head);
                    while (true) {
                        out.write(garbage);
                    }
                },
                (out, _) -> {
                    while (true) {                      // a head that never ends, slowly
                        out.write('a');
                        out.flush();
                        Thread.sleep(5);
                    }
                },
                (_, _) -> { },
                (out, _) -> out.write(bytes("HTTP/1.1 503 Busy\r\n\r\n")),
                (out, _) -> {
                    out.write(head);
                    out.write(bytes("[".repeat(60_000)));
                },
                (out, _) -> {
                    out.write(head);
                    out.write(bytes(STATUS.toJson().replace("\"rank\":0", "\"rank\":\"0\"")));
                });
        List<String> places = new ArrayList<>();
        for (Manner manner : manners) {
            places.add("127.0.0.1:" + peer(open, manner).getLocalPort());
        }
        try (PrometheusEndpoint good = PrometheusEndpoint.open(new Metrics(List.of()), () -> STATUS, 0);
                ServerSocket closed = new ServerSocket(0)) {
            String nobody = Integer.toString(closed.getLocalPort());
            closed.close();
            places.add(nobody);
            places.add(Integer.toString(good.address().getPort()));
            try (Peers peers = new Peers(places, "", 500)) {
                var history = new RunView.History(Double.NaN);
                RunView view;
                do {                                    // the good one has a second as well
                    List<Peers.Reply> answers = peers.ask();
                    assertEquals(places.size(), answers.size());
                    for (int i = 0; i < places.size() - 1; i++) {
                        assertFalse(answers.get(i).problem().isEmpty(), answers.get(i).toString());
                    }
                    view = history.add(answers, STATUS.atMillis());
                } while (view.ranks().isEmpty());
                assertEquals(STATUS, view.ranks().getFirst().status());
                assertTrue(view.problems().size() >= places.size() - 1, view.problems().toString());
            }
        } finally {
            for (ServerSocket server : open) {
                server.close();
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void filesThatAreNoStatusesAreSaidToBeNone() throws Exception {
        RankStatus second = Statuses.of(1, 2, 4, "compute", 7);
        try (StatusFile file = StatusFile.open(() -> second, 1, folder.resolve("run"))) {
            Path run = folder.resolve("run");
            Files.writeString(run.resolve("rank-00002.json"), "{\"format\":\"penstock-rank-1\"");
            Files.writeString(run.resolve("rank-00003.json"), "{\"format\":\"other\"}");
            Files.writeString(run.resolve("rank-00004.json"), " ".repeat(1 << 20));
            Files.writeString(run.resolve("rank-00005.json"), "");
            Files.createDirectory(run.resolve("rank-00006.json"));
            assertEquals(0, new ProcessBuilder("mkfifo", run.resolve("rank-00007.json").toString()).start().waitFor());
            Files.createSymbolicLink(run.resolve("rank-00008.json"), Path.of("/dev/zero"));
            Files.writeString(run.resolve("notes.txt"), "no rank");
            try (Peers peers = new Peers(List.of(run.toString()), "", 60_000)) {
                List<Peers.Reply> answers = peers.ask();
                assertEquals(8, answers.size());
                assertEquals(List.of(second), answers.getFirst().statuses());
                assertTrue(answers.stream().skip(1).noneMatch(answer -> answer.problem().isEmpty()),
                        answers.toString());
            }
        }
    }

    @Test
    void aFolderWithoutRanksAndAPlaceThatIsNoneAreTold() {
        try (Peers peers = new Peers(List.of(folder.toString()), "", 60_000)) {
            assertEquals("no rank has written yet", peers.ask().getFirst().problem());
        }
        for (String place : List.of("0", "70000", "node:0", "no/such/folder", "nothing")) {
            assertThrows(IllegalArgumentException.class, () -> new Peers(List.of(place), "", 1), place);
        }
    }

    @Test
    void aStatusThatIsReadDoesNotSteerTheTerminal() {
        String json = STATUS.toJson().replace("\"gpt\"", "\"a\\u001b[2Jb\\u202ec\\nd\"");
        RankStatus read = RankStatus.parse(json.getBytes(StandardCharsets.UTF_8));
        assertEquals("a?[2Jb?c?d", read.run());
        assertEquals(100, RankStatus.plain("x".repeat(1000)).length());
        assertEquals(STATUS, RankStatus.parse(STATUS.toJson().getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void statusesThatContradictThemselvesAreRefused() {
        for (Map.Entry<String, String> change : Map.of("\"rank\":0", "\"rank\":-1", "\"world_size\":1",
                "\"world_size\":2000000000", "\"ms\":3.0", "\"ms\":-3.0", "\"parts\":[", "\"parts\":[null,")
                .entrySet()) {
            String json = STATUS.toJson().replace(change.getKey(), change.getValue());
            assertFalse(json.equals(STATUS.toJson()), change::toString);
            assertThrows(IllegalArgumentException.class,
                    () -> RankStatus.parse(json.getBytes(StandardCharsets.UTF_8)), json);
        }
        var random = new Random(9);
        byte[] json = STATUS.toJson().getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 20_000; i++) {
            byte[] mutated = json.clone();
            for (int k = random.nextInt(4); k >= 0; k--) {
                mutated[random.nextInt(mutated.length)] = (byte) random.nextInt(256);
            }
            try {
                RankStatus.parse(mutated);
            } catch (IllegalArgumentException _) {
                // Refused; anything else fails the test.
            }
        }
    }

    @Test
    void otherMachinesNeedTheToken() throws Exception {
        String token = "0123456789abcdef";
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        assertThrows(IllegalArgumentException.class, () -> PrometheusEndpoint.open(new Metrics(List.of()),
                () -> STATUS, address, "short"));
        try (PrometheusEndpoint endpoint = PrometheusEndpoint.open(new Metrics(List.of()), () -> STATUS, address,
                token)) {
            String place = "127.0.0.1:" + endpoint.address().getPort();
            for (String sent : List.of("", "0123456789abcdeX")) {
                try (Peers peers = new Peers(List.of(place), sent, 60_000)) {
                    assertEquals("found status 401, expected 200 (is the token right?)",
                            peers.ask().getFirst().problem());
                }
            }
            try (Peers peers = new Peers(List.of(place), token, 60_000)) {
                assertEquals(List.of(STATUS), peers.ask().getFirst().statuses());
            }
        }
    }

    /** Such as a browser that connects ahead of its requests. */
    @Test
    @Timeout(60)
    void aClientThatDoesNotEndItsRequestHoldsUpNoOther() throws Exception {
        try (WatchPage page = WatchPage.open(0); HttpClient client = HttpClient.newHttpClient()) {
            URI at = URI.create(page.address());
            try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), at.getPort())) {
                slow.getOutputStream().write('G');
                for (int i = 0; i < 100; i++) {
                    assertEquals("null", get(client, at.resolve("run.json")).body());
                }
            }
        }
    }

    @Test
    void thePageIsServedToThisMachineAlone() throws Exception {
        RunView view = new RunView.History(2).add(List.of(Statuses.answer(STATUS)), STATUS.atMillis());
        WatchPage page = WatchPage.open(0);
        try (page; HttpClient client = HttpClient.newHttpClient()) {
            URI at = URI.create(page.address());
            assertEquals("null", get(client, at.resolve("run.json")).body());
            page.show(view);
            HttpResponse<String> html = get(client, at);
            assertEquals(200, html.statusCode());
            assertTrue(html.body().contains("run.json") && !html.body().contains("http://")
                    && !html.body().contains("https://"), "it loads nothing from elsewhere");
            assertTrue(get(client, at.resolve("run.json")).body().contains("\"steps_per_second\":100.0"));
            assertEquals(404, get(client, at.resolve("other")).statusCode());
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), at.getPort())) {
                socket.getOutputStream().write(bytes("GET /run.json HTTP/1.0\r\nHost: evil.example\r\n\r\n"));
                assertArrayEquals(bytes("HTTP/1.1 403"), socket.getInputStream().readNBytes(12));
            }
        }
    }

    private static HttpResponse<String> get(HttpClient client, URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }
}
