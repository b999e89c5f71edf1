// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Rows by their index, files of one table, and what a store says of its columns. */
class ParquetStoreTest {

    private static final long SEED = Long.getLong("penstock.fuzz.seed", 20261121);
    private static final int MUTATIONS = Thorough.times("penstock.fuzz.mutations", 15, 60);
    private static final int ROWS = 160;

    @TempDir
    private Path folder;

    private static Path fixture(String name) {
        return Fixtures.resource("parquet").resolve(name);
    }

    private static int column(RecordStore store, String name) {
        return IntStream.range(0, store.columns().size()).filter(c -> store.columns().get(c).name().equals(name))
                .findFirst().orElseThrow();
    }

    @Test
    void columnsSayWhatTheirValuesAre() throws IOException {
        try (RecordStore store = RecordStore.open(fixture("zstd-v1.parquet"));
                RecordStore fixed = RecordStore.open(fixture("fixed-lists.parquet"))) {
            assertEquals(ROWS, store.size());
            assertEquals(Column.numbers("u16", DType.U16), store.columns().get(column(store, "u16")));
            assertEquals(Column.numbers("flag", DType.BOOL), store.columns().get(column(store, "flag")));
            assertEquals(Column.numbers("f16", DType.F16), store.columns().get(column(store, "f16")));
            assertEquals(Column.text("text", ""), store.columns().get(column(store, "text")));
            assertEquals(Column.bytes("image.bytes", ""), store.columns().get(column(store, "image.bytes")));
            assertEquals(Column.numbers("tokens", DType.U16, TensorSpec.VARIABLE),
                    store.columns().get(column(store, "tokens")));
            assertEquals(Column.numbers("image.size.rois", DType.I32, TensorSpec.VARIABLE),
                    store.columns().get(column(store, "image.size.rois")));
            Column hash = store.columns().get(column(store, "hash"));
            assertEquals(new TensorSpec("hash", DType.U8, 5), hash.spec());
            assertEquals(Column.Kind.BYTES, hash.kind());
            assertEquals(Column.numbers("all", DType.F32, 3), fixed.columns().getFirst());
            assertEquals(3, fixed.maxLength(0));
            assertEquals(-1, store.maxLength(column(store, "tokens")));
            assertTrue(store.isConverted(0));
        }
    }

    @Test
    void rowsAreFoundInAnyOrderByAnyThread() throws IOException {
        try (RecordStore store = RecordStore.open(fixture("snappy-v1.parquet"));
                RecordStore once = RecordStore.open(fixture("snappy-v1.parquet"))) {
            List<List<byte[]>> expected = new ArrayList<>();
            for (int row = 0; row < ROWS; row++) {
                expected.add(values(once, row));
            }
            List<Integer> order = new ArrayList<>(IntStream.range(0, 4 * ROWS).map(i -> i % ROWS).boxed().toList());
            java.util.Collections.shuffle(order, new java.util.Random(SEED));
            order.parallelStream().forEach(row -> {
                List<byte[]> found = values(store, row);
                for (int c = 0; c < found.size(); c++) {
                    assertTrue(java.util.Arrays.equals(expected.get(row).get(c), found.get(c)), "seed " + SEED);
                }
            });
        }
    }

    private static List<byte[]> values(RecordStore store, long row) {
        List<byte[]> values = new ArrayList<>();
        Span span = new Span();
        for (int c = 0; c < store.columns().size(); c++) {
            if (store.isPresent(row, c)) {
                store.locate(row, c, span);
                values.add(span.slice().toArray(ValueLayout.JAVA_BYTE));
            } else {
                values.add(null);
            }
        }
        return values;
    }

    @Test
    void aRowThatIsNullIsNotThereAndSaysSo() throws IOException {
        try (RecordStore store = RecordStore.open(fixture("fixed-lists.parquet"))) {
            assertTrue(store.isPresent(3, 0));
            assertFalse(store.isPresent(3, 1));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(3, 1, new Span()))
                    .getMessage();
            assertTrue(message.contains("fixed-lists.parquet: row 3 of column 'some' is null"), message);
            for (long row : new long[] {-1, ROWS, Long.MAX_VALUE}) {
                assertThrows(IndexOutOfBoundsException.class, () -> store.locate(row, 0, new Span()));
                assertThrows(IndexOutOfBoundsException.class, () -> store.isPresent(row, 0));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> store.locate(0, 2, new Span()));
        }
    }

    @Test
    void locatingAllocatesNothingOnceTheBlockIsDecoded() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RecordStore store = RecordStore.open(fixture("polars.parquet"))) {
            int tokens = column(store, "tokens");
            Span span = new Span();
            long least = Long.MAX_VALUE;
            for (int window = 0; window < 1_000 && least > 0; window++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 20_000; i++) {
                    if (store.isPresent(i % ROWS, tokens)) {
                        store.locate(i % ROWS, tokens, span);
                    }
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    @Test
    void filesOfASetAreOneTableInTheOrderOfTheirNames() throws IOException {
        for (int i = 2; i >= 0; i--) {
            oneRow(folder.resolve("train-0000" + i + "-of-00003.parquet"), 100 + i);
        }
        Files.writeString(folder.resolve("README.md"), "no table");
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(3, store.size());
            Span span = new Span();
            for (int row = 0; row < 3; row++) {
                store.locate(row, 0, span);
                assertEquals(100 + row, span.segment().get(LittleEndian.I32, span.byteOffset()));
            }
            assertEquals(List.of(1L, 1L, 1L), ((java.util.Map<?, ?>) Inspection.of(folder, Depth.STRUCTURE).details()
                    .get("parquet")).get("row_groups"));
            String fingerprint = store.fingerprint();
            oneRow(folder.resolve("train-00001-of-00003.parquet"), 7);
            try (RecordStore changed = RecordStore.open(folder)) {
                assertNotEquals(fingerprint, changed.fingerprint());
            }
        }
        oneRow(folder.resolve("test-00000-of-00001.parquet"), 5);
        assertRefused(folder, "files of several tables: [test, train]");
        try (RecordStore train = RecordStore.open(folder, OpenOptions.DEFAULT.withMember("train"));
                RecordStore test = RecordStore.open(folder, OpenOptions.DEFAULT.withMember("test"))) {
            assertEquals(3, train.size());
            assertEquals(1, test.size());
        }
        Files.delete(folder.resolve("test-00000-of-00001.parquet"));
        Files.delete(folder.resolve("train-00001-of-00003.parquet"));
        assertRefused(folder, "2 files of 'train', expected 3");
    }

    @Test
    void shardsOfTwoSetsAreNoTableEvenIfTheyAreAsManyAsOneHas() throws IOException {
        oneRow(folder.resolve("train-00000-of-00003.parquet"), 1);
        oneRow(folder.resolve("train-00001-of-00002.parquet"), 2);
        assertRefused(folder, "train-00000-of-00003.parquet: a shard of another set, expected one of 2");
        Path other = Files.move(folder.resolve("train-00000-of-00003.parquet"),
                folder.resolve("train-00003-of-00002.parquet"));
        assertRefused(folder, "train-00001-of-00002.parquet: shards 1 to 3 of 2, expected all from 0 or 1 on");
        other = Files.move(other, folder.resolve("train-00002-of-00002.parquet"));
        RecordStore.open(folder).close();       // counted from 1
        Files.move(other, folder.resolve("train-00000-of-00002.parquet"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(2, store.size());
        }
    }

    private static void oneRow(Path file, int value) throws IOException {
        new ParquetBytes(1, 1).page(1, Encoding.PLAIN, ParquetBytes.ints(value)).write(file);
    }

    @Test
    void filesWhoseColumnsDifferAreNoTable() throws IOException {
        oneRow(folder.resolve("a.parquet"), 1);
        new ParquetBytes(1, 1).schema(Physical.FLOAT, new String[] {"x"}, ParquetBytes.leaf("x", Physical.FLOAT, 0))
                .page(1, Encoding.PLAIN, ParquetBytes.ints(1)).write(folder.resolve("b.parquet"));
        assertRefused(folder, "b.parquet: column 'x' of f32[] numbers (float), expected i32[] numbers (int32), as"
                + " a.parquet has");
    }

    @Test
    void filesWhoseTimestampsCountOtherUnitsAreNoTable() throws IOException {
        oneTimestamp(folder.resolve("a.parquet"), 1_700_000_000_000L, 9);
        oneTimestamp(folder.resolve("b.parquet"), 1_700_000_000_000L, 9);
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(2, store.size());
        }
        oneTimestamp(folder.resolve("b.parquet"), 1_700_000_000_000_000L, 10);
        assertRefused(folder,
                "b.parquet: column 'x' of i64[] numbers (timestamp[us, tz=UTC]), expected i64[] numbers"
                + " (timestamp[ms, tz=UTC]), as a.parquet has");
    }

    /** Converted type 9 counts milliseconds, 10 microseconds. */
    private static void oneTimestamp(Path file, long count, int converted) throws IOException {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(count).array();
        new ParquetBytes(1, 1).schema(Physical.INT64, new String[] {"x"},
                ParquetBytes.leaf("x", Physical.INT64, 0).i32(6, converted)).page(1, Encoding.PLAIN, bytes).write(file);
    }

    @Test
    void oneFileHasNoTableToChoose() throws IOException {
        oneRow(folder.resolve("train.parquet"), 1);
        String message = assertThrows(IllegalArgumentException.class, () -> RecordStore.open(
                folder.resolve("train.parquet"), OpenOptions.DEFAULT.withMember("test"))).getMessage();
        assertTrue(message.contains("train.parquet: one file is one table, found 'test'"), message);
    }

    private static void assertRefused(Path path, String words) {
        String message = assertThrows(MalformedStoreException.class, () -> RecordStore.open(path)).getMessage();
        assertTrue(message.contains(words), message);
    }

    @Test
    void aPageWithAnotherChecksumIsRefusedWhenItIsTouchedAndNoOther() throws IOException {
        byte[] bytes = Files.readAllBytes(fixture("none-v1.parquet"));
        bytes[60] ^= 1;
        Path file = Files.write(folder.resolve("flipped.parquet"), bytes);
        try (RecordStore store = RecordStore.open(file)) {
            Span span = new Span();
            store.locate(0, column(store, "tokens"), span);
            String message = assertThrows(MalformedStoreException.class, () -> store.isPresent(0, 0))
                    .getMessage();
            assertTrue(message.contains("flipped.parquet: at byte 4: i8: a page with the CRC"), message);
            assertThrows(MalformedStoreException.class, () -> store.locate(1, 0, span));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileThatShrinksIsAnErrorThatNamesIt() throws IOException {
        Path file = folder.resolve("shrinks.parquet");
        byte[] page = new byte[1 << 20];
        new ParquetBytes(1 << 18, 1 << 18).page(1 << 18, Encoding.PLAIN, page).write(file);
        try (RecordStore store = RecordStore.open(file)) {
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.setLength(8192);
            }
            String message = assertThrows(UncheckedIOException.class, () -> store.locate(0, 0, new Span()))
                    .getCause().getMessage();
            assertTrue(message.contains("shrinks.parquet") && message.contains("8192"), message);
        }
    }

    @Tag("slow")
    @Test
    void mutatedFilesAreReadOrRefused() throws IOException {
        Path file = folder.resolve("mutated.parquet");
        for (String name : List.of("delta-v1", "delta-v2", "shared-v2", "duckdb-v2", "required", "fixed-lists",
                "zstd-v2", "snappy-v1", "gzip-v1")) {
            byte[] original = Files.readAllBytes(fixture(name + ".parquet"));
            SplittableRandom random = new SplittableRandom(SEED ^ name.hashCode());
            for (int i = 0; i < MUTATIONS; i++) {
                byte[] bytes = original.clone();
                int footer = bytes.length - 8 - (bytes[bytes.length - 8] & 0xFF)
                        - ((bytes[bytes.length - 7] & 0xFF) << 8);
                for (int m = random.nextInt(3); m >= 0; m--) {
                    int at = random.nextBoolean() ? random.nextInt(bytes.length)
                            : random.nextInt(footer, bytes.length);
                    bytes[at] = random.nextBoolean() ? (byte) random.nextInt()
                            : (byte) (bytes[at] ^ 1 << random.nextInt(8));
                }
                Files.write(file, bytes);
                try {
                    Inspection.of(file, Depth.CONTENT);
                } catch (IOException | PenstockException e) {
                    assertFalse(e.getMessage().contains("\n"), e.getMessage());
                    assertTrue(e.getMessage().contains(folder.toString()), e.getMessage());
                } catch (RuntimeException | Error e) {
                    fail("seed " + SEED + ", mutation " + i + " of " + name, e);
                }
            }
        }
    }
}
