package io.penstock.bench;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.SampleReader;
import io.penstock.dataset.TensorRows;
import io.penstock.memory.ReadMode;
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
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * Random rows of one array, in batches of 64 as a loader's worker collates them, from a {@code .npy}, from a HDF5
 * dataset in one piece, and from one in chunks that has been decoded. Figures are rows a second.
 *
 * <p>{@code bench/peers/hdf5_rows.py} writes the files and measures h5py; {@code -Dpenstock.bench.dir} names another
 * folder.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RandomRows {
    private static final int BATCH = 64;
    private static final int BATCHES = 256;
    private static final Path DIRECTORY = Path.of(System.getProperty("penstock.bench.dir", "target/bench"));

    /** Where the rows are: a file, and the dataset in it. */
    @Param({"rows.npy", "rows.h5:/contiguous", "rows.h5:/gzip"})
    public String source;

    private final BatchPlan plan = new BatchPlan(BATCH);
    private final Collator stack = new Stack();
    private Arena arena;
    private TensorStore store;
    private SampleReader reader;
    private BatchSampler batches;
    private Slab slab;
    private long next;

    @Setup(Level.Trial)
    public void open() throws IOException {
        String[] parts = source.split(":");
        store = TensorStore.open(DIRECTORY.resolve(parts[0]),
                OpenOptions.DEFAULT.withMember(parts.length > 1 ? parts[1] : null));
        store.tensor(0);
        TensorRows rows = TensorRows.of("rows", store);
        reader = new SampleReader(rows, ReadMode.MMAP);
        batches = BatchSampler.of(Sampler.shuffled(rows.size(), 1), BATCH, new Shard(0, 1, TailPolicy.PAD), true);
        SlabLayout layout = stack.layout(rows, BATCH);
        arena = Arena.ofShared();
        slab = new Slab(layout, arena.allocate(layout.capacityBytes(), 256));
    }

    @TearDown(Level.Trial)
    public void close() {
        reader.close();
        store.close();
        arena.close();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH * BATCHES)
    public Slab collate() {
        for (int i = 0; i < BATCHES; i++) {
            batches.plan(next++, plan);
            stack.collate(reader, plan, slab);
        }
        return slab;
    }
}
