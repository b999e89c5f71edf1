// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import io.penstock.store.StoreFormats;
import io.penstock.testing.HeapUse;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an Arrow store promises beyond what is in it: places, presence, folders, refusals. */
class ArrowStoreTest {

    @TempDir
    private Path folder;

    private static int column(RecordStore store, String name) {
        return store.columns().stream().map(Column::name).toList().indexOf(name);
    }

    @Test
    void valuesAreViewsOfTheFileUnlessTheyAreCompressedOrBits() throws IOException {
        Span span = new Span();
        try (RecordStore plain = RecordStore.open(Fixtures.path("arrow/file_uncompressed.arrow"));
                RecordStore zstd = RecordStore.open(Fixtures.path("arrow/file_zstd.arrow"))) {
            assertEquals(plain.columns(), zstd.columns());
            for (int c = 0; c < plain.columns().size(); c++) {
                boolean bits = plain.columns().get(c).name().equals("flag");
                assertEquals(bits, plain.isConverted(c));
                plain.locate(59, c, span);
                assertNotNull(span.file());
                assertEquals(!bits, span.file().location().path().endsWith("file_uncompressed.arrow"));
            }
            assertTrue(zstd.isConverted(column(zstd, "tokens")));
        }
    }

    @Test
    void aRowThatIsNullHasNoValue() throws IOException {
        Span span = new Span();
        try (RecordStore store = RecordStore.open(Fixtures.path("arrow/nulls.arrow"))) {
            int nulls = 0;
            for (long row = 0; row < store.size(); row++) {
                for (int c = 0; c < store.columns().size(); c++) {
                    long record = row;
                    int index = c;
                    if (!store.isPresent(row, c)) {
                        nulls++;
                        String message = assertThrows(MalformedStoreException.class,
                                () -> store.locate(record, index, span)).getMessage();
                        assertTrue(message.contains("nulls.arrow: row " + row) && message.contains("null"), message);
                    } else {
                        store.locate(row, c, span);
                    }
                }
            }
            // As pyarrow counts them.
            assertEquals(14, nulls);
        }
    }

    /** {@code src/test/python/not_a_number.py} writes the file, and says which rows pyarrow has as null. */
    @Test
    void aNumberThatIsNotFiniteIsNotNullHoweverItIsStored() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.resource("arrow/not_a_number.arrow"))) {
            List<String> names = store.columns().stream().map(Column::name).toList();
            assertEquals(List.of("plain", "dictionary", "runs", "short_runs", "runs_of_indices", "sparse", "dense",
                    "field.runs", "view", "lists"), names);
            for (String name : names) {
                int column = names.indexOf(name);
                // A list of numbers has no value if one of them is null; a list of lists has one.
                List<Boolean> present = List.of(true, false, true, true);
                assertEquals(present, IntStream.range(0, 4).mapToObj(row -> store.isPresent(row, column)).toList(),
                        name);
                if (store.columns().get(column).kind() == Column.Kind.TEXT && !name.equals("lists")) {
                    assertEquals(List.of("null", "null", "2.5"), IntStream.of(0, 2, 3).mapToObj(row ->
                            text(store, row, column)).toList(), name);
                }
            }
        }
    }

    private static String text(RecordStore store, long row, int column) {
        Span span = new Span();
        store.locate(row, column, span);
        return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @Test
    void locatingAllocatesNothing() throws IOException {
        try (RecordStore store = RecordStore.open(Fixtures.path("arrow/stream_uncompressed.arrow"))) {
            Span span = new Span();
            long[] sum = new long[1];
            long allocated = HeapUse.fewest(20_000, () -> {
                for (int i = 0; i < 20_000; i++) {
                    for (int c = 0; c < store.columns().size(); c++) {
                        store.locate(i % 60, c, span);
                        sum[0] += span.byteSize();
                    }
                }
            });
            assertTrue(sum[0] > 0);
            assertTrue(allocated <= 20_000, allocated + " bytes for 160,000 values");
        }
    }

    @Test
    void theBatchOfARowIsFoundWhateverTheBatchesSizesAre() {
        SplittableRandom random = new SplittableRandom(3);
        for (int trial = 0; trial < 200; trial++) {
            long[] starts = new long[random.nextInt(1, 60)];
            for (int b = 1; b < starts.length; b++) {
                starts[b] = starts[b - 1] + switch (random.nextInt(4)) {
                    case 0 -> 0;
                    case 1 -> 1;
                    case 2 -> 1000;
                    default -> random.nextLong(1L << random.nextInt(1, 40));
                };
            }
            RowIndex index = new RowIndex(starts);
            for (int b = 0; b + 1 < starts.length; b++) {
                if (starts[b] < starts[b + 1]) {
                    assertEquals(b, index.batch(starts[b]));
                    assertEquals(b, index.batch(starts[b + 1] - 1));
                    assertEquals(b, index.batch(random.nextLong(starts[b], starts[b + 1])));
                }
            }
        }
    }

    @Test
    void offsetsThatLeaveTheirBufferAreMalformedWhenTheyAreRead() throws IOException {
        byte[] bytes = Files.readAllBytes(Fixtures.path("arrow/stream_uncompressed.arrow"));
        Path file = Files.write(folder.resolve("x.arrow"), bytes);
        long offsets;
        try (RecordStore store = RecordStore.open(file)) {
            Span span = new Span();
            store.locate(0, column(store, "ids"), span);
            // The first list has 8 items: its end is the second offset, before the data in the same batch.
            offsets = IntStream.iterate((int) span.byteOffset() - 8, at -> at - 8).filter(at ->
                    bytes[at] == 0 && bytes[at + 1] == 0 && bytes[at + 4] == 8 && bytes[at + 5] == 0).findFirst()
                    .orElseThrow();
        }
        for (int bad : new int[] {-1, Integer.MAX_VALUE, 1 << 20}) {
            byte[] damaged = bytes.clone();
            ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN).putInt((int) offsets + 4, bad);
            Files.write(file, damaged);
            try (RecordStore store = RecordStore.open(file)) {
                Span span = new Span();
                int ids = column(store, "ids");
                assertTrue(store.isPresent(0, ids));
                String message = assertThrows(MalformedStoreException.class, () -> store.locate(0, ids, span))
                        .getMessage();
                assertTrue(message.contains("row 0 of column 'ids'") && message.contains("offsets 0 to " + bad),
                        message);
                store.locate(2, ids, span);
            }
        }
    }

    @Test
    void aSplitIsChosenAndAnErrorListsThem() throws IOException {
        Path splits = ArrowPeerTest.folder().resolve("splits");
        assertEquals("arrow", StoreFormats.recognize(Location.of(splits)).name());
        String message = assertThrows(MalformedStoreException.class, () -> RecordStore.open(splits)).getMessage();
        assertTrue(message.contains("[train, test]") || message.contains("[test, train]"), message);
        assertThrows(MalformedStoreException.class,
                () -> RecordStore.open(splits, OpenOptions.DEFAULT.withMember("validation")));
        try (RecordStore train = RecordStore.open(splits, OpenOptions.DEFAULT.withMember("train"));
                RecordStore shard = RecordStore.open(splits.resolve("train/data-00001-of-00003.arrow"))) {
            assertEquals(25, train.size());
            assertEquals(train.columns(), shard.columns());
            assertEquals("pixels: u8[4,3]", train.columns().get(1).spec().toString());
            assertEquals("volume: f32[*,2,2]", train.columns().get(2).spec().toString());
        }
    }

    @Test
    void namesInAFolderLeadNowhereElse() throws IOException {
        Files.copy(Fixtures.path("arrow/nulls.arrow"), folder.resolve("outside.arrow"));
        Path dataset = Files.createDirectory(folder.resolve("dataset"));
        Files.copy(Fixtures.path("arrow/nulls.arrow"), dataset.resolve("inside.arrow"));
        for (String name : List.of("../outside.arrow", folder.resolve("outside.arrow").toString(), "..", ".", "",
                "a\\\\b", "a\\u0000b")) {
            Files.writeString(dataset.resolve("state.json"), "{\"_data_files\": [{\"filename\": \"" + name + "\"}]}");
            assertThrows(MalformedStoreException.class, () -> RecordStore.open(dataset), name);
        }
        for (String state : List.of("{}", "[]", "{\"_data_files\": []}", "{\"_data_files\": [3]}", "{",
                "{\"_data_files\": [{\"filename\": \"inside.arrow\"}, {\"filename\": \"inside.arrow\"}]}",
                "{\"_data_files\": [{\"filename\": \"inside.arrow\"}], \"_indices_files\": [{\"filename\": \"i\"}]}")) {
            Files.writeString(dataset.resolve("state.json"), state);
            assertThrows(MalformedStoreException.class, () -> RecordStore.open(dataset), state);
        }
        Files.writeString(dataset.resolve("state.json"), "{\"_data_files\": [{\"filename\": \"inside.arrow\"}]}");
        RecordStore.open(dataset).close();
    }

    @Test
    void aFolderOfFilesIsOneTableIfTheyAreOfOneNameAndOneSchema() throws IOException {
        Path nulls = Fixtures.path("arrow/nulls.arrow");
        Files.copy(nulls, folder.resolve("t-00000-of-00002.arrow"));
        assertTrue(assertThrows(MalformedStoreException.class, () -> RecordStore.open(folder)).getMessage()
                .contains("1 files of 't', expected 2"));
        Files.copy(nulls, folder.resolve("t-00001-of-00002.arrow"));
        try (RecordStore store = RecordStore.open(folder)) {
            assertInstanceOf(ArrowStore.class, store);
            assertEquals(22, store.size());
        }
        Files.copy(Fixtures.path("arrow/file_lz4.arrow"), folder.resolve("u.arrow"));
        assertTrue(assertThrows(MalformedStoreException.class, () -> RecordStore.open(folder)).getMessage()
                .contains("[t, u]"));
        try (RecordStore store = RecordStore.open(folder, OpenOptions.DEFAULT.withMember("u"))) {
            assertEquals(60, store.size());
        }
        Files.copy(Fixtures.path("arrow/file_lz4.arrow"), folder.resolve("t-00001-of-00002.arrow"),
                StandardCopyOption.REPLACE_EXISTING);
        String message = assertThrows(MalformedStoreException.class,
                () -> RecordStore.open(folder, OpenOptions.DEFAULT.withMember("t"))).getMessage();
        assertTrue(message.contains("00001-of-00002.arrow: the columns [tokens, ") && message
                .contains("expected at least one of [maybe_list, "), message);
    }

    @Test
    void foldersInHivesLayoutAreOneTableWhosePartitionsAreColumns() throws IOException {
        for (String part : List.of("lang=de/year=2024", "lang=en%20GB/year=2023")) {
            Path partition = Files.createDirectories(folder.resolve(part));
            Files.copy(Fixtures.resource("shards/arrow/text/train-00000-of-00003.arrow"), partition.resolve("a.arrow"));
            Files.writeString(partition.resolve("_SUCCESS"), "");
        }
        try (RecordStore store = RecordStore.open(folder)) {
            assertEquals(Map.of("t", List.of("a", "b", "a", "b"), "lang", List.of("de", "de", "en GB", "en GB"), "year",
                    List.of(2024L, 2024L, 2023L, 2023L)), Rows.of(store));
            assertFalse(store.isConverted(column(store, "lang")));
        }
    }

    @Test
    void bigEndianDataAreRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(ArrowPeerTest.folder().resolve("structs.arrow"));
        // A schema with its endianness written out does not come from the library: its default, 0, is left out. The
        // slot of the schema's vtable is made to point at a field that is not zero.
        List<String> refusals = new ArrayList<>();
        for (int at = 8; at < 200; at++) {
            byte[] damaged = bytes.clone();
            damaged[at] = 4;
            Path file = Files.write(folder.resolve("b.arrow"), damaged);
            try (RecordStore store = RecordStore.open(file, OpenOptions.DEFAULT.withFormat("arrow"))) {
                assertFalse(store.columns().isEmpty());
            } catch (IOException | PenstockException e) {
                refusals.add(e.getMessage());
            }
        }
        assertTrue(refusals.stream().anyMatch(message -> message.contains("big-endian data, expected little-endian")),
                refusals.toString());
    }

    @Test
    void dictionariesAreLookedUpAndAnIndexWithoutAValueIsAnError() throws IOException {
        try (RecordStore store = RecordStore.open(ArrowPeerTest.folder().resolve("dictionary_replaced.arrow"))) {
            int word = column(store, "word");
            assertFalse(store.isConverted(word));
            // The rows: a c null, then null x y of another dictionary, then b of the first again.
            List<String> words = new ArrayList<>();
            Span span = new Span();
            for (long row = 0; row < store.size(); row++) {
                if (store.isPresent(row, word)) {
                    store.locate(row, word, span);
                    words.add(new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
                } else {
                    words.add(null);
                }
            }
            assertEquals(Arrays.asList("a", "c", null, null, "x", "y", "b"), words);
            int number = column(store, "number");
            store.locate(5, number, span);
            assertEquals(3, span.segment().get(LittleEndian.I64, span.byteOffset()));
        }
    }

    @Test
    void conditionsSayDatesAndTimesAsText() throws IOException {
        try (RecordStore store = RecordStore.open(ArrowPeerTest.folder().resolve("scalars_plain.arrow"))) {
            assertArrayEquals(new long[] {0}, store.rowsWhere("`date32[day]` = '2176-12-21'"));
            assertArrayEquals(new long[] {1}, store.rowsWhere("`date64[ms]` = '2173-03-29'"));
            assertArrayEquals(new long[] {2}, store.rowsWhere("`time32[s]` = '12:39:35'"));
            assertArrayEquals(new long[] {3},
                    store.rowsWhere("`timestamp[us]` = '1970-01-01 00:00:00.054582' and `time64[us]` < '00:00:01'"));
            assertArrayEquals(new long[] {0},
                    store.rowsWhere("`timestamp[ns, tz=UTC]` = '1970-01-01T01:00:00.000069105+01:00'"));
        }
    }

    @Test
    void aFileIsRecognisedByContentWhateverItsName() throws IOException {
        for (String name : List.of("file_uncompressed.arrow", "stream_uncompressed.arrow", "file_lz4.arrow")) {
            Path copy = folder.resolve(name.replace(".arrow", ".bin"));
            Files.copy(Fixtures.path("arrow/" + name), copy);
            assertEquals("arrow", StoreFormats.recognize(Location.of(copy)).name());
        }
        Path legacy = Files.copy(ArrowPeerTest.folder().resolve("legacy.arrow"), folder.resolve("old.bin"));
        assertEquals("arrow", StoreFormats.recognize(Location.of(legacy)).name());
        byte[] tokens = new byte[4096];
        Arrays.fill(tokens, (byte) -1);
        Path bin = Files.write(folder.resolve("t.bin"), tokens);
        assertEquals("nanogpt", StoreFormats.recognize(Location.of(bin)).name());
    }
}
