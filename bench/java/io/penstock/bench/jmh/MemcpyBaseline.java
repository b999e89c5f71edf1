// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.TokenWidth;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.util.SplittableRandom;
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
 * The limits of one core beside plain Java: random windows of 1024+1 tokens gathered into batches of 32, by the C loops
 * of {@code bench/native/gather.c} through downcalls, and by the JDK's own copy. Figures are windows a second.
 * {@link WindowCollation} has the engine's collators beside the same loops.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MemcpyBaseline {
    static final int WINDOW_TOKENS = 1025;
    static final int BATCH_WINDOWS = 32;
    /** Enough that one downcall lasts milliseconds and its own cost vanishes. */
    static final int BATCHES = 256;

    private static final int SAMPLES = BATCHES * BATCH_WINDOWS;
    private static final long TOKEN_BYTES = ValueLayout.JAVA_SHORT.byteSize();
    private static final long WINDOW_BYTES = WINDOW_TOKENS * TOKEN_BYTES;

    /** Output buffers in rotation: 1 stays in L2, 8 in L3, 256 in neither. */
    @Param({"1", "8", "256"})
    int ring;

    private final Arena arena = Arena.ofShared();
    private MemorySegment store;
    /** Where each window of an epoch starts, in random order. */
    private MemorySegment starts;
    private long epochSamples;
    private long position;
    private MemorySegment output;

    @Setup(Level.Trial)
    public void open() throws IOException {
        try (FileChannel file = FileChannel.open(BenchStores.file("tokens.bin"))) {
            store = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
        }
        store.load();
        long stride = WINDOW_TOKENS - 1;
        long windows = (store.byteSize() / TOKEN_BYTES - 1) / stride;
        epochSamples = windows / SAMPLES * SAMPLES;
        SplittableRandom random = new SplittableRandom(0);
        starts = arena.allocate(ValueLayout.JAVA_LONG, epochSamples);
        for (long i = 0; i < epochSamples; i++) {
            starts.setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong(windows) * stride);
        }
        long widestBatchBytes = 2L * BATCH_WINDOWS * stride * Long.BYTES;
        output = arena.allocate(ring * widestBatchBytes, 4096);
        output.fill((byte) 0);
    }

    @TearDown(Level.Trial)
    public void close() {
        arena.close();
    }

    /** The starts of the next windows; over a whole epoch the source comes from memory, not from cache. */
    private MemorySegment nextStarts() {
        MemorySegment next = starts.asSlice(position * Long.BYTES, (long) SAMPLES * Long.BYTES);
        position = (position + SAMPLES) % epochSamples;
        return next;
    }

    private long gather(TokenWidth width) {
        return GatherLibrary.windows(width, store.address(), nextStarts().address(), BATCHES, BATCH_WINDOWS,
                WINDOW_TOKENS, output.address(), ring);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long cNarrow() {
        return gather(TokenWidth.STORE);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long cI32() {
        return gather(TokenWidth.I32);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long cI64() {
        return gather(TokenWidth.I64);
    }

    /** The same windows by {@link MemorySegment#copy}, to tell the JDK's part from the engine's. */
    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void javaNarrow() {
        MemorySegment from = nextStarts();
        long ringBytes = ring * BATCH_WINDOWS * WINDOW_BYTES;
        long to = 0;
        for (int i = 0; i < SAMPLES; i++) {
            long start = from.getAtIndex(ValueLayout.JAVA_LONG, i);
            MemorySegment.copy(store, start * TOKEN_BYTES, output, to, WINDOW_BYTES);
            to = to + WINDOW_BYTES == ringBytes ? 0 : to + WINDOW_BYTES;
        }
    }

    /** The same widening as {@link #cI64} by a plain loop over segments, as the compiler leaves it. */
    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void javaI64() {
        MemorySegment from = nextStarts();
        long length = WINDOW_TOKENS - 1;
        long field = BATCH_WINDOWS * length;
        for (int b = 0; b < BATCHES; b++) {
            long batch = b % ring * 2L * field;
            for (int w = 0; w < BATCH_WINDOWS; w++) {
                long start = from.getAtIndex(ValueLayout.JAVA_LONG, (long) b * BATCH_WINDOWS + w);
                long ids = batch + w * length;
                widen(store, start, output, ids, length);
                widen(store, start + 1, output, ids + field, length);
            }
        }
    }

    private static void widen(MemorySegment from, long fromToken, MemorySegment to, long toToken, long length) {
        for (long i = 0; i < length; i++) {
            int token = Short.toUnsignedInt(from.getAtIndex(ValueLayout.JAVA_SHORT, fromToken + i));
            to.setAtIndex(ValueLayout.JAVA_LONG, toToken + i, token);
        }
    }
}
