// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The loader end to end on a workload of the benchmarks. Prints one JSON line a round, as {@code bench/README.md} says:
 * {@code --rounds} of them, or with {@code --serve} one for each line {@code SECONDS READ STEP_MS} of standard input,
 * which is how {@code bench/peers/run.py} runs it by turns with its peers.
 */
public final class LoaderThroughput {

    /** The latest batches, whose times are kept: few, since the runner counts this process's memory. */
    private static final int MAX_BATCHES = 1 << 16;

    /** Loaded for the first round, not for the first batch, whose time is measured too. */
    private static final class Beans {
        static final OperatingSystemMXBean SYSTEM =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    }

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private final LoaderFeed feed;
    private final String labels;
    private final long[] nextNanos = new long[MAX_BATCHES];
    private long batches;
    private long samples;
    private long sum;

    private LoaderThroughput(LoaderFeed feed, String labels) {
        this.feed = feed;
        this.labels = labels;
    }

    /** See {@code bench/README.md} for the options. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = options(args);
        try (LoaderFeed feed = LoaderFeed.open(Workload.open(options), options)) {
            var run = new LoaderThroughput(feed, labels(options));
            if (options.containsKey("serve")) {
                run.serve();
            } else {
                run.rounds(options);
            }
            if (options.containsKey("report")) {
                System.err.println(feed.loader().report());
            }
            if (run.sum == 42) {
                System.err.println("a sum that keeps the reading from being optimized away");
            }
        }
    }

    private static String labels(Map<String, String> options) {
        String target = options.getOrDefault("device", "host");
        String workers = options.getOrDefault("workers", "1");
        return String.format(Locale.ROOT, "\"side\": \"penstock\", \"config\": \"Penstock w%s%s%s\", \"mode\": \"%s\", "
                        + "\"workers\": %s", workers, options.containsKey("copy") ? " copy" : "",
                target.equals("host") ? "" : " to " + target, options.getOrDefault("mode", "i64"), workers);
    }

    private void rounds(Map<String, String> options) {
        boolean read = options.containsKey("read");
        double stepMillis = Double.parseDouble(options.getOrDefault("step-ms", "0"));
        double seconds = Double.parseDouble(options.getOrDefault("seconds", "2"));
        takeFor((long) (1e9 * Double.parseDouble(options.getOrDefault("warmup", "2"))), read, stepMillis);
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "1"));
        for (int round = 1; round <= rounds; round++) {
            System.out.println(round(seconds, read, stepMillis, round));
        }
    }

    /** Says that it is ready once the first batch is there, then answers each line of standard input with a round. */
    private void serve() throws IOException {
        feed.take();
        feed.release();
        System.out.printf(Locale.ROOT, "{\"ready\": true, \"slots\": %d}%n", feed.slots());
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        int round = 0;
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] request = line.split(" ");
            System.out.println(round(Double.parseDouble(request[0]), request[1].equals("1"),
                    Double.parseDouble(request[2]), ++round));
        }
    }

    private String round(double seconds, boolean read, double stepMillis, int round) {
        long cpu = Beans.SYSTEM.getProcessCpuTime();
        long heap = Beans.THREADS.getTotalThreadAllocatedBytes();
        long begin = System.nanoTime();
        takeFor((long) (seconds * 1e9), read, stepMillis);
        double took = (System.nanoTime() - begin) / 1e9;
        heap = Beans.THREADS.getTotalThreadAllocatedBytes() - heap;
        double cpuSeconds = (Beans.SYSTEM.getProcessCpuTime() - cpu) / 1e9;
        int timed = (int) Math.min(batches, MAX_BATCHES);
        Arrays.sort(nextNanos, 0, timed);
        return String.format(Locale.ROOT, "{%s, \"read\": %b, \"step_ms\": %s, \"round\": %d, \"batches\": %d, "
                        + "\"samples\": %d, \"seconds\": %.6f, \"samples_per_second\": %.1f, \"cpu_seconds\": %.4f, "
                        + "\"next_p50_ms\": %.5f, \"next_p99_ms\": %.5f, \"heap_bytes_per_batch\": %.1f}",
                labels, read, stepMillis, round, batches, samples, took, samples / took, cpuSeconds,
                nextNanos[timed / 2] / 1e6, nextNanos[timed * 99 / 100] / 1e6, (double) heap / batches);
    }

    private void takeFor(long nanos, boolean read, double stepMillis) {
        batches = 0;
        samples = 0;
        long begin = System.nanoTime();
        long end = begin + nanos;
        while (begin < end) {
            samples += feed.take();
            long taken = System.nanoTime();
            nextNanos[(int) (batches++ % MAX_BATCHES)] = taken - begin;
            if (read) {
                sum += sum(feed.bytes());
            }
            if (stepMillis > 0) {
                step(taken + (long) (stepMillis * 1e6));
            }
            feed.release();
            begin = System.nanoTime();
        }
    }

    private static void step(long end) {
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** By four sums that do not wait for each other: what a compiler of C makes of the plain loop. */
    private static long sum(MemorySegment bytes) {
        long a = 0;
        long b = 0;
        long c = 0;
        long d = 0;
        long end = bytes.byteSize() / 32 * 32;
        for (long at = 0; at < end; at += 32) {
            a += bytes.get(WORD, at);
            b += bytes.get(WORD, at + 8);
            c += bytes.get(WORD, at + 16);
            d += bytes.get(WORD, at + 24);
        }
        for (long at = end; at + 8 <= bytes.byteSize(); at += 8) {
            a += bytes.get(WORD, at);
        }
        return a + b + c + d;
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
