// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.Stack;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * How fast one thread makes batches of the rows of Parquet files: an epoch in block-shuffled order, the file opened
 * anew each time, and batches of rows at random after one pass. The files, and what pyarrow makes of them, are
 * {@code bench/peers/parquet_rows.py}'s.
 *
 * <pre>{@code
 * python bench/peers/parquet_rows.py target/bench
 * java --enable-native-access=ALL-UNNAMED -cp "$(bench/class-path)" io.penstock.bench.ParquetRows \
 *     target/bench/*.parquet
 * }</pre>
 */
public final class ParquetRows {

    private static final int ROUNDS = Integer.getInteger("rounds", 7);
    private static final int BATCH = 1024;
    private static final int RANDOM_BATCHES = Integer.getInteger("random.batches", 200);
    private static final double MB = 1e6;
    private static final double NANOS = 1e9;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ParquetRows() {
    }

    /** Measures the files. */
    public static void main(String[] args) throws IOException {
        for (String file : args) {
            double[] scans = new double[ROUNDS];
            double[] picks = new double[ROUNDS];
            for (int round = -2; round < ROUNDS; round++) {
                long begin = THREADS.getCurrentThreadCpuTime();
                try (RecordStore store = RecordStore.open(Path.of(file));
                        SampleReader reader = new SampleReader(fields(store), ReadMode.AUTO);
                        Arena arena = Arena.ofConfined()) {
                    RecordFields rows = fields(store);
                    long blockRows = Long.getLong("block.rows", Math.max(1, store.size() / 100));
                    long[] starts = LongStream.rangeClosed(0, Math.ceilDiv(store.size(), blockRows))
                            .map(block -> Math.min(store.size(), block * blockRows)).toArray();
                    Slab slab = slab(rows, arena);
                    long bytes = epoch(Sampler.blockShuffled(starts, 4 * blockRows, 1), reader, slab,
                            Long.MAX_VALUE);
                    double scan = bytes / MB * NANOS / (THREADS.getCurrentThreadCpuTime() - begin);
                    Sampler random = Sampler.shuffled(store.size(), round);
                    long _ = epoch(random, reader, slab, RANDOM_BATCHES);
                    begin = THREADS.getCurrentThreadCpuTime();
                    long _ = epoch(random, reader, slab, RANDOM_BATCHES);
                    if (round >= 0) {
                        scans[round] = scan;
                        picks[round] = Math.min(RANDOM_BATCHES, store.size() / BATCH) * BATCH * NANOS
                                / (THREADS.getCurrentThreadCpuTime() - begin);
                    }
                }
            }
            Arrays.sort(scans);
            Arrays.sort(picks);
            System.out.printf(Locale.ROOT, "%s: block-shuffled %.0f MB a CPU second best, %.0f median; random %.0f rows"
                    + " a CPU second best, %.0f median%n", Path.of(file).getFileName(), scans[ROUNDS - 1],
                    scans[ROUNDS / 2], picks[ROUNDS - 1], picks[ROUNDS / 2]);
        }
    }

    private static RecordFields fields(RecordStore store) {
        RecordFields fields = RecordFields.of(store);
        for (Column column : store.columns()) {
            fields = fields.and(column.name());
        }
        return fields;
    }

    private static Slab slab(RecordFields rows, Arena arena) {
        SlabLayout layout = Stack.fields().layout(rows, BATCH);
        return new Slab(layout, arena.allocate(layout.capacityBytes(), 256));
    }

    private static long epoch(Sampler order, SampleReader reader, Slab slab, long most) {
        BatchSampler batches = BatchSampler.of(order, BATCH, new Shard(0, 1, TailPolicy.PAD)).droppingLast();
        BatchPlan plan = new BatchPlan(BATCH);
        long bytes = 0;
        for (long batch = 0; batch < Math.min(most, order.size() / BATCH); batch++) {
            batches.plan(batch, plan);
            Stack.fields().collate(reader, plan, slab);
            bytes += slab.usedBytes();
        }
        return bytes;
    }
}
