// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.format.csv.TableOptions;
import io.penstock.format.csv.TableOptions.Features;
import io.penstock.format.csv.TextTable;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * How fast a CSV file of numbers becomes rows of {@code f32}: opens the table and copies each row once, in order, and
 * prints the megabytes of text that a CPU second of the whole process takes; also the pass that makes the index. The
 * file, and what pyarrow and pandas make of it, is {@code bench/peers/csv_read.py}'s, which starts this.
 */
public final class CsvRates {

    private static final int ROUNDS = Integer.getInteger("rounds", 7);
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private CsvRates() {
    }

    /**
     * Measures.
     *
     * @param args the file and the number of its columns, c0 and so on
     * @throws IOException if it cannot be read
     */
    public static void main(String[] args) throws IOException {
        Path file = Path.of(args[0]);
        int columns = Integer.parseInt(args[1]);
        TableOptions options = TableOptions.DEFAULT.withFeatures("x",
                Features.of(IntStream.range(0, columns).mapToObj(c -> "c" + c).toArray(String[]::new)));
        double[] indexed = new double[ROUNDS];
        double[] read = new double[ROUNDS];
        float[] row = new float[columns];
        double sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Files.deleteIfExists(Path.of(file + ".penstock-rows"));
            long begin = PROCESS.getProcessCpuTime();
            TextTable.open(file, options).close();
            indexed[round] = 1e3 * Files.size(file) / (PROCESS.getProcessCpuTime() - begin);
            begin = PROCESS.getProcessCpuTime();
            try (TextTable table = TextTable.open(file, options)) {
                Span span = new Span();
                for (long i = 0; i < table.size(); i++) {
                    table.locate(i, 0, span);
                    MemorySegment.copy(span.segment(), LittleEndian.F32, span.byteOffset(), row, 0, columns);
                    sum += row[0];
                }
            }
            read[round] = 1e3 * Files.size(file) / (PROCESS.getProcessCpuTime() - begin);
        }
        Arrays.sort(indexed);
        Arrays.sort(read);
        System.out.printf(Locale.ROOT, "Penstock: index %.0f best, %.0f median; file to tensors %.0f best, %.0f median"
                + " MB a CPU second (sum %.6g)%n", indexed[ROUNDS - 1], indexed[ROUNDS / 2], read[ROUNDS - 1],
                read[ROUNDS / 2], sum);
    }
}
