// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.TransferMode;
import io.penstock.store.TokenStore;
import io.penstock.telemetry.LoaderReport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the way to the device gives, beside what it could give: bare pinned copies, the loader without collation, the
 * loader with it, and training steps with the loader beside steps on a batch that is on the device already. All in one
 * process, by turns, on one clock. Prints a JSON line a measurement; {@code bench/README.md} says what they hold.
 *
 * <pre>
 *   --device NAME       cuda (default), cuda:N or host
 *   --store FILE        raw u16 tokens; without it, no collation and no steps are measured
 *   --min-bytes N --max-bytes N   sizes of the transfer, powers of 2 from 64 KiB to 256 MiB (simulated: 16 MiB)
 *   --rounds N          rounds of each, of which the median counts (5)
 *   --round-ms N        the least time of a round (100)
 *   --step-ms N         the least time of a step (5)
 *   --workers N         collating threads (processors less one, at most 8)
 *   --seconds N         after this, sizes that are left are passed over (240)
 * </pre>
 */
public final class TransferBench {
    private static final int WINDOW_LENGTH = 1024;
    private static final int[] WINDOWS = {32, 512, 8192, 32768};
    private static final int SUBMITS = 2000;
    private static final int MIN_COPIES = 4;
    private static final int MIN_STEPS = 10;
    /** Batches taken as steps take them, so that the code for it is compiled: few steps are measured. */
    private static final int WARM_TAKES = 12_000;
    private static final long SLOW_ROUND_NANOS = 1_000_000_000;
    private static final int SLOW_ROUNDS = 3;

    private final Device device;
    private final DeviceStream trainer;
    private final Map<String, String> options;
    private final PrintStream out;
    private final int rounds;
    private final long roundNanos;
    private final long deadline;

    private TransferBench(Device device, DeviceStream trainer, Map<String, String> options, PrintStream out) {
        this.device = device;
        this.trainer = trainer;
        this.options = options;
        this.out = out;
        this.rounds = (int) number("rounds", 5);
        this.roundNanos = number("round-ms", 100) * 1_000_000;
        this.deadline = System.nanoTime() + number("seconds", 240) * 1_000_000_000;
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        try (Device device = Device.open(options.getOrDefault("device", "cuda"));
                DeviceStream trainer = device.openStream("trainer")) {
            device.makeCurrent();
            new TransferBench(device, trainer, options, System.out).run();
        } catch (DeviceUnavailableException e) {
            System.out.println(Json.write(Map.of("kind", "unavailable", "message", e.getMessage())));
            System.exit(1);
        }
    }

    private void run() throws IOException {
        out.println(Json.write(BenchMachine.describe(device)));
        long greatest = CudaLedger.isSimulated() || device.hostAccessible() ? 16L << 20 : 256L << 20;
        for (long bytes = number("min-bytes", 64 << 10); bytes <= number("max-bytes", greatest); bytes *= 2) {
            if (isTimeLeft("bytes", bytes)) {
                transfer(bytes);
            }
        }
        if (options.containsKey("store")) {
            try (TokenStore store = TokenStore.open(Path.of(options.get("store")), "nanogpt")) {
                TokenWindows windows = TokenWindows.of(store, WINDOW_LENGTH);
                for (int count : WINDOWS) {
                    if (count * 2L <= windows.size() && isTimeLeft("windows", count)) {
                        tokens(windows, count);
                    }
                }
            }
        }
    }

    private boolean isTimeLeft(String what, long size) {
        boolean left = System.nanoTime() < deadline;
        if (!left) {
            print("passed-over", Map.of(what, size, "reason", "the time is up"));
        }
        return left;
    }

    /** Bare copies, from one buffer and from as many as the loader has, and the loader with prefilled slots. */
    private void transfer(long bytes) {
        PrefilledSlots prefilled = new PrefilledSlots(bytes);
        try (DataLoader loader = open(DataLoader.builder(prefilled).collator(prefilled).workers(1));
                BareCopies one = new BareCopies(device, bytes, 1, 1);
                BareCopies ring = new BareCopies(device, bytes, loader.memory().hostSlots(),
                        loader.memory().deviceSlots())) {
            LoaderRounds engine = new LoaderRounds(loader, trainer);
            one.nanos(MIN_COPIES);
            engine.nanos(MIN_COPIES);
            long copyNanos = Math.max(1, one.nanos(MIN_COPIES) / MIN_COPIES);
            int copies = (int) Math.max(MIN_COPIES, roundNanos / copyNanos);
            int turns = copies * copyNanos > SLOW_ROUND_NANOS ? Math.min(SLOW_ROUNDS, rounds) : rounds;
            engine.nanos(copies);
            CudaLedger warm = CudaLedger.of(device);
            LoaderReport before = loader.report();
            double[] peak = new double[turns];
            double[] bare = new double[turns];
            double[] loaded = new double[turns];
            for (int i = 0; i < turns; i++) {
                engine.rest(copyNanos);
                peak[i] = rate(bytes * copies, one.nanos(copies));
                bare[i] = rate(bytes * copies, ring.nanos(copies));
                loaded[i] = rate(bytes * copies, engine.nanos(copies));
            }
            long[] submits = engine.submitNanos((int) Math.clamp(2 * roundNanos / copyNanos, 20, SUBMITS));
            LoaderReport used = loader.report().since(before);
            CudaLedger since = warm.untilNow(device);
            Arrays.sort(submits);
            var row = new LinkedHashMap<String, Object>();
            row.put("bytes", bytes);
            row.put("copies", copies);
            row.put("rounds", turns);
            row.put("peak_gb_per_second", rounded(median(peak)));
            row.put("ring_gb_per_second", rounded(median(bare)));
            row.put("engine_gb_per_second", rounded(median(loaded)));
            row.put("engine_over_peak", rounded(median(loaded) / median(peak)));
            row.put("engine_over_ring", rounded(median(loaded) / median(bare)));
            row.put("submits", submits.length);
            row.put("submit_p50_micros", rounded(submits[submits.length / 2] / 1e3));
            row.put("submit_p99_micros", rounded(submits[submits.length * 99 / 100] / 1e3));
            row.put("pin_seconds_per_gib", rounded(ring.pinSecondsPerGib()));
            row.put("batches_after_warmup", used.batches());
            put(row, since);
            print("transfer", row);
        }
    }

    /** The loader with collation, and steps with it. */
    private void tokens(TokenWindows windows, int count) {
        int workers = (int) number("workers", Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 1, 8));
        try (DataLoader loader = open(DataLoader.builder(windows).batchSize(count).dropLast().shuffle(1)
                .collator(CausalLm.narrow()).workers(workers))) {
            long bytes = loader.layout().capacityBytes();
            LoaderRounds engine = new LoaderRounds(loader, trainer);
            engine.nanos(MIN_COPIES);
            long batchNanos = Math.max(1, engine.nanos(MIN_COPIES) / MIN_COPIES);
            int batches = (int) Math.max(MIN_COPIES, roundNanos / batchNanos);
            double[] peak = new double[rounds];
            double[] loaded = new double[rounds];
            try (BareCopies bare = new BareCopies(device, bytes, 1, 1)) {
                bare.nanos(MIN_COPIES);
                for (int i = 0; i < rounds; i++) {
                    engine.rest(batchNanos);
                    peak[i] = rate(bytes * batches, bare.nanos(batches));
                    loaded[i] = rate(bytes * batches, engine.nanos(batches));
                }
            }
            var row = new LinkedHashMap<String, Object>();
            row.put("windows", count);
            row.put("bytes", bytes);
            row.put("workers", workers);
            row.put("peak_gb_per_second", rounded(median(peak)));
            row.put("engine_gb_per_second", rounded(median(loaded)));
            row.put("engine_over_peak", rounded(median(loaded) / median(peak)));
            row.put("samples_per_second", Math.round(median(loaded) * 1e9 / bytes * count));
            long sampleBytes = movedBytes(loader) / count;
            row.put("bytes_per_sample", sampleBytes);
            row.put("bytes_over_i64_ids_and_labels", rounded((double) sampleBytes / (2L * WINDOW_LENGTH * Long.BYTES)));
            print("tokens", row);
            long loadedNanos = (long) (bytes / median(loaded));
            steps(engine, bytes, Math.max(number("step-ms", 5) * 1_000_000, 2 * loadedNanos));
        }
    }

    private static long movedBytes(DataLoader loader) {
        try (var batch = loader.next()) {
            return batch.byteSize();
        }
    }

    /** Steps with the loader, and the same steps on a batch that is there already. */
    private void steps(LoaderRounds engine, long bytes, long stepNanos) {
        try (ComputeStandIn compute = ComputeStandIn.of(device, trainer, stepNanos)) {
            int steps = (int) Math.max(MIN_STEPS, 2 * roundNanos / stepNanos);
            LoaderRounds.syntheticNanos(MIN_STEPS, compute, trainer);
            engine.takeEach(WARM_TAKES);
            engine.stepNanos(compute, new long[MIN_STEPS]);
            double[] synthetic = new double[rounds];
            double[] loaded = new double[rounds];
            double[] next = new double[rounds];
            long[] nextNanos = new long[steps];
            CudaLedger warm = CudaLedger.of(device);
            for (int i = 0; i < rounds; i++) {
                engine.rest(stepNanos);
                synthetic[i] = LoaderRounds.syntheticNanos(steps, compute, trainer) / 1e6 / steps;
                loaded[i] = engine.stepNanos(compute, nextNanos) / 1e6 / steps;
                Arrays.sort(nextNanos);
                next[i] = nextNanos[steps / 2] / 1e3;
            }
            CudaLedger since = warm.untilNow(device);
            var row = new LinkedHashMap<String, Object>();
            row.put("bytes", bytes);
            row.put("compute", compute.name());
            row.put("steps", steps);
            row.put("rounds", rounds);
            row.put("synthetic_step_ms", rounded(median(synthetic)));
            row.put("engine_step_ms", rounded(median(loaded)));
            row.put("engine_over_synthetic", rounded(median(loaded) / median(synthetic)));
            row.put("next_p50_micros", rounded(median(next)));
            put(row, since);
            print("step", row);
        }
    }

    private DataLoader open(DataLoaderBuilder settings) {
        return settings.device(device).transfer(TransferMode.COPY).open();
    }

    private static void put(Map<String, Object> row, CudaLedger since) {
        row.put("cuda_calls_after_warmup", since.calls());
        row.put("threads_after_warmup", since.threads());
        row.put("device_bytes_after_warmup", since.freeBytes());
    }

    private void print(String kind, Map<String, Object> row) {
        var line = new LinkedHashMap<String, Object>();
        line.put("kind", kind);
        line.putAll(row);
        out.println(Json.write(line));
    }

    private long number(String option, long otherwise) {
        return options.containsKey(option) ? Long.parseLong(options.get(option)) : otherwise;
    }

    /** Decimal gigabytes a second. */
    private static double rate(long bytes, long nanos) {
        return (double) bytes / nanos;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static double rounded(double value) {
        return Math.round(value * 1e4) / 1e4;
    }
}
