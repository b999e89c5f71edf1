// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.collate.Stack;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.metrics.Metric.Type;
import io.penstock.diagnose.metrics.Metric.Unit;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.SteppedTime;
import io.penstock.store.TokenStore;
import io.penstock.telemetry.Marks;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All exporters, against a loader that runs. */
class MetricsTest {

    private static final int BATCHES = 7;

    @TempDir
    Path folder;
    private TokenStore store;
    private DataLoader loader;
    private Metrics metrics;
    private Diagnosis diagnosis;

    @BeforeEach
    void run() throws Exception {
        store = TokenStore.open(Corpora.rawU16(folder, 20_000, 1), "nanogpt");
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(0)
                .collator(Stack.fields().then(statistics)).open();
        for (int i = 0; i < BATCHES; i++) {
            try (Batch batch = loader.next()) {
                assertEquals(4, batch.count());
            }
        }
        diagnosis = Diagnosis.of(loader);
        metrics = Metrics.of("train \"a\\b\"\n", diagnosis).and(Metrics.of("train \"a\\b\"\n", statistics));
    }

    @AfterEach
    void close() {
        diagnosis.close();
        loader.close();
        store.close();
    }

    @Test
    void aScrapeIsWellFormedAndSaysWhatTheLoaderSays() throws Exception {
        PrometheusEndpoint endpoint = PrometheusEndpoint.open(metrics, 0);
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertTrue(endpoint.address().getAddress().isLoopbackAddress());
            HttpResponse<String> response = get(client, endpoint, "GET", "/metrics");
            assertEquals(200, response.statusCode());
            assertEquals("text/plain; version=0.0.4; charset=utf-8",
                    response.headers().firstValue("content-type").orElseThrow());
            Exposition read = Exposition.parse(response.body());
            String of = "{loader=train \"a\\b\"\n}";
            assertEquals(BATCHES, read.samples().get("penstock_batches_total" + of), response.body());
            assertEquals(4.0 * BATCHES, read.samples().get("penstock_samples_total" + of));
            assertEquals(BATCHES, read.samples().get("penstock_data_batches_total" + of));
            assertEquals(loader.report().consumerWaitNanos() / 1e9,
                    read.samples().get("penstock_wait_seconds_total" + of), 1e-9);
            assertEquals(loader.memory().hostBytes(), read.samples().get("penstock_host_memory_bytes" + of));
            assertEquals(3, read.samples().keySet().stream()
                    .filter(name -> name.startsWith("penstock_stage_seconds_total{loader=")).count());
            assertEquals("counter", read.types().get("penstock_batches_total"));
            assertEquals("gauge", read.types().get("penstock_host_slots"));

            assertEquals(404, get(client, endpoint, "GET", "/").statusCode());
            assertEquals(404, get(client, endpoint, "GET", "/metrics/x").statusCode());
            assertEquals(405, get(client, endpoint, "POST", "/metrics").statusCode());
            assertEquals("", get(client, endpoint, "HEAD", "/metrics").body());
            endpoint.close();
            assertThrows(IOException.class, () -> get(client, endpoint, "GET", "/metrics"));
        } finally {
            endpoint.close();
        }
    }

    /** Such as a check of the port that sends part of a request and stays. */
    @Test
    @Timeout(60)
    void aClientThatDoesNotEndItsRequestHoldsUpNoScrape() throws Exception {
        try (PrometheusEndpoint endpoint = PrometheusEndpoint.open(metrics, 0);
                Socket slow = new Socket(endpoint.address().getAddress(), endpoint.address().getPort());
                HttpClient client = HttpClient.newHttpClient()) {
            slow.getOutputStream().write('G');
            for (int i = 0; i < 100; i++) {
                assertEquals(200, get(client, endpoint, "GET", "/metrics").statusCode());
            }
            slow.getOutputStream().write("ET /metrics HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            assertEquals("HTTP/1.1 200", new String(slow.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1));
        }
    }

    private static HttpResponse<String> get(HttpClient client, PrometheusEndpoint endpoint, String method,
            String path) throws Exception {
        URI uri = URI.create("http://" + endpoint.address().getHostString() + ":" + endpoint.address().getPort()
                + path);
        return client.send(HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void recentStepsAreThoseOfTheTrainersClock() {
        var time = new SteppedTime();
        try (DataLoader stepped = time.open(DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(0))) {
            for (int i = 0; i < BATCHES; i++) {
                stepped.next().close();
            }
            Metrics fresh = Metrics.of("train", stepped);       // looks for the first time behind these steps
            for (int i = 0; i < 40; i++) {
                try (Batch _ = stepped.next()) {
                    time.advance(i % 10 == 9 ? 20_000_000 : 2_000_000);
                }
            }
            Map<String, Double> read = Exposition.parse(PrometheusText.write(fresh)).samples();
            assertEquals(BATCHES + 40 - 1, read.get("penstock_recent_steps{loader=train}"), "the last is not over");
            assertEquals(0.002, read.get("penstock_recent_step_seconds{loader=train, quantile=0.5}"), 1e-9);
            assertEquals(0.020, read.get("penstock_recent_step_seconds{loader=train, quantile=0.99}"), 1e-9);
            assertEquals(1, read.get("penstock_recent_utilization_ratio{loader=train}"), 1e-9);
            assertEquals(0, read.get("penstock_recent_wait_seconds{loader=train, quantile=0.99}"), 1e-9);
        }
    }

    @Test
    void whatIsMarkedIsCountedByItsKindWhileItLasts() {
        String running = "penstock_marked_seconds_total{loader=train, mark=other}";
        try (Diagnosis marking = Diagnosis.of(loader)) {
            Metrics marked = Metrics.of("train", marking);
            try (Marks.Mark _ = marking.mark("evaluation")) {
                assertEquals(0, Exposition.parse(PrometheusText.write(marked)).samples().get(running));
            }
            double evaluated = Exposition.parse(PrometheusText.write(marked)).samples()
                    .get("penstock_marked_seconds_total{loader=train, mark=evaluation}");
            assertTrue(evaluated > 0);
            try (Marks.Mark _ = Marks.begin("logging")) {
                double now = Exposition.parse(PrometheusText.write(marked)).samples().get(running);
                assertTrue(now > 0, "it is under way");
                assertTrue(Exposition.parse(PrometheusText.write(marked)).samples().get(running) > now);
            }
            assertTrue(Exposition.parse(PrometheusText.write(marked)).samples()
                    .get("penstock_resident_memory_bytes{loader=train}") != 0);
        }
    }

    @Test
    void twoLoadersShareFamiliesAndKeepTheirNames() {
        Metrics both = Metrics.of("train", loader).and(Metrics.of("validation", loader));
        Exposition read = Exposition.parse(PrometheusText.write(both));
        assertEquals(BATCHES, read.samples().get("penstock_batches_total{loader=train}"));
        assertEquals(BATCHES, read.samples().get("penstock_batches_total{loader=validation}"));
        assertThrows(IllegalArgumentException.class, () -> metrics.and(metrics));
    }

    @Test
    void theReaderOfTheFormatIsStrict() {
        String good = "# HELP a_total b\n# TYPE a_total counter\na_total{x=\"1\"} 2\n";
        assertEquals(2.0, Exposition.parse(good).samples().get("a_total{x=1}"));
        for (String bad : new String[] {good + "a_total{x=\"1\"} 3\n", good.replace("# TYPE a_total counter\n", ""),
                good.replace("a_total", "a"), good.replace("\"1\"", "\"\"\""), good + "# TYPE a_total counter\n",
                good.replace(" 2", " two"), good.strip(), good + "\n"}) {
            assertThrows(IllegalArgumentException.class, () -> Exposition.parse(bad), bad);
        }
    }

    @Test
    void micrometerReadsThemLiveInBaseUnits() {
        MeterRegistry registry = new SimpleMeterRegistry();
        new PenstockMeters(Metrics.of("train", loader)).bindTo(registry);
        FunctionCounter batches = registry.get("penstock.batches").tag("loader", "train").functionCounter();
        assertEquals(BATCHES, batches.count());
        loader.next().close();
        System.gc();
        assertEquals(BATCHES + 1, batches.count(), "what is read is held");
        FunctionCounter collate = registry.get("penstock.stage").tag("stage", "collate").functionCounter();
        assertEquals("seconds", collate.getId().getBaseUnit());
        assertTrue(collate.count() > 0);
        assertEquals(loader.memory().hostSlots(), registry.get("penstock.host.slots").gauge().value());
        Set<String> tags = registry.getMeters().stream().flatMap(meter -> meter.getId().getTags().stream())
                .map(tag -> tag.getKey()).collect(Collectors.toSet());
        assertEquals(Set.of("loader", "quantile", "stage", "source"), tags, "none that grows with the run");
    }

    /** A rule or a panel on a metric that does not exist would be silent for ever. */
    @ParameterizedTest
    @ValueSource(strings = {"alerts.yml", "alerts_test.yml", "dashboard.json"})
    void whatTheShippedFilesNameIsExported(String file) throws Exception {
        Set<String> exported;
        try (PrometheusEndpoint endpoint = PrometheusEndpoint.open(metrics, 0);
                HttpClient client = HttpClient.newHttpClient()) {
            exported = Exposition.parse(get(client, endpoint, "GET", "/metrics").body()).types().keySet();
        }
        String text = Files.readString(shipped(file));
        Set<String> named = Pattern.compile("penstock_\\w+").matcher(text).results().map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(named.size() >= 5, named::toString);
        named.removeAll(exported);
        assertEquals(Set.of(), named, "not exported");
    }

    private static Path shipped(String file) {
        Path root = Path.of("docs").toAbsolutePath();
        while (!Files.exists(root.resolve("monitoring"))) {
            root = root.getParent().resolveSibling("docs");
        }
        return root.resolve("monitoring").resolve(file);
    }

    @Test
    void everyAlertHasATestInWhichItFires() throws IOException {
        Set<String> alerts = Pattern.compile("- alert: (\\w+)").matcher(Files.readString(shipped("alerts.yml")))
                .results().map(found -> found.group(1)).collect(Collectors.toCollection(TreeSet::new));
        Set<String> fire = Pattern.compile("alertname: (\\w+)\n +exp_alerts:\n +- exp_labels")
                .matcher(Files.readString(shipped("alerts_test.yml"))).results().map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(alerts.size() >= 9, alerts::toString);
        assertEquals(alerts, fire);
    }

    /** Debian's package {@code prometheus} has it. */
    @Test
    void promtoolAcceptsTheRulesAndTheyFireWhereTheirTestsSay() throws Exception {
        assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(place ->
                Files.isExecutable(Path.of(place, "promtool"))), "promtool is not installed");
        for (String file : new String[] {"alerts.yml", "alerts_test.yml"}) {
            Files.copy(shipped(file), folder.resolve(file));
        }
        assertEquals("", promtool("check", "alerts.yml"));
        assertEquals("", promtool("test", "alerts_test.yml"));
        String rules = Files.readString(folder.resolve("alerts.yml"));
        Files.writeString(folder.resolve("alerts.yml"), rules.replace("[5m]) > 0.1", "[5m]) > 0.9"));
        assertTrue(promtool("test", "alerts_test.yml").contains("PenstockInputBound"), "a rule that never fires");
    }

    /** Returns what it says, nothing if all is well. */
    private String promtool(String what, String file) throws Exception {
        Process process = new ProcessBuilder("promtool", what, "rules", file).directory(folder.toFile())
                .redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() == 0 ? "" : said;
    }

    @Test
    void namesAreThoseOfPrometheus() {
        assertThrows(IllegalArgumentException.class, () -> new Metric("Batches", Type.GAUGE, Unit.NONE, "", Map.of(),
                () -> 0));
        for (Metric metric : metrics.all()) {
            assertTrue(metric.prometheusName().startsWith("penstock_"), metric::prometheusName);
            assertEquals(metric.type() == Type.COUNTER, metric.prometheusName().endsWith("_total"));
            assertTrue(metric.help().endsWith("."), metric.help());
        }
    }
}
