// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.RecordFields;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.io.publish.DecodedCache;
import io.penstock.io.publish.DecodedCache.Spilling;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows in bounded memory are those of a copy on disk, however little memory there is and whoever else reads. */
class CachedColumnsTest {

    private static final int THREADS = 6;
    private static final int READS = Thorough.times("penstock.reads", 80, 600);

    @TempDir
    Path folder;

    /** 4,000 rows of two numbers, a text and lists in many pages, with and without an index of them. */
    private static Path pages(boolean isIndexed) {
        return Fixtures.resource("parquet").resolve(isIndexed ? "pages-indexed.parquet" : "pages.parquet");
    }

    private static ParquetStore cached(Path file, long bytes, Spilling spilling) throws IOException {
        Location location = Location.of(file);
        return ParquetStore.open(location, null, DecodeLimit.DEFAULT,
                new DecodedCache(location, location, bytes, spilling));
    }

    private static ParquetStore onDisk(Path file) throws IOException {
        return ParquetStore.open(Location.of(file), null, DecodeLimit.DEFAULT, null);
    }

    private static byte[] value(ParquetStore store, SpanReader reader, Span span, long row, int column) {
        if (!store.isPresent(row, column)) {
            return new byte[0];
        }
        store.locate(row, column, span);
        Span local = reader.local(span);
        byte[] bytes = new byte[(int) span.byteSize()];
        MemorySegment.copy(local.segment(), ValueLayout.JAVA_BYTE, local.byteOffset(), bytes, 0, bytes.length);
        return bytes;
    }

    private static byte[][][] values(ParquetStore store) {
        try (SpanReader reader = new SpanReader(ReadMode.AUTO)) {
            Span span = new Span();
            byte[][][] all = new byte[(int) store.size()][store.columns().size()][];
            for (int row = 0; row < all.length; row++) {
                for (int column = 0; column < all[row].length; column++) {
                    all[row][column] = value(store, reader, span, row, column);
                }
            }
            return all;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPageIsDecodedAloneWhetherAnIndexOrItsHeadersTellWhereItIs(boolean isIndexed) throws IOException {
        try (ParquetStore store = cached(pages(isIndexed), 1 << 20, Spilling.NEVER);
                SpanReader reader = new SpanReader(ReadMode.AUTO)) {
            byte[] _ = value(store, reader, new Span(), 3_999, 0);
            long decoded = store.cache().orElseThrow().decodedBytes();
            assertTrue(decoded < 4_000 * Long.BYTES / 2, decoded + " bytes");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 16 << 10, 64 << 10, 1 << 20})
    @Tag("slow")
    void threadsThatReadAtRandomGetTheRowsOfTheCopyOnDiskHoweverLittleIsKept(long bytes) throws Exception {
        for (boolean isIndexed : new boolean[] {false, true}) {
            byte[][][] expected;
            try (ParquetStore store = onDisk(pages(isIndexed))) {
                expected = values(store);
            }
            try (ParquetStore store = cached(pages(isIndexed), bytes, Spilling.NEVER)) {
                AtomicReference<Throwable> failed = new AtomicReference<>();
                List<Thread> threads = new ArrayList<>();
                for (int t = 0; t < THREADS; t++) {
                    int seed = t;
                    threads.add(Thread.ofPlatform().start(() -> readAtRandom(store, expected, seed, failed)));
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                assertEquals(null, failed.get());
                long resident = store.cache().orElseThrow().residentBytes();
                assertTrue(resident <= Math.max(bytes, THREADS * (256 << 10)), resident + " bytes");
            }
        }
    }

    private static void readAtRandom(ParquetStore store, byte[][][] expected, int seed,
            AtomicReference<Throwable> failed) {
        try (SpanReader reader = new SpanReader(ReadMode.AUTO); Arena arena = Arena.ofConfined()) {
            SplittableRandom random = new SplittableRandom(seed);
            Span span = new Span();
            MemorySegment gathered = arena.allocate(64 * Long.BYTES, Long.BYTES);
            long[] scratch = new long[16];
            for (int i = 0; i < READS; i++) {
                int row = random.nextInt(expected.length);
                int column = random.nextInt(expected[row].length);
                assertArrayEquals(expected[row][column], value(store, reader, span, row, column),
                        "row " + row + " column " + column);
                if (i % 10 == 0) {
                    long[] rows = random.longs(64, 0, expected.length).toArray();
                    if (store.gather(rows, 64, 0, Long.BYTES, gathered, 0, scratch)) {
                        for (int r = 0; r < 64; r++) {
                            assertArrayEquals(expected[(int) rows[r]][0], gathered.asSlice(8L * r, 8)
                                    .toArray(ValueLayout.JAVA_BYTE), "row " + rows[r]);
                        }
                    }
                }
            }
        } catch (Throwable t) {
            failed.compareAndSet(null, t);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {16 << 10, 1 << 20})
    void rowsThatAreGatheredAreThoseOfTheCopyOnDisk(long bytes) throws IOException {
        byte[][][] expected;
        try (ParquetStore store = onDisk(pages(true))) {
            expected = values(store);
        }
        try (ParquetStore store = cached(pages(true), bytes, Spilling.NEVER); Arena arena = Arena.ofConfined()) {
            SplittableRandom random = new SplittableRandom(1);
            MemorySegment gathered = arena.allocate(1_000 * Long.BYTES, Long.BYTES);
            for (int round = 0; round < 40; round++) {
                int first = random.nextInt(expected.length);
                int span = random.nextInt(1, expected.length - first + 1);
                int count = random.nextInt(1, 1_000);
                long[] rows = random.longs(count, first, first + span).toArray();
                assertTrue(store.gather(rows, count, 0, Long.BYTES, gathered, 0, new long[300]));
                for (int r = 0; r < count; r++) {
                    assertArrayEquals(expected[(int) rows[r]][0], gathered.asSlice(8L * r, 8)
                            .toArray(ValueLayout.JAVA_BYTE), "row " + rows[r]);
                }
            }
            assertTrue(!store.gather(new long[] {3, -1}, 2, 0, Long.BYTES, gathered, 0, new long[300]));
            assertTrue(!store.gather(new long[] {3, store.size()}, 2, 0, Long.BYTES, gathered, 0, new long[300]));
            assertTrue(!store.gather(new long[] {3, 4}, 2, 0, Integer.BYTES, gathered, 0, new long[300]));
        }
    }

    @Test
    void whatIsReadWithoutALoaderStaysEvenIfItIsMoreThanTheMemory() throws IOException {
        try (ParquetStore disk = onDisk(pages(true)); ParquetStore store = cached(pages(true), 32 << 10,
                Spilling.AUTO)) {
            byte[][][] expected = values(disk);
            List<MemorySegment> held = new ArrayList<>();
            Span span = new Span();
            for (long row = 0; row < store.size(); row++) {
                store.locate(row, 0, span);
                held.add(span.slice());
            }
            for (int row = 0; row < held.size(); row++) {
                assertArrayEquals(expected[row][0], held.get(row).toArray(ValueLayout.JAVA_BYTE), "row " + row);
            }
            assertTrue(store.cache().orElseThrow().residentBytes() <= 32 << 10);
            assertTrue(store.cache().orElseThrow().diskBytes() > 0);
        }
    }

    @Test
    void whatWouldBeDecodedAgainAndAgainIsWrittenToDiskUnlessThatIsForbidden() throws IOException {
        for (Spilling spilling : Spilling.values()) {
            try (ParquetStore store = cached(pages(true), 16 << 10, spilling);
                    SpanReader reader = new SpanReader(ReadMode.AUTO)) {
                SplittableRandom random = new SplittableRandom(1);
                for (int i = 0; i < 2_000; i++) {
                    byte[] _ = value(store, reader, new Span(), random.nextLong(store.size()), random.nextInt(2));
                }
                DecodedCache cache = store.cache().orElseThrow();
                assertEquals(spilling == Spilling.AUTO, cache.diskBytes() > 0);
                assertTrue(cache.residentBytes() <= 64 << 10, cache.residentBytes() + " bytes");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void aShuffledEpochIsTheSameWithAPlanAndLittleMemoryAsFromDisk(int workers) throws IOException {
        List<byte[]> expected;
        try (ParquetStore store = onDisk(pages(true))) {
            expected = epoch(store, workers);
        }
        try (ParquetStore store = cached(pages(true), 64 << 10, Spilling.NEVER)) {
            List<byte[]> found = epoch(store, workers);
            for (int batch = 0; batch < expected.size(); batch++) {
                assertArrayEquals(expected.get(batch), found.get(batch), "batch " + batch);
            }
        }
    }

    private static List<byte[]> epoch(ParquetStore store, int workers) {
        RecordFields fields = RecordFields.of(store);
        for (Column column : store.columns().subList(0, 2)) {
            fields = fields.and(column.name());
        }
        List<byte[]> batches = new ArrayList<>();
        try (DataLoader loader = DataLoader.builder(fields).batchSize(50).shuffle(3).workers(workers).endEpoch(2)
                .open()) {
            for (int i = 0; i < 2 * store.size() / 50; i++) {
                try (Batch batch = loader.next()) {
                    batches.add(batch.segment().toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
        return batches;
    }

    @Test
    void readingWhileOrAfterTheStoreIsClosedThrows() throws Exception {
        for (int round = 0; round < 20; round++) {
            ParquetStore store = cached(pages(true), 16 << 10, Spilling.NEVER);
            AtomicBoolean reads = new AtomicBoolean();
            AtomicReference<Throwable> ended = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                try (SpanReader spans = new SpanReader(ReadMode.AUTO)) {
                    for (long row = 0;; row = (row + 331) % store.size()) {
                        byte[] _ = value(store, spans, new Span(), row, 0);
                        reads.set(true);
                    }
                } catch (Throwable t) {
                    ended.set(t);
                }
            });
            while (!reads.get()) {
                Thread.onSpinWait();
            }
            store.close();
            reader.join();
            assertTrue(ended.get() instanceof IllegalStateException || ended.get() instanceof UncheckedIOException,
                    String.valueOf(ended.get()));
        }
    }

    @Test
    void aFileThatShrinksOrIsWrittenToIsNamedWhenAPageIsDecodedAgain() throws IOException {
        Path file = folder.resolve("cut.parquet");
        Files.copy(pages(true), file);
        try (ParquetStore store = cached(file, 1, Spilling.NEVER);
                SpanReader reader = new SpanReader(ReadMode.AUTO)) {
            byte[] _ = value(store, reader, new Span(), 0, 0);
            Files.write(file, new byte[100]);
            String message = assertThrows(UncheckedIOException.class, () -> {
                for (long row = 0; row < store.size(); row++) {
                    byte[] _ = value(store, reader, new Span(), row, 0);
                }
            }).getMessage();
            assertTrue(message.contains("cut.parquet") && message.contains("shrank"), message);
        }
    }
}
