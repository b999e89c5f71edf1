// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.dataset.Documents;
import io.penstock.dataset.source.FieldSource;
import io.penstock.io.Span;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
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
 * Finding a sample's bytes, in random order: a run of tokens, a document, a tensor's row, a record's value. No byte of
 * the sample is read, but those of an index are. Figures are nanoseconds a sample.
 *
 * <p>Beside them the least that a checked look-up can be, a bounds check and a multiplication ({@code arithmetic}), and
 * what the JDK has for it, a segment object a slice ({@code asSlice}).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StoreSlices {
    private static final int LOOKUPS = 1 << 12;
    private static final int WINDOW_TOKENS = 1025;
    private static final int SIDE = 64;

    /** Of how many samples at a store's beginning, at most: their index entries stay in L1, or come from L3. */
    @Param({"1000", "1000000"})
    int samples;

    private final Span span = new Span();
    private final long[] draws = new long[LOOKUPS];
    private TokenStore tokens;
    private TokenStore documentStore;
    private Documents documents;
    private FieldSource.Place places;
    private TensorStore images;
    private RecordStore records;
    private MemorySegment all;
    /** Keeps what was sliced alive. */
    MemorySegment slice;

    @Setup
    public void open() throws IOException {
        tokens = BenchStores.tokens();
        documentStore = BenchStores.documents();
        documents = Documents.of(documentStore);
        places = ((FieldSource.Stored) documents.source(0)).place();
        images = BenchStores.images(SIDE);
        records = BenchStores.records();
        tokens.locate(0, tokens.tokenCount(), span);
        all = span.segment();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < LOOKUPS; i++) {
            draws[i] = random.nextLong(1L << 40);
        }
    }

    @TearDown
    public void close() {
        records.close();
        images.close();
        documentStore.close();
        tokens.close();
    }

    /** How many of a store's samples are looked up, a power of two so that a draw costs a mask. */
    private long mask(long size) {
        return Long.highestOneBit(Math.min(samples, size)) - 1;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public long tokenWindow() {
        long mask = mask(tokens.tokenCount() / WINDOW_TOKENS);
        long sum = 0;
        for (long draw : draws) {
            tokens.locate((draw & mask) * WINDOW_TOKENS, WINDOW_TOKENS, span);
            sum += span.byteOffset();
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public long document() {
        long mask = mask(documents.size());
        long sum = 0;
        for (long draw : draws) {
            places.locate(draw & mask, span);
            sum += span.byteOffset();
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public long tensorRow() {
        long mask = mask(20_000);
        long sum = 0;
        for (long draw : draws) {
            images.locate(0, draw & mask, 1, span);
            sum += span.byteOffset();
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public long record() {
        long mask = mask(records.size());
        long sum = 0;
        for (long draw : draws) {
            records.locate(draw & mask, 0, span);
            sum += span.byteOffset();
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public long arithmetic() {
        long mask = mask(tokens.tokenCount() / WINDOW_TOKENS);
        long last = all.byteSize() - WINDOW_TOKENS * 2L;
        long sum = 0;
        for (long draw : draws) {
            sum += Objects.checkIndex((draw & mask) * WINDOW_TOKENS * 2, last);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(LOOKUPS)
    public void asSlice() {
        long mask = mask(tokens.tokenCount() / WINDOW_TOKENS);
        for (long draw : draws) {
            slice = all.asSlice((draw & mask) * WINDOW_TOKENS * 2, WINDOW_TOKENS * 2L);
        }
    }
}
