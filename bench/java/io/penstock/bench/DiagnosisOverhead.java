// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.metrics.Metrics;
import io.penstock.diagnose.metrics.PrometheusEndpoint;
import io.penstock.diagnose.watch.StatusFile;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * What diagnosis costs: two loaders on the same workload, one that keeps accounts and is diagnosed and one that does
 * neither, take turns in short rounds of one JVM, and which goes first changes from pair to pair. Where a loader's
 * memory and threads come to lie makes some percent by itself, so there are several sessions, each with two new
 * loaders that are opened in the other order than before; a session gives the median of its pairs, and the answer is
 * the mean of the sessions with its interval. The same without accounts on either side says what the method sees where
 * there is nothing to see. Options as in {@link LoaderThroughput}, with {@code --sessions}, {@code --pairs} and
 * {@code --round-ms}.
 *
 * <p>Then everything is on: phases are marked, the status is written to a folder and served, metrics are scraped every
 * 15 s, and a past is kept. First the trainer's thread alone, by turns with a loader without any of it, in
 * nanoseconds a step; then a trainer with a step of 5 ms, for the processor time of the threads beside it and what the
 * trainer's thread allocates ({@code --seconds}).
 */
public final class DiagnosisOverhead {

    /** Of Student's distribution with some ten degrees of freedom, for an interval of 95 %. */
    private static final double T = 2.2;
    private static final int WARM_UP_ROUNDS = 10;
    private static final long STEP_NANOS = 5_000_000;
    private static final long SCRAPE_MILLIS = 15_000;
    private static final int COUNTED_STEPS = 20_000;

    private final Map<String, String> options;
    private final int sessions;
    private final int pairs;
    private final long roundNanos;

    private DiagnosisOverhead(Map<String, String> options) {
        this.options = options;
        this.sessions = Integer.parseInt(options.getOrDefault("sessions", "12"));
        this.pairs = Integer.parseInt(options.getOrDefault("pairs", "24"));
        this.roundNanos = Long.parseLong(options.getOrDefault("round-ms", "25")) * 1_000_000;
    }

    /** See {@code bench/README.md}. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = new HashMap<>(LoaderThroughput.options(args));
        options.putIfAbsent("store", "target/bench/tokens.bin");
        var overhead = new DiagnosisOverhead(options);
        overhead.compare("off over off", false);
        overhead.compare("on over off", true);
        overhead.everything(Long.parseLong(options.getOrDefault("seconds", "30")));
    }

    /** All that can be on, beside one loader. */
    private static final class Everything implements AutoCloseable {
        final Diagnosis diagnosis;
        private final StatusFile file;
        private final PrometheusEndpoint endpoint;
        private final Thread scraper;

        Everything(LoaderFeed feed, Path folder) throws IOException {
            diagnosis = Diagnosis.of(feed.loader());
            diagnosis.baseline(folder.resolve("past.json"));
            file = StatusFile.open(diagnosis::status, 0, folder.resolve("run"));
            endpoint = PrometheusEndpoint.open(Metrics.of("train", diagnosis), diagnosis::status, 0);
            URI metrics = URI.create("http://127.0.0.1:" + endpoint.address().getPort() + "/metrics");
            scraper = Thread.ofPlatform().daemon().name("scraper").start(() -> scrape(metrics));
        }

        private static void scrape(URI metrics) {
            try (HttpClient client = HttpClient.newHttpClient()) {
                while (true) {
                    client.send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.discarding());
                    Thread.sleep(SCRAPE_MILLIS);
                }
            } catch (IOException | InterruptedException _) {
                // It is over.
            }
        }

        @Override
        public void close() {
            scraper.interrupt();
            endpoint.close();
            file.close();
            diagnosis.close();
        }
    }

    private void everything(long seconds) throws IOException {
        Path folder = Files.createTempDirectory("overhead");
        try (LoaderFeed judged = open(true); LoaderFeed plain = open(false);
                Everything all = new Everything(judged, folder)) {
            step(judged, all.diagnosis, WARM_UP_ROUNDS * roundNanos);
            step(plain, null, WARM_UP_ROUNDS * roundNanos);
            double[] more = new double[sessions * pairs];
            for (int i = 0; i < more.length; i++) {
                boolean judgedFirst = i % 2 == 0;
                double first = step(judgedFirst ? judged : plain, judgedFirst ? all.diagnosis : null, roundNanos);
                double second = step(judgedFirst ? plain : judged, judgedFirst ? null : all.diagnosis, roundNanos);
                more[i] = judgedFirst ? first - second : second - first;
            }
            Arrays.sort(more);
            double median = more[more.length / 2];
            System.out.printf(Locale.ROOT, "everything on: %.0f ns more a step (median of %d pairs; quartiles %.0f to"
                    + " %.0f): %.4f %% of a step of 5 ms%n", median, more.length, more[more.length / 4],
                    more[3 * more.length / 4], 100 * median / STEP_NANOS);
            System.out.printf(Locale.ROOT, "the trainer's thread allocates %.2f B a batch, and %.2f B without"
                    + " diagnosis%n", allocated(judged, all.diagnosis), allocated(plain, null));
            beside(judged, all.diagnosis, seconds);
        }
    }

    private static double allocated(LoaderFeed feed, Diagnosis diagnosis) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < COUNTED_STEPS; i++) {
            feed.take();
            if (diagnosis != null) {
                diagnosis.begin(Phase.FORWARD);
                diagnosis.end();
            }
            feed.release();
        }
        return (double) (threads.getCurrentThreadAllocatedBytes() - before) / COUNTED_STEPS;
    }

    /** What the threads beside a trainer with a step of 5 ms take. */
    private static void beside(LoaderFeed feed, Diagnosis diagnosis, long seconds) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Map<String, Long> before = cpuNanos(threads);
        long begin = System.nanoTime();
        long steps = 0;
        while (System.nanoTime() - begin < seconds * 1_000_000_000) {
            feed.take();
            diagnosis.begin(Phase.FORWARD);
            LockSupport.parkNanos(STEP_NANOS);
            diagnosis.begin(Phase.BACKWARD);
            diagnosis.end();
            feed.release();
            steps++;
        }
        long nanos = System.nanoTime() - begin;
        Map<String, Long> after = cpuNanos(threads);
        after.forEach((name, cpu) -> System.out.printf(Locale.ROOT, "thread %-20s %.4f %% of a core%n", name,
                100.0 * (cpu - before.getOrDefault(name, 0L)) / nanos));
        System.out.printf(Locale.ROOT, "beside %d steps of %.2f ms%n", steps, nanos / 1e6 / steps);
    }

    /** Of threads that only diagnosis has. */
    private static Map<String, Long> cpuNanos(com.sun.management.ThreadMXBean threads) {
        Map<String, Long> nanos = new TreeMap<>();
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("penstock-")) {
                nanos.merge(thread.getThreadName(), threads.getThreadCpuTime(thread.getThreadId()), Long::sum);
            }
        }
        return nanos;
    }

    /** Nanoseconds a step of a trainer that only marks, if it has a diagnosis. */
    private static double step(LoaderFeed feed, Diagnosis diagnosis, long nanos) {
        long begin = System.nanoTime();
        long steps = 0;
        long now = begin;
        while (now - begin < nanos) {
            feed.take();
            if (diagnosis != null) {
                diagnosis.begin(Phase.FORWARD);
                diagnosis.begin(Phase.BACKWARD);
                diagnosis.begin(Phase.OPTIMIZER);
                diagnosis.end();
            }
            feed.release();
            steps++;
            now = System.nanoTime();
        }
        return (double) (now - begin) / steps;
    }

    private void compare(String what, boolean accounts) throws IOException {
        double sum = 0;
        double squares = 0;
        for (int session = 0; session < sessions; session++) {
            double log = Math.log(session(accounts, session % 2 == 0, session == sessions - 1));
            sum += log;
            squares += log * log;
        }
        double mean = sum / sessions;
        double error = T * Math.sqrt((squares / sessions - mean * mean) / (sessions - 1));
        System.out.printf(Locale.ROOT, "%-13s %.4f, 95 %% interval %.4f to %.4f, %d sessions of %d pairs of %d ms%n",
                what, Math.exp(mean), Math.exp(mean - error), Math.exp(mean + error), sessions, pairs,
                roundNanos / 1_000_000);
    }

    private double session(boolean accounts, boolean judgedFirst, boolean last) throws IOException {
        try (LoaderFeed first = open(accounts && judgedFirst); LoaderFeed second = open(accounts && !judgedFirst)) {
            LoaderFeed judged = judgedFirst ? first : second;
            LoaderFeed plain = judgedFirst ? second : first;
            try (Diagnosis diagnosis = Diagnosis.of(judged.loader())) {
                double ratio = ratio(judged, plain);
                if (accounts && last) {
                    Summary.Overhead said = diagnosis.summary().overhead();
                    System.out.printf(Locale.ROOT, "self-reported %.0f ns a step, %.2f %% of it%n",
                            said.nanosPerStep(), 100 * said.share());
                }
                return ratio;
            }
        }
    }

    private double ratio(LoaderFeed judged, LoaderFeed plain) {
        round(judged, WARM_UP_ROUNDS * roundNanos);
        round(plain, WARM_UP_ROUNDS * roundNanos);
        double[] ratios = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            boolean judgedFirst = i % 2 == 0;
            double first = round(judgedFirst ? judged : plain, roundNanos);
            double second = round(judgedFirst ? plain : judged, roundNanos);
            ratios[i] = judgedFirst ? first / second : second / first;
        }
        Arrays.sort(ratios);
        return (ratios[(pairs - 1) / 2] + ratios[pairs / 2]) / 2;
    }

    private LoaderFeed open(boolean accounts) throws IOException {
        Workload workload = Workload.open(options);
        if (!accounts) {
            workload.settings().withoutAccounts();
        }
        return LoaderFeed.open(workload, options);
    }

    /** Samples a second. */
    private static double round(LoaderFeed feed, long nanos) {
        long begin = System.nanoTime();
        long samples = 0;
        long now = begin;
        while (now - begin < nanos) {
            samples += feed.take();
            feed.release();
            now = System.nanoTime();
        }
        return samples * 1e9 / (now - begin);
    }
}
