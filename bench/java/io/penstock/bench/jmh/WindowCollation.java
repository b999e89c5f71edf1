// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.CausalLm;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.Span;
import io.penstock.store.TokenStore;
import java.io.IOException;
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
 * {@link CausalLm} beside the C loop that does the same: random windows of 1024+1 tokens from a store of 400 MB, 32 a
 * batch, at the store's width or as ids and labels. Figures are windows a second on one thread; the collator's share of
 * the loop's is what there is to read.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WindowCollation {
    private static final int LENGTH = 1024;
    private static final int BATCH_WINDOWS = 32;
    /** Enough that one downcall lasts milliseconds and its own cost vanishes. */
    private static final int BATCHES = 256;
    private static final int SAMPLES = BATCHES * BATCH_WINDOWS;

    /** {@code store}: the windows as they are; {@code i32}, {@code i64}: ids and labels. */
    @Param({"store", "i32", "i64"})
    String width;

    /** Batches of output in rotation: 1 stays in L2, 8 in L3, 256 in neither. */
    @Param({"1", "8", "256"})
    int ring;

    private TokenWidth tokenWidth;
    private TokenStore store;
    private CollationRing collation;
    private long tokens;

    /** Opens the store, and compares. */
    @Setup
    public void open() throws IOException {
        tokenWidth = TokenWidth.of(width);
        store = BenchStores.tokens();
        collation = new CollationRing(
                TokenWindows.of(store, LENGTH), tokenWidth.windows(), BATCH_WINDOWS, ring, LENGTH);
        Span all = new Span();
        store.locate(0, store.tokenCount(), all);
        tokens = all.segment().address() + all.byteOffset();
        long outTokens = tokenWidth == TokenWidth.STORE ? LENGTH + 1 : 2 * LENGTH;
        collation.check(this::loop, BATCH_WINDOWS * outTokens * tokenWidth.dtype(store.dtype()).byteSize());
    }

    @TearDown
    public void close() {
        collation.close();
        store.close();
    }

    private void loop(long order, long batches, long output, long buffers) {
        GatherLibrary.windows(tokenWidth, tokens, order, batches, BATCH_WINDOWS, LENGTH + 1, output, buffers);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void collator() {
        collation.collate(BATCHES);
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public void cLoop() {
        loop(collation.nextOrder(BATCHES), BATCHES, collation.address(), ring);
    }
}
