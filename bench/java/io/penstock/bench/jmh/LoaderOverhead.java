// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.Stack;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a batch costs beside its bytes: samples of 8 bytes that lie in L1, so that the loader has nothing to do but its
 * own business. Figures are nanoseconds a batch, from one {@code next()} to the following one, lease and return
 * included; {@code -prof gc} shows what a batch leaves on the heap.
 *
 * <p>Beside it {@code planAndCollate}, the same batches made by the caller without a loader: what the worker does for
 * each. The difference is hand-over, lease and clocks.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LoaderOverhead {
    private static final int BATCHES = 1000;

    /** Samples a batch. */
    @Param({"1", "64"})
    int batch;

    /** An open loader. */
    @State(Scope.Benchmark)
    public static class Loader {
        /** Threads that collate; 0 is the trainer's own. */
        @Param({"0", "1", "2"})
        int workers;

        private DataLoader loader;

        @Setup
        public void open(LoaderOverhead of) {
            loader = DataLoader.builder(new TinyRows()).batchSize(of.batch).shuffle(1).collator(Stack.fields())
                    .workers(workers).open();
        }

        @TearDown
        public void close() {
            loader.close();
        }
    }

    /** The parts of a worker, in the caller's hands. */
    @State(Scope.Benchmark)
    public static class Parts {
        private final Arena arena = Arena.ofShared();
        private final Stack collator = Stack.fields();
        private BatchSampler batches;
        private SampleReader reader;
        private BatchPlan plan;
        private Slab slab;
        private long number;

        @Setup
        public void open(LoaderOverhead of) {
            TinyRows rows = new TinyRows();
            batches = BatchSampler.of(Sampler.shuffled(rows.size(), 1), of.batch, new Shard(0, 1, TailPolicy.PAD));
            reader = new SampleReader(rows, ReadMode.AUTO);
            plan = new BatchPlan(of.batch);
            SlabLayout layout = collator.layout(rows, of.batch);
            slab = new Slab(layout, arena.allocate(layout.capacityBytes(), SlabLayout.ALIGNMENT_BYTES));
        }

        @TearDown
        public void close() {
            reader.close();
            arena.close();
        }

        private void make() {
            batches.plan(number++, plan);
            collator.collate(reader, plan, slab);
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long loader(Loader with) {
        long samples = 0;
        for (int i = 0; i < BATCHES; i++) {
            try (Batch next = with.loader.next()) {
                samples += next.valid();
            }
        }
        return samples;
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long planAndCollate(Parts parts) {
        for (int i = 0; i < BATCHES; i++) {
            parts.make();
        }
        return parts.number;
    }
}
