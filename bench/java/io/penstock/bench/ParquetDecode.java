package io.penstock.bench;

import io.penstock.memory.Span;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * How fast Parquet files are decoded by one thread: opens each store again and again, touches every row of its first
 * column once, and prints the decoded bytes a second, best and median, the opening included. The files, and what
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
            double[] rates = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                long begin = System.nanoTime();
                long bytes = decode(Path.of(file));
                rates[round] = bytes / MB / ((System.nanoTime() - begin) / 1e9);
            }
            Arrays.sort(rates);
            System.out.printf(Locale.ROOT, "%-40s %6.0f MB/s best, %6.0f median of %d%n",
                    Path.of(file).getFileName(), rates[ROUNDS - 1], rates[ROUNDS / 2], ROUNDS);
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
