// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.collate.Stack;
import io.penstock.dataset.TokenWindows;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.metrics.Metric.Type;
import io.penstock.diagnose.metrics.Metric.Unit;
import io.penstock.diagnose.micrometer.PenstockMeters;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.SteppedTime;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import javax.management.InstanceNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All exporters, against a loader that runs. */
class MetricsTest {

    private static final int BATCHES = 7;

    @TempDir
    Path folder;
    private TokenStore store;
    private DataLoader loader;
    private Metrics metrics;

    @BeforeEach
    void run() throws Exception {
        store = TokenStore.open(Corpora.rawU16(folder, 20_000, 1), "nanogpt");
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        loader = DataLoader.builder(TokenWindows.of(store, 32)).batchSize(4).workers(0)
                .collator(new Stack().then(statistics)).open();
        for (int i = 0; i < BATCHES; i++) {
            try (Batch batch = loader.next()) {
                assertEquals(4, batch.count());
            }
        }
        metrics = Metrics.of("train \"a\\b\"\n", loader).and(Metrics.of("train \"a\\b\"\n", statistics));
    }

    @AfterEach
    void close() {
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
    void jmxShowsThemReadOnlyAndOnlyWhileTheyAreRegistered() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.penstock:type=Metrics,name=\"train: 0, *\"".replace("*", "\\*"));
        MetricsBean bean = MetricsBean.register("train: 0, *", metrics);
        try {
            assertEquals((long) BATCHES, server.getAttribute(name, "BatchesTotal"));
            assertEquals(loader.report().consumerWaitNanos() / 1e9,
                    (double) server.getAttribute(name, "WaitSecondsTotal"), 1e-9);
            assertTrue((double) server.getAttribute(name, "StageSecondsTotalCollate") > 0);
            MBeanAttributeInfo[] infos = server.getMBeanInfo(name).getAttributes();
            assertEquals(metrics.all().size(), infos.length);
            for (MBeanAttributeInfo info : infos) {
                assertTrue(info.isReadable() && !info.isWritable() && !info.getDescription().isBlank());
                assertTrue(Set.of("long", "double").contains(info.getType()));
            }
            assertEquals(1, server.getAttributes(name, new String[] {"BatchesTotal", "None"}).size());
            assertThrows(IllegalArgumentException.class, () -> MetricsBean.register("train: 0, *", metrics));
        } finally {
            bean.close();
            bean.close();
        }
        assertThrows(InstanceNotFoundException.class, () -> server.getMBeanInfo(name));
    }

    @Test
    void jmxShowsAMeanUnroundedAndWhatIsUnknownAsNaN() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.penstock:type=Metrics,name=\"means\"");
        Metrics gauges = new Metrics(List.of(
                new Metric("ready", Type.GAUGE, Unit.NONE, "A mean.", Map.of(), () -> 0.75),
                new Metric("lag", Type.GAUGE, Unit.NONE, "Unknown.", Map.of(), () -> Double.NaN)));
        try (MetricsBean _ = MetricsBean.register("means", gauges)) {
            assertEquals(0.75, server.getAttribute(name, "Ready"));
            assertEquals(Double.NaN, server.getAttribute(name, "Lag"));
            for (MBeanAttributeInfo info : server.getMBeanInfo(name).getAttributes()) {
                assertEquals("double", info.getType());
            }
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

    @Test
    void aLogLineHasRatesSinceTheLineBefore() {
        double[] totals = {100, 5e9};
        MetricsLog log = MetricsLog.of(new Metrics(List.of(
                new Metric("batches", Type.COUNTER, Unit.NONE, "", Map.of("loader", "train"), () -> totals[0]),
                new Metric("stage", Type.COUNTER, Unit.SECONDS, "", Map.of("loader", "train", "stage", "plan"),
                        () -> totals[1] / 1e9),
                new Metric("slots", Type.GAUGE, Unit.NONE, "", Map.of("loader", "train"), () -> 5),
                new Metric("memory", Type.GAUGE, Unit.BYTES, "", Map.of(), () -> 2.5e6))));
        long now = System.nanoTime();
        log.line(now);
        totals[0] += 20;
        totals[1] += 5e8;
        assertEquals("10.0 s, train: batches=2/s stage.plan=5.0% slots=5: memory=2.5MB",
                log.line(now + 10_000_000_000L));
        log.close();
        log.close();
    }

    @Test
    void linesAreWrittenAtIntervalsUntilItIsClosed() throws Exception {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                lines.add(entry.getMessage());
            }

            @Override
            public void flush() {
                // nothing is kept back
            }

            @Override
            public void close() {
                // nothing is open
            }
        };
        Logger logger = Logger.getLogger("io.penstock.metrics");
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        MetricsLog log = MetricsLog.every(Duration.ofMillis(5), Metrics.of("train", loader));
        try {
            for (int i = 0; i < 3; i++) {
                String line = lines.poll(10, TimeUnit.MINUTES);
                assertTrue(line != null && line.contains(" s, train: batches="), line);
            }
        } finally {
            log.close();
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
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
