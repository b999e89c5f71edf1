// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.diagnose.metrics.Metric;
import io.penstock.diagnose.metrics.Metrics;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.BatchAccount;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Why readers of a stream wait, and how far it is behind. */
class StreamStatusTest {

    @TempDir
    private Path folder;

    private static void awaitMore(LongSupplier nanos) {
        while (nanos.getAsLong() == 0) {
            Thread.yield();
        }
    }

    private static FutureTask<?> taking(DataLoader loader) {
        var next = new FutureTask<>(() -> {
            loader.next().close();
            return null;
        });
        Thread.ofVirtual().start(next);
        return next;
    }

    private static BatchAccount last(DataLoader loader) {
        return loader.accounts().orElseThrow().since(0).getLast();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aWaitForASourceThatHasNothingIsTold(int workers) throws Exception {
        var source = new NumberSource(8).endless();
        try (StreamDataset stream = source.dataset().open();
                DataLoader loader = DataLoader.builder(stream).batchSize(4).workers(workers).open()) {
            loader.next().close();
            loader.next().close();
            FutureTask<?> third = taking(loader);
            awaitMore(() -> stream.status().emptyNanos());
            source.grow(0, 16);
            third.get();
            assertTrue(last(loader).making().sourceEmptyNanos() > 0, last(loader).toString());
            assertTrue(loader.report().sourceEmptyNanos() > 0, loader.report().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aWaitForASourceThatIsSlowIsTold(int workers) throws Exception {
        var gate = new CountDownLatch(1);
        StreamSource source = StreamSource.of("slow", first -> LongStream.range(first, 100).peek(n -> {
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }).mapToObj(n -> MemorySegment.ofArray(new long[] {n, n})).iterator());
        try (StreamDataset stream = StreamDataset.builder(source).field("id", DType.I64, 2).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(4).workers(workers).open()) {
            FutureTask<?> first = taking(loader);
            awaitMore(() -> stream.status().slowNanos());
            gate.countDown();
            first.get();
            assertTrue(last(loader).making().sourceSlowNanos() > 0, last(loader).toString());
            assertEquals(0, stream.status().emptyNanos());
        }
    }

    @Test
    void whatARunThatResumesReadsAgainIsCounted() {
        LoaderState state;
        var source = NumberSource.of(2, 100);
        try (StreamDataset stream = source.dataset().shuffle(1, 32).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(0).open()) {
            assertEquals(0, stream.status().rereadRecords());
            for (int i = 0; i < 4; i++) {
                loader.next().close();
            }
            state = loader.state();
        }
        try (StreamDataset stream = source.dataset().shuffle(1, 32).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(10).workers(0).resume(state).open()) {
            assertEquals(8, stream.status().rereadRecords());
            loader.next().close();
        }
    }

    @Test
    void howOftenASourceNamesItsPartitionsDoesNotGrowWithTheirNumber() {
        List<Integer> named = new ArrayList<>();
        for (int partitions : new int[] {40, 400}) {
            var source = NumberSource.of(partitions, 2);
            try (StreamDataset stream = source.dataset().lanes(2).open();
                    DataLoader loader = DataLoader.builder(stream).batchSize(8).workers(0).open()) {
                loader.next().close();
                assertEquals(partitions, stream.status().partitions().size());
            }
            named.add(source.named.get());
        }
        assertEquals(named.getFirst(), named.getLast());
    }

    @Test
    void theLagOfAFileIsTheBytesBehindAndMetricsHaveIt() throws Exception {
        Path file = Files.writeString(folder.resolve("feed.txt"), "one\ntwo\n");
        try (StreamDataset stream = StreamDataset.builder(LineSource.growing(file)).field("line").open();
                DataLoader loader = DataLoader.builder(stream).batchSize(2).workers(0).collator(StackAndPad.cutTo(8))
                        .open()) {
            assertEquals(Map.of("feed.txt", new PartitionReader.Lag(8, -1, 0)),
                    stream.status().partitions());
            Metric lag = Metrics.of("train", stream::status).all().stream()
                    .filter(metric -> metric.name().equals("stream_lag")).findFirst().orElseThrow();
            assertEquals("feed.txt", lag.labels().get("partition"));
            assertEquals(8, lag.value().getAsDouble());
            loader.next().close();
        }
    }
}
