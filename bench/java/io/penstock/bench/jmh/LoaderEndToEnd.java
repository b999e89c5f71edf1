// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.TokenWidth;
import io.penstock.dataset.TokenWindows;
import io.penstock.io.Span;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
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
 * The loader with all its stages on the host: random windows of 1024+1 tokens, planned, collated by workers, handed
 * over, leased and given back by a trainer who does nothing else. Figures are windows a second.
 *
 * <p>Beside it a C loop that gathers the same batches on one thread, in an order that it was given: no planning, no
 * hand-over. With one worker the loader uses a second thread, but that one only takes batches: compare those two. With
 * two workers on two processors the trainer's thread takes time from them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 3, jvmArgsAppend = JvmFlags.NATIVE_ACCESS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LoaderEndToEnd {
    private static final int LENGTH = 1024;
    private static final int SAMPLES = 8192;
    private static final int RING = 8;

    /** {@code store}: the windows as they are; {@code i64}: ids and labels. */
    @Param({"store", "i64"})
    String width;

    /** Windows a batch. One of i64 is 128 KiB to 8 MiB. */
    @Param({"8", "32", "128", "512"})
    int batch;

    private TokenStore store;

    /** Opens the store. */
    @Setup
    public void open() throws IOException {
        store = BenchStores.tokens();
    }

    @TearDown
    public void close() {
        store.close();
    }

    /** An open loader. */
    @State(Scope.Benchmark)
    public static class Loader {
        /** Threads that collate; 0 is the trainer's own. */
        @Param({"0", "1", "2"})
        int workers;

        private DataLoader loader;

        @Setup
        public void open(LoaderEndToEnd of) {
            loader = DataLoader.builder(TokenWindows.of(of.store, LENGTH)).batchSize(of.batch).dropLast().shuffle(1)
                    .collator(TokenWidth.of(of.width).windows()).workers(workers).open();
        }

        @TearDown
        public void close() {
            loader.close();
        }
    }

    /** The C loop's order and output. */
    @State(Scope.Benchmark)
    public static class Limit {
        private CollationRing ring;

        @Setup
        public void open(LoaderEndToEnd of) {
            ring = new CollationRing(TokenWindows.of(of.store, LENGTH), TokenWidth.of(of.width).windows(),
                    of.batch, RING, LENGTH);
        }

        @TearDown
        public void close() {
            ring.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long loader(Loader with) {
        long samples = 0;
        for (int taken = 0; taken < SAMPLES; taken += batch) {
            try (Batch next = with.loader.next()) {
                samples += next.valid();
            }
        }
        return samples;
    }

    @Benchmark
    @OperationsPerInvocation(SAMPLES)
    public long cLoop(Limit limit) {
        int batches = SAMPLES / batch;
        return GatherLibrary.windows(TokenWidth.of(width), firstToken(), limit.ring.nextOrder(batches), batches, batch,
                LENGTH + 1, limit.ring.address(), RING);
    }

    private long firstToken() {
        Span all = new Span();
        store.locate(0, store.tokenCount(), all);
        return all.segment().address() + all.byteOffset();
    }
}
