// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Recording;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.machine.GpuSample;
import io.penstock.diagnose.machine.MachineLog;
import io.penstock.diagnose.machine.MachineSample;
import io.penstock.diagnose.machine.Throttle;
import io.penstock.diagnose.metrics.Metric.Type;
import io.penstock.diagnose.metrics.Metric.Unit;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.LoaderMemory;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.StreamDataset;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
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
    /** Looks at the machine are five a second. */
    private static final int RECENT_LOOKS = 50;

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
     * {@linkplain DeviceLoader#accounts accounts}}
     *
     * @param name the value of the label {@code loader}: {@code train}, {@code validation}
     * @param loader the loader
     */
    public static Metrics of(String name, DeviceLoader loader) {
        return of(name, loader, null);
    }

    /**
     * {@return a view of a diagnosed loader's metrics: what was marked as no training is left out of its latest steps
     * and listed apart, and the GPU and the process are among them}
     *
     * @param name the value of the label {@code loader}
     * @param diagnosis the diagnosis of the loader
     */
    public static Metrics of(String name, Diagnosis diagnosis) {
        return of(name, diagnosis.loader(), diagnosis);
    }

    private static Metrics of(String name, DeviceLoader loader, @Nullable Diagnosis diagnosis) {
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
        loader.accounts().ifPresent(accounts -> addRecent(list, accounts, diagnosis));
        if (diagnosis != null) {
            list.add(new Metric("own_step", Type.GAUGE, Unit.SECONDS, "Mean time of a step that the rank spends by"
                    + " itself: without marked backward passes or, without marks, without computing.", Map.of(),
                    () -> diagnosis.status().ownMillis() / 1e3));
            addMarked(list, diagnosis);
            addMachine(list, diagnosis);
        }
        return new Metrics(list).labeled("loader", name);
    }

    private static void addMarked(List<Metric> list, Diagnosis diagnosis) {
        Of<List<Recording.Interlude>> marked = new Of<>(list, diagnosis::interludes);
        String help = "Time that the trainer marked as no training.";
        for (String mark : List.of("checkpoint", "evaluation")) {
            marked.seconds("marked", help, all -> nanos(all.stream().filter(one -> one.name().equals(mark))), "mark",
                    mark);
        }
        marked.seconds("marked", help, all -> nanos(all.stream().filter(one -> !one.name().equals("checkpoint")
                && !one.name().equals("evaluation"))), "mark", "other");
    }

    private static double nanos(Stream<Recording.Interlude> marked) {
        return marked.mapToLong(Recording.Interlude::nanos).sum();
    }

    private static void addMachine(List<Metric> list, Diagnosis diagnosis) {
        Of<MachineLog> machine = new Of<>(list, diagnosis::machine);
        machine.gauge("gpu_utilization", Unit.RATIO, "Share of time in which a kernel ran on the GPU.",
                log -> gpu(log, GpuSample::utilization));
        machine.gauge("gpu_memory", Unit.BYTES, "Memory used of the GPU, by all processes.",
                log -> gpu(log, gpu -> gpu.memory().usedBytes()));
        machine.gauge("gpu_power_watts", Unit.NONE, "Power that the GPU draws.",
                log -> gpu(log, GpuSample::powerWatts));
        machine.gauge("gpu_temperature_celsius", Unit.NONE, "Temperature of the GPU.",
                log -> gpu(log, GpuSample::temperatureCelsius));
        machine.gauge("gpu_throttled", Unit.NONE, "1 while heat, power or hardware hold the GPU's clocks down.",
                log -> gpu(log, gpu -> Throttle.of(gpu.clocks().throttle()).isEmpty() ? 0 : 1));
        machine.gauge("resident_memory", Unit.BYTES, "RAM of the process.", log -> log.samples().isEmpty() ? Double.NaN
                : log.samples().getLast().host().memory().residentBytes());
    }

    /** Of the latest look, which is some seconds old at most; NaN without one. */
    private static double gpu(MachineLog log, ToDoubleFunction<GpuSample> what) {
        List<MachineSample> samples = log.samples();
        for (int i = samples.size() - 1; i >= Math.max(0, samples.size() - RECENT_LOOKS); i--) {
            GpuSample gpu = samples.get(i).gpu();
            if (gpu != null) {
                return what.applyAsDouble(gpu);
            }
        }
        return Double.NaN;
    }

    private static void addRecent(List<Metric> list, Accounts accounts, @Nullable Diagnosis diagnosis) {
        Of<RecentSteps> recent = new Of<>(list, new RecentSource(accounts, diagnosis));
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
        private final @Nullable Diagnosis diagnosis;
        private volatile @Nullable RecentSteps latest;

        RecentSource(Accounts accounts, @Nullable Diagnosis diagnosis) {
            this.accounts = accounts;
            this.diagnosis = diagnosis;
        }

        @Override
        public RecentSteps get() {
            long now = System.nanoTime();
            RecentSteps known = latest;
            if (known == null || now - known.atNanos() > FRESH_NANOS) {
                known = RecentSteps.of(accounts, diagnosis == null ? List.of() : diagnosis.interludes(), now);
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
    public static Metrics of(String name, Supplier<StreamDataset.Status> stream) {
        List<Metric> list = new ArrayList<>();
        Of<StreamDataset.Status> status = new Of<>(list, stream);
        status.count("stream_reread", "Records that a resumed run has read again.",
                StreamDataset.Status::rereadRecords);
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

    private static PartitionReader.Lag lag(StreamDataset.Status status, String partition) {
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

    /**
     * The trainer's latest steps, from their batches' accounts; times are sorted. A step lasts from the request for its
     * batch to the next request; an epoch's last step has no end and is left out.
     *
     * @param readyBatches the mean number of complete batches at the trainer's request; NaN if not measured
     * @param freeSlots the mean number of empty host slots; NaN if not measured
     */
    private record RecentSteps(long atNanos, int steps, long[] stepNanos, long[] waitNanos, double readyBatches,
            double freeSlots) {

        /** The maximum number of steps covered. */
        private static final int MOST = 1000;

        static RecentSteps of(Accounts accounts, List<Recording.Interlude> marked, long now) {
            List<BatchAccount> latest = accounts.since(Math.max(0, accounts.newest() - MOST));
            long[] stepNanos = new long[latest.size()];
            long[] waitNanos = new long[latest.size()];
            int steps = 0;
            double ready = 0;
            double free = 0;
            int measured = 0;
            for (int i = 0; i + 1 < latest.size(); i++) {
                BatchAccount.Taking taking = latest.get(i).taking();
                BatchAccount next = latest.get(i + 1);
                if (next.sequence() == latest.get(i).sequence() + 1 && !next.first()) {
                    stepNanos[steps] = next.taking().requestedAt() - taking.requestedAt()
                            - overlap(marked, taking.takenAt(), next.taking().requestedAt());
                    waitNanos[steps++] = taking.waitNanos();
                }
                if (taking.readyBatches() >= 0 && taking.freeSlots() >= 0) {
                    ready += taking.readyBatches();
                    free += taking.freeSlots();
                    measured++;
                }
            }
            long[] sortedSteps = Arrays.copyOf(stepNanos, steps);
            long[] sortedWaits = Arrays.copyOf(waitNanos, steps);
            Arrays.sort(sortedSteps);
            Arrays.sort(sortedWaits);
            return new RecentSteps(now, steps, sortedSteps, sortedWaits, ready / measured, free / measured);
        }

        private static long overlap(List<Recording.Interlude> marked, long begin, long end) {
            return marked.stream().mapToLong(one -> Math.max(0, Math.min(end, one.endAt())
                    - Math.max(begin, one.beginAt()))).sum();
        }

        double stepSeconds(double quantile) {
            return seconds(stepNanos, quantile);
        }

        double waitSeconds(double quantile) {
            return seconds(waitNanos, quantile);
        }

        /** A quantile of the steps, by nearest rank. */
        private static double seconds(long[] sorted, double quantile) {
            return sorted.length == 0 ? Double.NaN
                    : sorted[Math.clamp((int) Math.ceil(quantile * sorted.length) - 1, 0, sorted.length - 1)] * 1e-9;
        }

        /** The share of these steps not spent waiting; NaN without steps. */
        double utilization() {
            return 1 - (double) Arrays.stream(waitNanos).sum() / Arrays.stream(stepNanos).sum();
        }
    }
}
