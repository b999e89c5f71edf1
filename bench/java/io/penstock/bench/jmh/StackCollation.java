// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.Stack;
import io.penstock.dataset.TensorRows;
import io.penstock.io.Rows;
import io.penstock.store.TensorStore;
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
 * {@link Stack} beside a memcpy a row in C: images {@code u8[3, side, side]} in random order, 64 a batch. Figures are
 * images a second on one thread. An image of side 64 is 12 KiB, one of side 224 is 147 KiB; a batch is 0.8 or 9.6 MB.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StackCollation {
    private static final int BATCH_IMAGES = 64;
    private static final int BATCHES = 8;
    private static final int SAMPLES = BATCHES * BATCH_IMAGES;

    /** Height and width. */
    @Param({"64", "224"})
    int side;

    /** Batches of output in rotation: at side 64, 1 stays in L2, 8 in L3 and 64 in neither; at side 224, 1 in L3. */
    @Param({"1", "8", "64"})
    int ring;

    private TensorStore store;
    private CollationRing collation;
    private long images;
    private long imageBytes;

    /** Opens the store, and compares. */
    @Setup
    public void open() throws IOException {
        store = BenchStores.images(side);
        TensorRows rows = TensorRows.of("image", store);
        collation = new CollationRing(rows, Stack.fields(), BATCH_IMAGES, ring, 1);
        Rows stored = rows.source(0).rows();
        images = stored.segment().address() + stored.offset(0);
        imageBytes = stored.rowBytes();
        collation.check(this::loop, BATCH_IMAGES * imageBytes);
    }

    @TearDown
    public void close() {
        collation.close();
        store.close();
    }

    private void loop(long order, long batches, long output, long buffers) {
        GatherLibrary.rows(images, order, batches, BATCH_IMAGES, imageBytes, output, buffers);
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
