// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.CausalLm;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.Advice;
import io.penstock.io.MappedFile;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.store.TokenStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The loader end to end on a file that is not in the page cache: windows in random order or one after another, by each
 * read mode, with and without reading ahead. Each round drops the file from the page cache, opens the store, takes
 * batches for so many seconds or bytes, and prints one JSON line. {@code bench/README.md} has the options;
 * {@code bench/peers/cold_compare.py} runs it by turns with {@code fio}.
 */
public final class ColdReads {

    private static final int TOKEN_BYTES = 2;
    /** Of a file that is half warm, pieces of this size are warm. */
    private static final long PIECE_BYTES = 128 << 10;

    private final Path file;
    private final long windowTokens;
    private final long stride;
    private final int batch;
    private final boolean random;
    private final double seconds;
    private final long mostBytes;
    private final double warmShare;
    private final boolean drop;
    private long seed;

    private ColdReads(Map<String, String> options) {
        file = Path.of(options.get("store"));
        windowTokens = Long.parseLong(options.getOrDefault("window-bytes", "16384")) / TOKEN_BYTES;
        stride = Long.parseLong(options.getOrDefault("stride-bytes", "" + windowTokens * TOKEN_BYTES)) / TOKEN_BYTES;
        batch = Integer.parseInt(options.getOrDefault("batch", "32"));
        random = options.getOrDefault("order", "random").equals("random");
        seconds = Double.parseDouble(options.getOrDefault("seconds", "2"));
        mostBytes = Long.parseLong(options.getOrDefault("bytes", "" + Long.MAX_VALUE));
        warmShare = Double.parseDouble(options.getOrDefault("warm-share", "0"));
        drop = !options.containsKey("keep");
    }

    private record Config(ReadMode mode, int workers, long readAhead) {
        String name() {
            return mode + " w" + workers + (readAhead < 0 ? "" : readAhead == 0 ? ", none ahead"
                    : ", " + readAhead + " ahead");
        }
    }

    /** See {@code bench/README.md} for the options. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        List<Config> configs = new ArrayList<>();
        for (String workers : options.getOrDefault("workers", "2").split(",")) {
            for (String mode : options.getOrDefault("modes", "auto").split(",")) {
                String[] parts = mode.split(":");
                configs.add(new Config(ReadMode.of(parts[0]), Integer.parseInt(workers),
                        parts.length == 1 ? -1 : Long.parseLong(parts[1])));
            }
        }
        var run = new ColdReads(options);
        int warmups = Integer.parseInt(options.getOrDefault("warmups", "1"));
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "3"));
        BufferedReader turns = options.containsKey("turns")
                ? new BufferedReader(new InputStreamReader(System.in)) : null;
        for (int round = 1 - warmups; round <= rounds; round++) {
            for (Config config : configs) {
                if (turns != null && round > 0 && turns.readLine() == null) {
                    return;
                }
                run.round(config, round);
            }
        }
    }

    private void round(Config config, int round) throws IOException {
        double share = drop ? prepare() : 1;
        long cpu = cpuNanos();
        long disk = bytesFromDevice();
        long begin = System.nanoTime();
        long end = begin + (long) (seconds * 1e9);
        long bytes = 0;
        long opened;
        long first = 0;
        long now;
        long[] nextNanos = new long[1 << 20];
        int batches = 0;
        try (TokenStore store = TokenStore.open(file, "nanogpt");
                DataLoader loader = open(store, config)) {
            opened = System.nanoTime();
            now = opened;
            while (now < end && bytes < mostBytes && loader.hasNext()) {
                try (Batch next = loader.next()) {
                    long taken = System.nanoTime();
                    first = batches == 0 ? taken : first;
                    nextNanos[Math.min(batches++, nextNanos.length - 1)] = taken - now;
                    bytes += next.count() * windowTokens * TOKEN_BYTES;
                }
                now = System.nanoTime();
            }
        }
        long took = now - begin;
        if (round < 1) {
            return;
        }
        int measured = Math.min(batches, nextNanos.length);
        Arrays.sort(nextNanos, 0, measured);
        System.out.printf(Locale.ROOT, "{\"side\": \"penstock\", \"config\": \"%s\", \"order\": \"%s\", "
                + "\"window_bytes\": %d, \"batch\": %d, \"workers\": %d, \"round\": %d, \"resident_before\": %.3f, "
                + "\"bytes\": %d, \"seconds\": %.6f, \"bytes_per_second\": %.0f, \"device_bytes\": %d, "
                + "\"cpu_seconds\": %.3f, \"open_ms\": %.2f, \"first_batch_ms\": %.2f, \"next_p50_ms\": %.4f, "
                + "\"next_p99_ms\": %.4f}%n",
                config.name(), random ? "random" : "sequential", windowTokens * TOKEN_BYTES, batch, config.workers,
                round, share, bytes, took / 1e9, bytes * 1e9 / took, bytesFromDevice() - disk,
                (cpuNanos() - cpu) / 1e9, (opened - begin) / 1e6, (first - begin) / 1e6,
                nextNanos[measured / 2] / 1e6, nextNanos[measured * 99 / 100] / 1e6);
    }

    private DataLoader open(TokenStore store, Config config) {
        TokenWindows windows = TokenWindows.withoutLabels(store, windowTokens, stride);
        DataLoaderBuilder settings = DataLoader.builder(windows).batchSize(batch).collator(CausalLm.narrow())
                .readMode(config.mode).workers(config.workers);
        if (random) {
            settings.shuffle(seed++);
        }
        if (!random) {
            settings.endEpoch(1);
        }
        if (config.readAhead >= 0) {
            settings.readAhead(config.readAhead);
        }
        return settings.open();
    }

    /** Drops the file from the page cache, brings in the share of it that is to be warm, and says how much is. */
    private double prepare() throws IOException {
        try (MappedFile mapped = MappedFile.open(file)) {
            mapped.advise(Advice.DONT_NEED, 0, mapped.byteSize());
            double due = 0;
            for (long at = 0; at + PIECE_BYTES <= mapped.byteSize() && warmShare > 0; at += PIECE_BYTES) {
                due += warmShare;
                if (due >= 1) {
                    mapped.advise(Advice.WILL_NEED, at, PIECE_BYTES);       // exactly these pages
                    mapped.advise(Advice.POPULATE_READ, at, PIECE_BYTES);   // waits for them
                    due--;
                }
            }
            return mapped.residency(1024);
        }
    }

    /** What this process has had read from devices, by the kernel's count. */
    private static long bytesFromDevice() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
            if (line.startsWith("read_bytes:")) {
                return Long.parseLong(line.substring("read_bytes:".length()).strip());
            }
        }
        return 0;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
