// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.Pad;
import io.penstock.collate.TokenWidth;
import io.penstock.dataset.Documents;
import io.penstock.io.Span;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
 * {@link Pad} beside the C loop that does the same: documents of 16 to 2048 tokens, 293 in the mean, in random order,
 * 32 a batch, padded to the longest, with mask and lengths. Figures are documents a second on one thread.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PadCollation {
    private static final int BATCH_DOCUMENTS = 32;
    private static final int BATCHES = 256;
    private static final int SAMPLES = BATCHES * BATCH_DOCUMENTS;
    private static final int PAD_VALUE = 7;

    /** Of the ids. */
    @Param({"store", "i32", "i64"})
    String width;

    /** Batches of output in rotation: 1 stays in L2, 8 in L3, 256 in neither. */
    @Param({"1", "8", "256"})
    int ring;

    private final Arena arena = Arena.ofShared();
    private TokenWidth tokenWidth;
    private TokenStore store;
    private CollationRing collation;
    private long tokens;
    private MemorySegment starts;

    /** Opens the store, and compares. */
    @Setup
    public void open() throws IOException {
        tokenWidth = TokenWidth.of(width);
        store = BenchStores.documents();
        collation = new CollationRing(
                Documents.of(store), tokenWidth.padded(PAD_VALUE), BATCH_DOCUMENTS, ring, 1);
        Span all = new Span();
        store.locate(0, store.tokenCount(), all);
        tokens = all.segment().address() + all.byteOffset();
        starts = arena.allocate(ValueLayout.JAVA_LONG, store.documentCount() + 1);
        for (long d = 0; d <= store.documentCount(); d++) {
            starts.setAtIndex(ValueLayout.JAVA_LONG, d, store.documentStart(d));
        }
        collation.check(this::loop, collation.slabBytes());
    }

    @TearDown
    public void close() {
        collation.close();
        store.close();
        arena.close();
    }

    private void loop(long order, long batches, long output, long buffers) {
        GatherLibrary.padded(tokenWidth, tokens, starts.address(), order, batches, BATCH_DOCUMENTS, PAD_VALUE, output,
                buffers, collation.slabBytes());
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
