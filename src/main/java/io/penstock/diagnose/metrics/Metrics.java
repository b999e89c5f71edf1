// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.metrics.Metric.Type;
import io.penstock.diagnose.metrics.Metric.Unit;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderMemory;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.StreamStatus;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.LoaderReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of one or more sources, in a fixed order, for all exporters. After a source is closed, its last totals
 * remain readable.
 *
 * {@snippet :
 * Metrics metrics = Metrics.of("train", loader).and(Metrics.of("train", statistics));
 * try (var endpoint = PrometheusEndpoint.open(metrics, 9464)) {
 *     // … train …
 * }
 * }
 *
 * @param all the metrics; no two have the same name and labels
 */
public record Metrics(List<Metric> all) {

    private static final double NANOS = 1e-9;

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if two metrics have the same name and labels, or the same name but a different
     *     type, unit or help text
     */
    public Metrics {
        all = List.copyOf(all);
        Set<Object> seen = new HashSet<>();
        Map<String, Metric> families = new HashMap<>();
        for (Metric metric : all) {
            if (!seen.add(Map.entry(metric.prometheusName(), metric.labels()))) {
                throw new IllegalArgumentException("found two metrics " + metric.prometheusName() + metric.labels()
                        + ", expected one");
            }
            Metric first = families.putIfAbsent(metric.prometheusName(), metric);
            if (first != null && (first.type() != metric.type() || !first.help().equals(metric.help()))) {
                throw new IllegalArgumentException("found metrics " + metric.prometheusName()
                        + " with different types, units or help texts, expected the same");
            }
        }
    }

    /**
     * {@return a view of a loader's metrics, including its latest steps if it keeps
     * {@linkplain DataLoader#accounts accounts}}
     *
     * @param name the value of the label {@code loader}: {@code train}, {@code validation}
     * @param loader the loader
     */
    public static Metrics of(String name, DataLoader loader) {
        List<Metric> list = new ArrayList<>();
        Of<LoaderReport> totals = new Of<>(list, loader::report);
        totals.count("batches", "Batches that the trainer received.", LoaderReport::batches);
        totals.count("samples", "Samples in the batches that the trainer received.", LoaderReport::samples);
        totals.bytes("made", "Bytes that workers wrote into slots, prefetched batches included.", LoaderReport::bytes);
        totals.seconds("wait", "Time that the trainer waited for batches.", LoaderReport::consumerWaitNanos);
        String stage = "Working time by stage, summed over all threads.";
        totals.seconds("stage", stage, LoaderReport::planNanos, "stage", "plan");
        totals.seconds("stage", stage, LoaderReport::collateNanos, "stage", "collate");
        totals.seconds("stage", stage, LoaderReport::submitNanos, "stage", "submit");
        String source = "Time that workers waited for samples of a stream: its source had nothing (empty), or more than"
                + " was read (slow).";
        totals.seconds("source_wait", source, LoaderReport::sourceEmptyNanos, "source", "empty");
        totals.seconds("source_wait", source, LoaderReport::sourceSlowNanos, "source", "slow");
        totals.seconds("slot_wait", "Time that workers waited for a free slot because the trainer is slower"
                + " (backpressure).", LoaderReport::slotWaitNanos);
        totals.count("bad_samples", "Bad samples that were replaced or skipped.", LoaderReport::badSamples);
        totals.bytes("verified", "Bytes verified against checksums.", LoaderReport::verifiedBytes);
        Of<LoaderMemory> memory = new Of<>(list, loader::memory);
        memory.gauge("host_slots", Unit.NONE, "Slots of the host ring.", LoaderMemory::hostSlots);
        memory.gauge("device_slots", Unit.NONE, "Slots on the device; 0 if batches are lent in place.",
                LoaderMemory::deviceSlots);
        memory.gauge("host_memory", Unit.BYTES, "Pinned host memory of all slots.", LoaderMemory::hostBytes);
        memory.gauge("device_memory", Unit.BYTES, "Device memory of all slots.", LoaderMemory::deviceBytes);
        loader.accounts().ifPresent(accounts -> addRecent(list, accounts));
        return new Metrics(list).labeled("loader", name);
    }

    private static void addRecent(List<Metric> list, Accounts accounts) {
        Of<RecentSteps> recent = new Of<>(list, new RecentSource(accounts));
        recent.gauge("recent_steps", Unit.NONE, "Number of latest steps that the 'recent' metrics cover.",
                RecentSteps::steps);
        recent.gauge("recent_utilization", Unit.RATIO, "Share of these steps not spent waiting.",
                RecentSteps::utilization);
        for (double quantile : new double[] {0.5, 0.95, 0.99}) {
            String label = Double.toString(quantile);
            recent.gauge("recent_step", Unit.SECONDS, "Length of a step.", r -> r.stepSeconds(quantile),
                    "quantile", label);
            recent.gauge("recent_wait", Unit.SECONDS, "The trainer's wait in a step.", r -> r.waitSeconds(quantile),
                    "quantile", label);
        }
        recent.gauge("recent_ready_batches", Unit.NONE, "Mean number of batches ready when the trainer asked.",
                RecentSteps::readyBatches);
        recent.gauge("recent_free_slots", Unit.NONE, "Mean number of empty host slots when the trainer asked.",
                RecentSteps::freeSlots);
    }

    /** Reads the accounts once for all metrics of a scrape. */
    private static final class RecentSource implements Supplier<RecentSteps> {

        private static final long FRESH_NANOS = 200_000_000;
        private final Accounts accounts;
        private volatile @Nullable RecentSteps latest;

        RecentSource(Accounts accounts) {
            this.accounts = accounts;
        }

        @Override
        public RecentSteps get() {
            long now = System.nanoTime();
            RecentSteps known = latest;
            if (known == null || now - known.atNanos() > FRESH_NANOS) {
                known = RecentSteps.of(accounts, now);
                latest = known;
            }
            return known;
        }
    }

    /**
     * {@return the metrics of data statistics, as views of them}
     *
     * @param name the value of the label {@code loader}
     * @param statistics the statistics
     */
    public static Metrics of(String name, DataStatistics statistics) {
        List<Metric> list = new ArrayList<>();
        Of<DataStatistics> watch = new Of<>(list, () -> statistics);
        watch.count("data_batches", "Batches whose data was sampled.", s -> s.cost().batches());
        watch.seconds("data_watch", "Worker time spent on data statistics.", s -> s.cost().nanos());
        watch.count("data_changes", "Changes of the data found.", DataStatistics::changes);
        return new Metrics(list).labeled("loader", name);
    }

    /**
     * The metrics of a stream, for the partitions that it reads when this is called: with its loader open.
     *
     * @param name the value of the label {@code loader}
     * @param stream for example {@code dataset::status}
     * @return views of its status; numbers that the source does not know are NaN
     */
    public static Metrics of(String name, Supplier<StreamStatus> stream) {
        List<Metric> list = new ArrayList<>();
        Of<StreamStatus> status = new Of<>(list, stream);
        status.count("stream_reread", "Records that a resumed run has read again.", StreamStatus::rereadRecords);
        for (String partition : stream.get().partitions().keySet()) {
            status.gauge("stream_lag", Unit.NONE, "What the partition has that was not read: records, or bytes of a"
                    + " file.", s -> known(lag(s, partition).behind()), "partition", partition);
            status.gauge("stream_newest_age", Unit.SECONDS, "Age of the latest record that was read.",
                    s -> (System.currentTimeMillis() - known(lag(s, partition).newestMillis())) / 1e3, "partition",
                    partition);
            status.gauge("stream_skipped", Unit.NONE, "Bad records that were left out.",
                    s -> lag(s, partition).skipped(), "partition", partition);
        }
        return new Metrics(list).labeled("loader", name);
    }

    private static PartitionReader.Lag lag(StreamStatus status, String partition) {
        return status.partitions().getOrDefault(partition, PartitionReader.Lag.UNKNOWN);
    }

    private static double known(long number) {
        return number < 0 ? Double.NaN : number;
    }

    /**
     * {@return these metrics and others}
     *
     * @param others metrics of another source
     * @throws IllegalArgumentException if they have a metric in common: give the sources different names
     */
    public Metrics and(Metrics others) {
        List<Metric> both = new ArrayList<>(all);
        both.addAll(others.all);
        return new Metrics(both);
    }

    private Metrics labeled(String key, String value) {
        return new Metrics(all.stream().map(metric -> metric.labeled(key, value)).toList());
    }

    /** Adds metrics that are all read from one source value. */
    private record Of<T>(List<Metric> list, Supplier<T> source) {

        void count(String name, String help, ToDoubleFunction<T> value) {
            add(name, Type.COUNTER, Unit.NONE, help, value);
        }

        void bytes(String name, String help, ToDoubleFunction<T> value) {
            add(name, Type.COUNTER, Unit.BYTES, help, value);
        }

        void seconds(String name, String help, ToDoubleFunction<T> nanos, String... label) {
            add(name, Type.COUNTER, Unit.SECONDS, help, total -> nanos.applyAsDouble(total) * NANOS, label);
        }

        void gauge(String name, Unit unit, String help, ToDoubleFunction<T> value, String... label) {
            add(name, Type.GAUGE, unit, help, value, label);
        }

        private void add(String name, Type type, Unit unit, String help, ToDoubleFunction<T> value, String... label) {
            Map<String, String> labels = label.length == 0 ? Map.of() : Map.of(label[0], label[1]);
            list.add(new Metric(name, type, unit, help, labels, () -> value.applyAsDouble(source.get())));
        }
    }
}
