package io.penstock.bench;

import io.penstock.collate.CausalLm;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.TokenWindows;
import io.penstock.device.Device;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.TransferMode;
import io.penstock.memory.ReadMode;
import io.penstock.store.StoreFormat;
import io.penstock.store.TokenStore;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The loader end to end on the benchmarks' store: shuffled windows of 1024+1 tokens in batches of 32. Prints one JSON
 * line a round, as {@code bench/README.md} says; {@code bench/peers/compare.py} runs it by turns with its peers.
 */
public final class LoaderThroughput {

    private static final int LENGTH = 1024;
    private static final int BATCH = 32;
    private static final int MAX_SAMPLES = 1 << 20;

    private final DataLoader loader;
    private final boolean read;
    private final double stepMillis;
    private final long[] nextNanos = new long[MAX_SAMPLES];
    private long sum;

    private LoaderThroughput(DataLoader loader, boolean read, double stepMillis) {
        this.loader = loader;
        this.read = read;
        this.stepMillis = stepMillis;
    }

    /** See {@code bench/README.md} for the options. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = options(args);
        String mode = options.getOrDefault("mode", "i64");
        int workers = Integer.parseInt(options.getOrDefault("workers", "1"));
        double seconds = Double.parseDouble(options.getOrDefault("seconds", "2"));
        double warmup = Double.parseDouble(options.getOrDefault("warmup", "2"));
        double stepMillis = Double.parseDouble(options.getOrDefault("step-ms", "0"));
        boolean read = options.containsKey("read");
        String target = options.getOrDefault("device", "host");
        try (TokenStore store = TokenStore.open(Path.of(options.get("store")), StoreFormat.NANOGPT);
                Device device = Device.of(target);
                DataLoader loader = open(store, device, mode, workers, options)) {
            var run = new LoaderThroughput(loader, read, stepMillis);
            run.round((long) (warmup * 1e9));
            for (int round = 1; round <= Integer.parseInt(options.getOrDefault("rounds", "1")); round++) {
                long cpu = cpuNanos();
                long begin = System.nanoTime();
                long batches = run.round((long) (seconds * 1e9));
                double took = (System.nanoTime() - begin) / 1e9;
                int measured = (int) Math.min(batches, MAX_SAMPLES);
                Arrays.sort(run.nextNanos, 0, measured);
                System.out.printf(Locale.ROOT, "{\"side\": \"penstock\", \"config\": \"Penstock w%d%s%s\", "
                        + "\"mode\": \"%s\", \"workers\": %d, \"read\": %b, \"step_ms\": %s, \"round\": %d, "
                        + "\"samples\": %d, \"seconds\": %.6f, \"samples_per_second\": %.1f, \"cpu_seconds\": %.3f, "
                        + "\"next_p50_ms\": %.5f, \"next_p99_ms\": %.5f}%n",
                        workers, options.containsKey("copy") ? " copy" : "",
                        target.equals("host") ? "" : " to " + target, mode, workers, read, stepMillis, round,
                        batches * BATCH, took, batches * BATCH / took, (cpuNanos() - cpu) / 1e9,
                        run.nextNanos[measured / 2] / 1e6, run.nextNanos[measured * 99 / 100] / 1e6);
            }
            if (options.containsKey("report")) {
                System.err.println(loader.report());
            }
            if (run.sum == 42) {
                System.err.println("a sum that keeps the reading from being optimised away");
            }
        }
    }

    private static DataLoader open(
            TokenStore store, Device device, String mode, int workers, Map<String, String> options) {
        DataLoaderBuilder settings = DataLoader.of(TokenWindows.of(store, LENGTH)).batchSize(BATCH).shuffle(1)
                .collator(CausalLm.widened(TokenWidth.of(mode.equals("narrow") ? "store" : mode))).workers(workers)
                .device(device)
                .readMode(ReadMode.of(options.getOrDefault("read-mode", "mmap")))
                .transfer(options.containsKey("copy") ? TransferMode.COPY : TransferMode.AUTO);
        if (options.containsKey("prefetch")) {
            settings.prefetch(Integer.parseInt(options.get("prefetch")));
        }
        return settings.open();
    }

    private long round(long nanos) {
        long end = System.nanoTime() + nanos;
        long batches = 0;
        for (long begin = System.nanoTime(); begin < end; batches++) {
            try (Batch batch = loader.next()) {
                long taken = System.nanoTime();
                nextNanos[(int) (batches % MAX_SAMPLES)] = taken - begin;
                if (read) {
                    sum += sum(batch.segment());
                }
                if (stepMillis > 0) {
                    step(taken);
                }
            }
            begin = System.nanoTime();
        }
        return batches;
    }

    private void step(long begin) {
        long end = begin + (long) (stepMillis * 1e6);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static long sum(MemorySegment bytes) {
        long sum = 0;
        long words = bytes.byteSize() / 8;
        for (long i = 0; i < words; i++) {
            sum += bytes.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i);
        }
        return sum;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static Map<String, String> options(String[] args) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < args.length; i++) {
            boolean flag = i + 1 == args.length || args[i + 1].startsWith("--");
            options.put(args[i].substring(2), flag ? "" : args[++i]);
        }
        return options;
    }
}
