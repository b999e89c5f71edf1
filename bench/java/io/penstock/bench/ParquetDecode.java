// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.io.Span;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * How fast Parquet files are decoded by one thread: opens each store again and again, touches every row of its first
 * column once, and prints the decoded bytes a second and a CPU second, the opening included. The files, and what
 * pyarrow makes of them, are {@code bench/peers/parquet_read.py}'s.
 *
 * <pre>{@code
 * python bench/peers/parquet_read.py target/bench
 * java --enable-native-access=ALL-UNNAMED -cp ... io.penstock.bench.ParquetDecode target/bench/ids-*.parquet
 * }</pre>
 */
public final class ParquetDecode {

    private static final int ROUNDS = Integer.getInteger("rounds", 7);
    private static final double MB = 1e6;
    private static final double NANOS = 1e9;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ParquetDecode() {
    }

    /**
     * Measures.
     *
     * @param args the files
     * @throws IOException if one cannot be read
     */
    public static void main(String[] args) throws IOException {
        for (String file : args) {
            double[] wall = new double[ROUNDS];
            double[] cpu = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                long begin = System.nanoTime();
                long cpuBegin = THREADS.getCurrentThreadCpuTime();
                double megabytes = decode(Path.of(file)) / MB;
                cpu[round] = megabytes / ((THREADS.getCurrentThreadCpuTime() - cpuBegin) / NANOS);
                wall[round] = megabytes / ((System.nanoTime() - begin) / NANOS);
            }
            Arrays.sort(wall);
            Arrays.sort(cpu);
            System.out.printf(Locale.ROOT,
                    "%-30s %5.0f MB/s best, %5.0f median; a CPU second %5.0f best, %5.0f median%n",
                    Path.of(file).getFileName(), wall[ROUNDS - 1], wall[ROUNDS / 2], cpu[ROUNDS - 1], cpu[ROUNDS / 2]);
        }
    }

    private static long decode(Path file) throws IOException {
        try (RecordStore store = RecordStore.open(file)) {
            Span span = new Span();
            long bytes = 0;
            for (long row = 0; row < store.size(); row++) {
                store.locate(row, 0, span);
                bytes += span.byteSize();
            }
            return bytes;
        }
    }
}
