// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.Stack;
import io.penstock.dataset.TensorRows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.store.OpenOptions;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Random rows of one array, in batches of 64 as a loader's worker collates them, from a {@code .npy}, from a HDF5
 * dataset in one piece, and from one in chunks that has been decoded: by turns, in one process. Rates are by the CPU
 * time of the thread, which other processes disturb less, and by the clock.
 *
 * <p>{@code bench/peers/hdf5_rows.py} writes the files and measures h5py.
 */
public final class RandomRows implements AutoCloseable {
    private static final int BATCH = 64;
    private static final int BATCHES_A_ROUND = 3000;
    private static final int WARMUP_ROUNDS = 5;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final String name;
    private final TensorStore store;
    private final SampleReader reader;
    private final BatchSampler batches;
    private final Arena arena = Arena.ofConfined();
    private final Slab slab;
    private final Stack stack = Stack.fields();
    private final BatchPlan plan = new BatchPlan(BATCH);
    private final double[] byCpu;
    private final double[] byClock;
    private long next;

    private RandomRows(Path file, String member, int rounds) throws IOException {
        name = file.getFileName() + (member == null ? "" : " " + member);
        store = TensorStore.open(file, OpenOptions.DEFAULT.withMember(member));
        store.tensor(0);
        TensorRows rows = TensorRows.of("rows", store);
        reader = new SampleReader(rows, ReadMode.MMAP);
        batches = BatchSampler.of(Sampler.shuffled(rows.size(), 1), BATCH, new Shard(0, 1, TailPolicy.PAD))
                .droppingLast();
        SlabLayout layout = stack.layout(rows, BATCH);
        slab = new Slab(layout, arena.allocate(layout.capacityBytes(), 256));
        byCpu = new double[rounds];
        byClock = new double[rounds];
    }

    /** Takes the folder of the files, and the number of rounds. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        try (var npy = new RandomRows(folder.resolve("rows.npy"), null, rounds);
                var piece = new RandomRows(folder.resolve("rows.h5"), "/contiguous", rounds);
                var chunks = new RandomRows(folder.resolve("rows.h5"), "/gzip", rounds)) {
            for (int round = -WARMUP_ROUNDS; round < rounds; round++) {
                for (RandomRows side : List.of(npy, piece, chunks)) {
                    side.round(round);
                }
            }
            for (RandomRows side : List.of(npy, piece, chunks)) {
                System.out.println(side.summary(npy));
            }
        }
    }

    private void round(int round) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        long clock = System.nanoTime();
        for (int i = 0; i < BATCHES_A_ROUND; i++) {
            batches.plan(next++, plan);
            stack.collate(reader, plan, slab);
        }
        if (round >= 0) {
            byCpu[round] = BATCHES_A_ROUND * BATCH * 1e9 / (THREADS.getCurrentThreadCpuTime() - cpu);
            byClock[round] = BATCHES_A_ROUND * BATCH * 1e9 / (System.nanoTime() - clock);
        }
    }

    private String summary(RandomRows baseline) {
        double[] sorted = byCpu.clone();
        Arrays.sort(sorted);
        return String.format(Locale.ROOT, "%s: %.0f rows a CPU second (%.0f to %.0f), %.2f of %s; %.0f rows/s", name,
                median(byCpu), sorted[0], sorted[sorted.length - 1], median(byCpu) / median(baseline.byCpu),
                baseline.name, median(byClock));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    @Override
    public void close() {
        reader.close();
        arena.close();
        store.close();
    }
}
