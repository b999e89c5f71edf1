// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Mixture;
import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
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
 * From a position to a sample, one position at a time in a random order, and 32 at a time as a batch's plan takes them;
 * saving a state, and restoring one far into an epoch. {@code sequential} is what the frame costs; what a shuffled
 * order replaces is beside it in {@link PermutationLookup}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class OrderBench {

    private static final int POSITIONS = 1 << 12;
    private static final int BATCH = 32;
    private static final long HUGE = 1_000_000_000_000L;
    private static final int LISTED = 1_000_000;

    /** The sampler. */
    @Param({"sequential", "shuffled", "shuffled-huge", "mixture-8", "mixture-8-chance", "blocks", "weighted",
        "stratified", "balanced"})
    private String sampler;

    private Order order;
    private BatchSampler batches;
    private LoaderState state;
    private final BatchPlan plan = new BatchPlan(BATCH);
    private final long[] positions = new long[POSITIONS];
    private long batch;
    private Path file;

    /** Makes it. */
    @Setup
    public void open() throws IOException {
        Sampler made = make();
        order = made.epoch(1);
        batches = BatchSampler.of(made, BATCH, new Shard(3, 8, TailPolicy.EXACT));
        state = LoaderState.after(batches, batches.batchesInEpoch(0) / 10);
        var random = new SplittableRandom(1);
        for (int i = 0; i < POSITIONS; i++) {
            positions[i] = random.nextLong(made.size());
        }
        file = Files.createTempFile("state", ".json");
    }

    /** Leaves nothing behind. */
    @TearDown
    public void close() throws IOException {
        Files.deleteIfExists(file);
    }

    private Sampler make() {
        return switch (sampler) {
            case "sequential" -> Sampler.sequential(HUGE);
            case "shuffled" -> Sampler.shuffled(LISTED, 1);
            case "shuffled-huge" -> Sampler.shuffled(HUGE, 1);
            case "mixture-8" -> mixture();
            case "mixture-8-chance" -> mixture().byChance(5);
            case "blocks" -> Sampler.blockShuffled(starts(), 100_000, 1);
            case "weighted" -> Sampler.weighted(weights(), LISTED, 1);
            case "stratified" -> Sampler.stratified(classes(), 1);
            default -> Sampler.balanced(classes(), LISTED, 1);
        };
    }

    private static Mixture mixture() {
        Mixture.Source[] sources = new Mixture.Source[8];
        for (int s = 0; s < 8; s++) {
            sources[s] = new Mixture.Source(Sampler.shuffled(HUGE / (s + 1), s), 1 + 0.37 * s);
        }
        return Mixture.of(HUGE, sources);
    }

    private static long[] starts() {
        long[] starts = new long[1001];
        for (int b = 0; b < starts.length; b++) {
            starts[b] = 1000L * b;
        }
        return starts;
    }

    private static double[] weights() {
        double[] weights = new double[LISTED];
        for (int i = 0; i < LISTED; i++) {
            weights[i] = 1 + i % 100;
        }
        return weights;
    }

    private static int[] classes() {
        int[] classes = new int[LISTED];
        for (int i = 0; i < LISTED; i++) {
            classes[i] = i % 1000;
        }
        return classes;
    }

    /** One position at a time. */
    @Benchmark
    @OperationsPerInvocation(POSITIONS)
    public long at() {
        long sum = 0;
        for (long position : positions) {
            sum += order.at(position);
        }
        return sum;
    }

    /** A batch's plan, by the sample. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long plan() {
        batches.plan(batch++ % 10_000, plan);
        return plan.sample(plan.count() - 1);
    }

    /** Saving a state, a tenth into the epoch: text, file, rename. */
    @Benchmark
    public LoaderState save() throws IOException {
        state.write(file);
        return state;
    }

    /** Going on where a state says, up to the first batch's plan. */
    @Benchmark
    public long restore() {
        state.resume(batches).plan(0, plan);
        return plan.sample(0);
    }
}
