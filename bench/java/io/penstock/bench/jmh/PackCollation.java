// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.TokenWidth;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
 * {@link PackedLm} beside a memcpy of as many bytes as it writes: sequences of 2048 tokens, packed best-fit from
 * documents, 8 a batch, with labels, positions, document ids, loss mask and cumulative lengths. Figures are sequences a
 * second on one thread. The memcpy reads more than the collator does, whose source is narrower; it is the limit of what
 * merely moves a batch like this.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PackCollation {
    private static final int CAPACITY = 2048;
    private static final int BATCH_SEQUENCES = 8;
    private static final int BATCHES = 64;
    private static final int SAMPLES = BATCHES * BATCH_SEQUENCES;

    /** Of ids and labels; at the store's width there are no labels. */
    @Param({"store", "i32", "i64"})
    String width;

    /** Batches of output in rotation: 1 stays in L2, 8 in L3, 256 in neither. */
    @Param({"1", "8", "256"})
    int ring;

    private final Arena arena = Arena.ofShared();
    private TokenStore store;
    private PackedSequences sequences;
    private CollationRing collation;
    private MemorySegment batch;
    private long batchBytes;

    /** Packs, and keeps a batch to be copied. */
    @Setup
    public void open() throws IOException {
        store = BenchStores.documents();
        sequences = Packing.of(Documents.of(store), CAPACITY).pack();
        collation = new CollationRing(sequences, TokenWidth.of(width).packed(), BATCH_SEQUENCES, ring, 1);
        collation.collate(1);
        batchBytes = collation.lastSlab().usedBytes();
        batch = arena.allocate(collation.slabBytes(), 4096);
        batch.copyFrom(collation.lastSlab().segment());
    }

    @TearDown
    public void close() {
        collation.close();
        sequences.close();
        store.close();
        arena.close();
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void collator() {
        collation.collate(BATCHES);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void memcpy() {
        for (int b = 0; b < BATCHES; b++) {
            GatherLibrary.copy(collation.address() + b % ring * collation.slabBytes(), batch.address(), batchBytes, 1);
        }
    }
}
