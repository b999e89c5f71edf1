// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stream --watch} and {@code watch}. */
@Timeout(600)
class WatchCommandTest {

    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:\\d+/");

    @TempDir
    Path folder;

    private Path store;

    @BeforeEach
    void writeStore() throws IOException {
        store = Corpora.rawU16(folder, 64 * 4000 + 1, 11);
    }

    private CommandRun stream(Object watch, long steps) {
        return CommandRun.of("stream", store, "--format", "nanogpt", "--window", 64, "--batch", 8, "--device", "host",
                "--steps", steps, "--watch", watch, "--run-name", "here", "-q");
    }

    private static Map<?, ?> first(CommandRun run) {
        return (Map<?, ?>) ((List<?>) ((Map<?, ?>) Json.parse(run.out())).get("ranks")).getFirst();
    }

    @Test
    void aRunInAFolderIsShown() {
        Path shared = folder.resolve("shared");
        CommandRun streamed = stream(shared, 300);
        assertEquals(0, streamed.exitCode(), streamed.err());
        CommandRun shown = CommandRun.of("watch", shared, "--once", "--gpu-hour", "2.5");
        assertEquals(0, shown.exitCode(), shown.err());
        assertTrue(shown.out().startsWith("here  1 rank") && shown.out().contains("where it goes"), shown.out());
        Map<?, ?> status = (Map<?, ?>) first(CommandRun.of("watch", shared, "--once", "--json")).get("status");
        assertEquals("here", status.get("run"));
        assertEquals(0L, status.get("rank"));
        assertEquals(ProcessHandle.current().pid(), status.get("pid"));
    }

    @Test
    void aRunOnAPortIsShownWhileItRuns() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        try (ExecutorService trainer = Executors.newSingleThreadExecutor()) {
            CompletableFuture<CommandRun> run = CompletableFuture.supplyAsync(() -> stream(port, 1L << 40), trainer);
            long step = 0;
            while (step < 50) {                         // until it has come that far
                assertTrue(!run.isDone(), () -> run.join().err());
                CommandRun shown = CommandRun.of("watch", port, "--once", "--json");
                step = shown.exitCode() != 0 ? 0 : (long) ((Map<?, ?>) first(shown).get("status")).get("step");
            }
            trainer.shutdownNow();
            assertEquals(ExitCode.INTERRUPTED, run.join().exitCode());
        }
        CommandRun over = CommandRun.of("watch", port, "--once");
        assertEquals(ExitCode.FAILURE, over.exitCode());
        assertTrue(over.out().startsWith("no rank yet") && over.out().contains("?     " + port + ": "), over.out());
    }

    @Test
    void itGoesOnUntilItIsInterrupted() throws Exception {
        Path shared = folder.resolve("shared");
        assertEquals(0, stream(shared, 100).exitCode());
        var lines = new StringWriter();
        var err = new StringWriter();
        var pages = new StringBuilder();
        PrintWriter out = new PrintWriter(lines) {
            @Override
            public void flush() {
                super.flush();
                Matcher at = ADDRESS.matcher(err.toString());
                if (pages.isEmpty() && lines.toString().lines().count() == 2 && at.find()) {
                    pages.append(get(at.group() + "run.json"));
                    Thread.currentThread().interrupt();
                }
            }
        };
        String[] args = {"watch", shared.toString(), "--json", "--every", "0.1", "--html", "0"};
        assertEquals(ExitCode.INTERRUPTED, Penstock.commandLine(args).setOut(out).setErr(new PrintWriter(err))
                .execute(args));
        assertEquals(2, lines.toString().lines().count());
        assertEquals(lines.toString().lines().toList().getLast(), pages.toString().strip());
    }

    private static String get(String uri) {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void wrongUsageIsSaid() throws IOException {
        Path token = Files.writeString(folder.resolve("token"), "two words\n");
        List<List<Object>> wrong = List.of(List.of("watch"), List.of("watch", "nothing", "--once"),
                List.of("watch", "0", "--once"), List.of("watch", folder, "--every", "0"),
                List.of("watch", folder, "--every", "NaN"), List.of("watch", folder, "--html", "70000"),
                List.of("watch", folder, "--gpu-hour", "-1"), List.of("watch", folder, "--token-file", token),
                List.of("report", folder, "--gpu-hour", "-1"));
        for (List<Object> command : wrong) {
            CommandRun run = CommandRun.of(command.toArray());
            assertEquals(ExitCode.WRONG_USAGE, run.exitCode(), command + run.err());
            assertEquals(1, run.err().lines().count(), run.err());
        }
        assertEquals(ExitCode.WRONG_USAGE, stream(0, 1).exitCode());
        assertEquals(ExitCode.WRONG_USAGE, stream(123_456, 1).exitCode());
    }

    @Test
    void aReportSaysWhatWaitingCost() {
        Path run = folder.resolve("run");
        CommandRun streamed = CommandRun.of("stream", store, "--format", "nanogpt", "--window", 64, "--batch", 8,
                "--device", "host", "--steps", 300, "--report", run, "-q");
        assertEquals(0, streamed.exitCode(), streamed.err());
        CommandRun priced = CommandRun.of("report", run, "--gpu-hour", "2.5");
        assertTrue(priced.out().lines().toList().getLast().startsWith("GPUs waited "), priced.out());
        Map<?, ?> json = (Map<?, ?>) Json.parse(CommandRun.of("report", run, "--gpu-hour", "2.5", "--json").out());
        Map<?, ?> cost = (Map<?, ?>) json.get("wait_cost");
        double hours = ((Number) cost.get("gpu_hours")).doubleValue();
        assertEquals(2.5 * hours, ((Number) cost.get("money")).doubleValue(), 1e-12);
    }
}
