// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.state.LoaderState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a stream holds in memory, and how large its state is. */
class StreamMemoryTest {

    private static final int BATCH = 10;
    private static final int PREFETCH = 2;
    private static final int RECORD_BYTES = 8;
    /** What the workers may ask for beyond what the trainer has taken: batches that wait, and one that is made. */
    private static final int ASKED = BATCH * (PREFETCH + 2);

    private final AtomicLong given = new AtomicLong();
    private final AtomicLong kept = new AtomicLong();
    private final AtomicLong looks = new AtomicLong();
    /** Before which record a partition stands until the gate is open. */
    private long blocksAt = Long.MAX_VALUE;
    private final CountDownLatch gate = new CountDownLatch(1);
    /** How often a silent partition has nothing. */
    private final AtomicLong silentLooks = new AtomicLong(Long.MAX_VALUE);
    /** Whether records come one by one, with a look at nothing before each, and none until the gate is open. */
    private boolean isDripping;

    /** Numbers without an end in some partitions, the last of which may be silent. Counts what is asked of it. */
    private final class Endless implements StreamSource {

        private final List<String> partitions;
        private final boolean isLastSilent;
        private final long startsAt;

        Endless(int partitions, boolean isLastSilent, long startsAt) {
            this.partitions = IntStream.range(0, partitions).mapToObj("clicks-in-europe-%02d"::formatted).toList();
            this.isLastSilent = isLastSilent;
            this.startsAt = startsAt;
        }

        StreamDataset.Builder dataset() {
            return StreamDataset.builder(this).field("n", DType.I64, 1);
        }

        @Override
        public String fingerprint() {
            return "endless";
        }

        @Override
        public List<String> partitions() {
            return partitions;
        }

        @Override
        public PartitionReader open(int partition, String cursor) {
            boolean isSilent = isLastSilent && partition == partitions.size() - 1;
            return new PartitionReader() {
                private final RecordBuffer number = new RecordBuffer();
                private boolean isDry;
                private long next = cursor.isEmpty() ? startsAt : Long.parseLong(cursor);

                @Override
                public Found poll(RecordBuffer into) {
                    isDry = isDripping && (gate.getCount() > 0 || !isDry);
                    if (isSilent && silentLooks.getAndDecrement() > 0 || isDry) {
                        return Found.NOTHING_YET;
                    }
                    if (next == blocksAt) {
                        stand();
                    }
                    number.clear();
                    number.write(0, RECORD_BYTES).set(LittleEndian.I64, 0, next++);
                    number.add(RECORD_BYTES);
                    into.add(number.bytes(), 0, RECORD_BYTES);
                    given.incrementAndGet();
                    return Found.RECORD;
                }

                @Override
                public String cursor() {
                    return Long.toString(next);
                }

                @Override
                public void keep() {
                    kept.incrementAndGet();
                }

                @Override
                public Lag lag() {
                    looks.incrementAndGet();
                    return Lag.UNKNOWN;
                }

                @Override
                public void close() {
                    number.close();
                }
            };
        }
    }

    private void stand() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    private static DataLoader loader(StreamDataset stream) {
        return DataLoader.builder(stream).batchSize(BATCH).workers(1).prefetch(PREFETCH).open();
    }

    private static void take(DataLoader loader, int batches, AtomicInteger taken) {
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next()) {
                taken.addAndGet(batch.count());
            }
        }
    }

    /** The reader asks how far behind it is each second, so that a test sees it live through an hour. */
    @ParameterizedTest
    @CsvSource({"1, 100, true", "4, 100, true", "4, 100, false", "1, 8192, false"})
    void aTrainerThatStandsStillForAnHourHoldsTwoWindowsAndTheBatchesInFlight(int lanes, int window,
            boolean isShuffled) throws InterruptedException {
        var clock = new AtomicLong();
        var taken = new AtomicInteger();
        StreamDataset.Builder settings = new Endless(4, lanes == 1, 0).dataset().lanes(lanes).clock(clock::get)
                .live(Duration.ofSeconds(5));
        try (StreamDataset stream = (isShuffled ? settings.shuffle(3, window) : settings).open();
                DataLoader loader = loader(stream)) {
            Thread ticks = Thread.ofVirtual().start(() -> {
                while (!Thread.interrupted()) {
                    clock.addAndGet(1_000_000);
                    Thread.yield();
                }
            });
            take(loader, 3, taken);
            ticks.interrupt();
            ticks.join();
            long most = taken.get() + ASKED + 2L * lanes * (isShuffled ? window : 8192);
            for (int minute = 0; minute < 60; minute++) {
                long before = looks.get();
                clock.addAndGet(Duration.ofMinutes(1).toNanos());
                await(() -> looks.get() > before);
                assertTrue(given.get() <= most, given + " records, expected at most " + most);
            }
            take(loader, 50, taken);
            assertEquals(53 * BATCH, taken.get());
        }
    }

    @Test
    void readingAheadStopsAtTheByteLimitAndGoesOnWhenWindowsAreFree() {
        int window = 100;
        var taken = new AtomicInteger();
        try (StreamDataset stream = new Endless(1, false, 0).dataset().shuffle(3, window)
                .maxBytes(2L * window * RECORD_BYTES).open(); DataLoader loader = loader(stream)) {
            take(loader, 8, taken);
            // Readers are in the second window, and the first one is still held: the third one has room for a record.
            await(() -> given.get() > 2 * window);
            assertEquals(2 * window + 1, given.get());
            take(loader, 200, taken);
            assertEquals(2080, taken.get());
        }
    }

    @Test
    void whatALaneReadsAheadLeavesRoomForOneThatIsSilentForAWhile() throws Exception {
        var taken = new AtomicInteger();
        try (StreamDataset stream = new Endless(2, true, 0).dataset().lanes(2).maxBytes(400L * RECORD_BYTES).open();
                DataLoader loader = loader(stream)) {
            var taking = new FutureTask<>(() -> {
                take(loader, 20, taken);
                return null;
            });
            Thread.ofVirtual().start(taking);
            await(() -> stream.status().emptyNanos() > 0 || taking.isDone());
            silentLooks.set(40);                        // before each, the other lane takes a window
            taking.get();
            assertEquals(200, taken.get());
        }
    }

    @Test
    void aWindowThatIsNotShuffledEndsEarlyWhereTheByteLimitIs() {
        var taken = new AtomicInteger();
        try (StreamDataset stream = new Endless(1, false, 0).dataset().maxBytes(200L * RECORD_BYTES).open();
                DataLoader loader = loader(stream)) {
            take(loader, 300, taken);
            assertEquals(3000, taken.get());
        }
        try (StreamDataset stream = new Endless(1, false, 0).dataset().maxBytes(5L * RECORD_BYTES).open();
                DataLoader loader = loader(stream)) {
            var refused = assertThrows(RuntimeException.class, () -> take(loader, 1, taken));
            assertTrue(refused.getMessage().contains("expected at most 40"), refused.getMessage());
        }
    }

    @Test
    void theFirstBatchOfAStreamThatIsNotShuffledWaitsForFewRecords() {
        blocksAt = 300;
        try (StreamDataset stream = new Endless(1, false, 0).dataset().open(); DataLoader loader = loader(stream)) {
            take(loader, 20, new AtomicInteger());
            gate.countDown();
            take(loader, 20, new AtomicInteger());
        }
    }

    @Test
    void aPartitionKeepsItsRecordsOnceAWindow() {
        var source = new Endless(1, false, 0);
        try (StreamDataset stream = source.dataset().shuffle(3, 100).open(); DataLoader loader = loader(stream)) {
            take(loader, 100, new AtomicInteger());
        }
        assertTrue(kept.get() >= 10 && kept.get() <= given.get() / 100 + 1, kept + " of " + given + " records");
    }

    @Test
    void recordsThatComeOneByOneAreKeptOnceABatchAndNotOneByOne() throws Exception {
        isDripping = true;
        int batch = 1000;
        try (StreamDataset stream = new Endless(1, false, 0).dataset().open();
                DataLoader loader = DataLoader.builder(stream).batchSize(batch).workers(1).prefetch(PREFETCH).open()) {
            var first = new FutureTask<>(() -> {
                loader.next().close();
                return null;
            });
            Thread.ofVirtual().start(first);
            await(() -> stream.status().emptyNanos() > 0);      // a whole batch is asked for
            gate.countDown();
            first.get();
            assertTrue(kept.get() < batch / 10, kept + " times");
        }
    }

    /** 64 bytes a partition and 200, beside the two fingerprints, of which one names the records and the fields. */
    @ParameterizedTest
    @ValueSource(ints = {1, 64})
    void aStateIsSmall(int lanes) {
        var source = new Endless(64, false, 9_000_000_000L);
        try (StreamDataset stream = source.dataset().shuffle(42, 50).lanes(lanes).open();
                DataLoader loader = DataLoader.builder(stream).batchSize(640).workers(0).open()) {
            for (int i = 0; i < 3; i++) {
                loader.next().close();
            }
            LoaderState state = loader.state();
            assertEquals(64, state.lanes().stream().mapToInt(lane -> lane.cursors().size()).sum());
            int fingerprints = state.sampler().length() + state.dataset().length();
            int bytes = state.toJson().length();
            assertTrue(fingerprints < 200 && bytes <= 64 * 64 + 200 + fingerprints,
                    bytes + " bytes: " + state.toJson());
        }
    }
}
