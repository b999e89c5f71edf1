// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Random rows of {@code u16[1025]} in batches of 32 from a {@code .npy} and from an Arrow stream of the same rows, by
 * turns in one process, each through a loader of its own. {@code bench/peers/arrow_rows.py} writes the files.
 */
public final class ArrowRows {

    private static final int BATCH = 32;
    private static final int RING = 8;
    private static final int READER_BATCHES = 1500;
    private static final int WARMUP = 6;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ArrowRows() {
    }

    /** {@code --folder target/bench [--rounds 9] [--seconds 1] [--workers 1]}, or {@code [--rounds 54] --reader}. */
    public static void main(String[] args) throws Exception {
        Map<String, String> options = LoaderThroughput.options(args);
        Path folder = Path.of(options.getOrDefault("folder", "target/bench"));
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "9"));
        int workers = Integer.parseInt(options.getOrDefault("workers", "1"));
        long nanos = (long) (Double.parseDouble(options.getOrDefault("seconds", "1")) * 1e9);
        try (TensorStore npy = TensorStore.open(folder.resolve("rows.npy"));
                RecordStore arrow = RecordStore.open(folder.resolve("rows.arrow"))) {
            if (options.containsKey("reader")) {
                readers(npy, arrow, rounds);
            } else {
                loaders(npy, arrow, rounds, workers, nanos);
            }
        }
    }

    private static void loaders(TensorStore npy, RecordStore arrow, int rounds, int workers, long nanos)
            throws Exception {
        try (DataLoader npyRows = open(TensorRows.of("row", npy), workers);
                DataLoader arrowRows = open(RecordFields.of(arrow).and("row"), workers)) {
            double[] ofNpy = new double[rounds];
            double[] ofArrow = new double[rounds];
            for (int round = -2; round < rounds; round++) {
                double first = round(npyRows, nanos);
                double second = round(arrowRows, nanos);
                if (round >= 0) {
                    ofNpy[round] = first;
                    ofArrow[round] = second;
                    System.out.printf(Locale.ROOT, "round %d: npy %.0f rows/s, arrow %.0f rows/s, ratio %.3f%n", round,
                            first, second, second / first);
                }
            }
            Arrays.sort(ofNpy);
            Arrays.sort(ofArrow);
            System.out.printf(Locale.ROOT, "median: npy %.0f, arrow %.0f, ratio %.3f%n", ofNpy[rounds / 2],
                    ofArrow[rounds / 2], ofArrow[rounds / 2] / ofNpy[rounds / 2]);
        }
    }

    private static DataLoader open(Dataset rows, int workers) {
        return DataLoader.builder(rows).batchSize(BATCH).shuffle(1).collator(Stack.fields()).workers(workers).open();
    }

    /** Nanoseconds of CPU time a row, of one thread that copies batches without a loader. */
    private static double reader(SampleReader rows, MemorySegment target, SplittableRandom random) {
        long begin = THREADS.getCurrentThreadCpuTime();
        long size = rows.samples().size();
        BatchSampler drawn = BatchSampler.of(Sampler.withReplacement(size, size, random.nextLong()), BATCH,
                Shard.whole()).droppingLast();
        BatchPlan plan = new BatchPlan(BATCH);
        long batchBytes = target.byteSize() / RING;
        for (int batch = 0; batch < READER_BATCHES; batch++) {
            drawn.plan(batch, plan);
            rows.copyAll(plan, 0, target, batch % RING * batchBytes);
        }
        return (double) (THREADS.getCurrentThreadCpuTime() - begin) / READER_BATCHES / BATCH;
    }

    private static void readers(TensorStore npy, RecordStore arrow, int rounds) {
        Dataset first = TensorRows.of("row", npy);
        SplittableRandom random = new SplittableRandom(1);
        double[] ofNpy = new double[rounds];
        double[] ofArrow = new double[rounds];
        try (Arena arena = Arena.ofConfined();
                SampleReader npyRows = new SampleReader(first, ReadMode.MMAP);
                SampleReader arrowRows = new SampleReader(RecordFields.of(arrow).and("row"), ReadMode.MMAP)) {
            MemorySegment target = arena.allocate(first.fields().getFirst().byteSize() * BATCH * RING, 64);
            for (int round = -WARMUP; round < rounds; round++) {
                ofNpy[Math.max(round, 0)] = reader(npyRows, target, random);
                ofArrow[Math.max(round, 0)] = reader(arrowRows, target, random);
            }
        }
        Arrays.sort(ofNpy);
        Arrays.sort(ofArrow);
        System.out.printf(Locale.ROOT,
                "CPU ns a row: npy %.1f (best %.1f), arrow %.1f (best %.1f), speed %.3f (%.3f)%n",
                ofNpy[rounds / 2], ofNpy[0], ofArrow[rounds / 2], ofArrow[0], ofNpy[rounds / 2] / ofArrow[rounds / 2],
                ofNpy[0] / ofArrow[0]);
    }

    private static double round(DataLoader loader, long nanos) throws Exception {
        long begin = System.nanoTime();
        long rows = 0;
        while (System.nanoTime() - begin < nanos) {
            try (Batch batch = loader.next()) {
                rows += batch.count();
            }
        }
        return rows * 1e9 / (System.nanoTime() - begin);
    }
}
