// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static io.penstock.format.parquet.ParquetBytes.group;
import static io.penstock.format.parquet.ParquetBytes.ints;
import static io.penstock.format.parquet.ParquetBytes.join;
import static io.penstock.format.parquet.ParquetBytes.leaf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that no library writes: from before today's conventions, and such as contradict themselves. */
class ParquetByHandTest {

    private static final int REQUIRED = 0;
    private static final int OPTIONAL = 1;
    private static final int REPEATED = 2;
    private static final int CONVERTED_LIST = 3;

    /** Lists [1, 2], [], null, [3]: repetition 0 1 0 0 0, definition 2 2 1 0 2, as runs of groups of 8 values. */
    private static final byte[] REPETITION = {2, 0, 0, 0, 3, 0b0000_0010};
    private static final byte[] DEFINITION = {3, 0, 0, 0, 3, (byte) 0b0001_1010, 0b10};

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("x.parquet");
    }

    private static List<List<Integer>> rows(Path file) throws IOException {
        List<List<Integer>> rows = new ArrayList<>();
        try (RecordStore store = RecordStore.open(file)) {
            Span span = new Span();
            for (long row = 0; row < store.size(); row++) {
                if (!store.isPresent(row, 0)) {
                    rows.add(null);
                    continue;
                }
                store.locate(row, 0, span);
                List<Integer> values = new ArrayList<>();
                for (long at = 0; at < span.byteSize(); at += Integer.BYTES) {
                    values.add(span.segment().get(LittleEndian.I32, span.byteOffset() + at));
                }
                rows.add(values);
            }
        }
        return rows;
    }

    private static ParquetBytes lists(ThriftBytes... schema) {
        String[] path = schema.length == 2 ? new String[] {"x", "e"} : new String[] {"x", "r", "e"};
        return new ParquetBytes(4, 5).schema(Physical.INT32, path, schema);
    }

    private static final List<List<Integer>> LISTS = new ArrayList<>();

    static {
        LISTS.add(List.of(1, 2));
        LISTS.add(List.of());
        LISTS.add(null);
        LISTS.add(List.of(3));
    }

    @Test
    void listsOfTwoLevelsAndOfThreeWithOtherNamesAreLists() throws IOException {
        byte[] page = join(REPETITION, DEFINITION, ints(1, 2, 3));
        assertEquals(LISTS, rows(lists(group("x", OPTIONAL, 1, CONVERTED_LIST), leaf("e", Physical.INT32, REPEATED))
                .page(5, Encoding.PLAIN, page).write(file())));
        assertEquals(LISTS, rows(lists(group("x", OPTIONAL, 1, CONVERTED_LIST), group("r", REPEATED, 1, -1),
                leaf("e", Physical.INT32, REQUIRED)).page(5, Encoding.PLAIN, page).write(file())));
    }

    @Test
    void aRepeatedLeafIsAListThatIsNeverNull() throws IOException {
        // Levels as before runs: the highest bit first. Lists [1, 2], [], [3], [4].
        byte[] levels = {(byte) 0b0100_0000, (byte) 0b1101_1000};
        assertEquals(List.of(List.of(1, 2), List.of(), List.of(3), List.of(4)), rows(new ParquetBytes(4, 5)
                .schema(Physical.INT32, new String[] {"x"}, leaf("x", Physical.INT32, REPEATED))
                .page(5, Encoding.PLAIN, Encoding.BIT_PACKED, 18, join(levels, ints(1, 2, 3, 4))).write(file())));
    }

    @Test
    void aGroupCalledArrayIsTheElementItself() throws IOException {
        Path file = new ParquetBytes(4, 5).schema(Physical.INT32, new String[] {"x", "array", "e"},
                group("x", OPTIONAL, 1, CONVERTED_LIST), group("array", REPEATED, 1, -1),
                leaf("e", Physical.INT32, REQUIRED)).page(5, Encoding.PLAIN, join(REPETITION, DEFINITION,
                ints(1, 2, 3))).write(file());
        assertEquals(List.of("[{\"e\":1},{\"e\":2}]", "[]", "null", "[{\"e\":3}]"), texts(file));
    }

    private static List<String> texts(Path file) throws IOException {
        try (RecordStore store = RecordStore.open(file)) {
            List<String> texts = new ArrayList<>();
            Span span = new Span();
            for (long row = 0; row < store.size(); row++) {
                if (store.isPresent(row, 0)) {
                    store.locate(row, 0, span);
                    texts.add(new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
                } else {
                    texts.add("null");
                }
            }
            return texts;
        }
    }

    @Test
    void listsWithoutTheGroupThatSaysSoAreLists() throws IOException {
        ThriftBytes[][] schemas = {
            {group("x", REPEATED, 1, -1), leaf("e", Physical.INT32, REQUIRED)},
            {group("x", REQUIRED, 1, CONVERTED_LIST), group("x_tuple", REPEATED, 1, -1),
                leaf("e", Physical.INT32, REQUIRED)}};
        String[][] paths = {{"x", "e"}, {"x", "x_tuple", "e"}};
        byte[] repetition = {2, 0, 0, 0, 3, 0b0000_0010};
        byte[] definition = {2, 0, 0, 0, 3, 0b0001_1011};
        for (int s = 0; s < paths.length; s++) {
            assertEquals(List.of("[{\"e\":1},{\"e\":2}]", "[]", "[{\"e\":3}]", "[{\"e\":4}]"), texts(
                    new ParquetBytes(4, 5).schema(Physical.INT32, paths[s], schemas[s]).page(5, Encoding.PLAIN,
                    join(repetition, definition, ints(1, 2, 3, 4))).write(file())));
        }
    }

    @Test
    void aRepeatedFieldWithinARepeatedGroupIsAListInAStruct() throws IOException {
        // A group of one field that is itself repeated is the element: LogicalTypes.md, backward compatibility.
        assertEquals(List.of("[{\"y\":[1,2]},{\"y\":[]}]", "[{\"y\":[3]}]"), texts(new ParquetBytes(2, 4).schema(
                Physical.INT32, new String[] {"x", "r", "y"}, group("x", REQUIRED, 1, CONVERTED_LIST),
                group("r", REPEATED, 1, -1), leaf("y", Physical.INT32, REPEATED)).page(4, Encoding.PLAIN,
                join(new byte[] {3, 0, 0, 0, 3, 0b0001_1000, 0}, new byte[] {3, 0, 0, 0, 3, (byte) 0b1001_1010, 0},
                ints(1, 2, 3))).write(file())));
    }

    @Test
    void aPageOfOneRunAndADictionaryOfOneEntryIsThatEntryManyTimes() throws IOException {
        Path file = new ParquetBytes(1000, 1000).dictionary(1, ints(7))
                .page(1000, Encoding.PLAIN_DICTIONARY, (byte) 0).write(file());
        List<List<Integer>> rows = rows(file);
        assertEquals(1000, rows.size());
        assertTrue(rows.stream().allMatch(List.of(7)::equals));
    }

    @Test
    void countsThatContradictEachOtherAreRefused() throws IOException {
        assertRefused(new ParquetBytes(3, 3).fileRows(4).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()),
                "a file of 4 rows, expected 3");
        assertRefused(new ParquetBytes(3, 4).page(4, Encoding.PLAIN, ints(1, 2, 3, 4)).write(file()),
                "4 values in a row group, expected 3");
        assertRefused(new ParquetBytes(3, 3).page(4, Encoding.PLAIN, ints(1, 2, 3, 4)).write(file()),
                "pages of 4 values, expected 3");
        assertRefused(new ParquetBytes(3, 3).page(2, Encoding.PLAIN, ints(1, 2)).write(file()),
                "the end of a column chunk's pages, expected more values of x");
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.PLAIN, ints(1, 2)).write(file()),
                "values: 12 bytes, where 8 are left");
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.PLAIN, ints(1, 2, 3)).place(4, -1).write(file()),
                "at most the 11 that the column chunk has left");
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.PLAIN, ints(1, 2, 3)).place(4, 1).write(file()),
                "a chunk between the magic and byte");
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.PLAIN, ints(1, 2, 3)).place(Long.MAX_VALUE, 0)
                .write(file()), "a chunk between the magic and byte");
        assertRefused(new ParquetBytes(-1, 3).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()),
                "a row group of -1 rows");
        assertRefused(new ParquetBytes(3, 3).schema(Physical.INT64, new String[] {"x"},
                leaf("x", Physical.INT32, REQUIRED)).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()),
                "a column chunk of x, INT64, expected x, INT32");
        assertRefused(new ParquetBytes(3, 3).schema(Physical.INT32, new String[] {"y"},
                leaf("x", Physical.INT32, REQUIRED)).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()),
                "a column chunk of y");
    }

    @Test
    void levelsThatContradictTheSchemaAreRefused() throws IOException {
        ThriftBytes[] schema = {group("x", OPTIONAL, 1, CONVERTED_LIST), leaf("e", Physical.INT32, REPEATED)};
        byte[] continued = {2, 0, 0, 0, 3, 0b0000_0011};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, join(continued, DEFINITION, ints(1, 2, 3)))
                .write(file()), "levels that continue a list that has no elements");
        byte[] three = {3, 0, 0, 0, 3, (byte) 0b0001_1011, 0b10};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, join(REPETITION, three, ints(1, 2, 3))).write(file()),
                "the definition level 3 of at most 2");
        byte[] rows = {2, 0, 0, 0, 3, 0};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, join(rows, DEFINITION, ints(1, 2, 3))).write(file()),
                "more than the 4 rows");
        byte[] fewer = {2, 0, 0, 0, 3, 0b0000_1010};
        byte[] there = {2, 0, 0, 0, 10, 2};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, join(fewer, there, ints(1, 2, 3, 4, 5))).write(file()),
                "pages of 3 rows, expected 4");
        byte[] cut = {1, 0, 0, 0, 3};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, join(cut, DEFINITION, ints(1, 2, 3))).write(file()),
                "the end of their bytes within a run");
        byte[] beyond = {-1, -1, -1, 127, 3};
        assertRefused(lists(schema).page(5, Encoding.PLAIN, beyond).write(file()), "levels: 2147483647 bytes");
    }

    @Test
    void aNullWithinAListIsRefusedInItsRowNotReadAsZero() throws IOException {
        byte[] definition = {3, 0, 0, 0, 3, 0b0001_1111, 0b11};
        Path file = lists(group("x", OPTIONAL, 1, CONVERTED_LIST), group("r", REPEATED, 1, -1),
                leaf("e", Physical.INT32, OPTIONAL)).page(5, Encoding.PLAIN, join(REPETITION,
                new byte[] {3, 0, 0, 0, 3, 0b0001_1111, 0b10}, ints(1, 2))).write(file());
        try (RecordStore store = RecordStore.open(file)) {
            Span span = new Span();
            store.locate(0, 0, span);
            assertEquals(8, span.byteSize());
            assertFalse(store.isPresent(3, 0));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(3, 0, span))
                    .getMessage();
            assertTrue(message.contains("row 3 of column 'x' is a list of which an item is null"), message);
        }
        assertEquals(LISTS, rows(lists(group("x", OPTIONAL, 1, CONVERTED_LIST), group("r", REPEATED, 1, -1),
                leaf("e", Physical.INT32, OPTIONAL)).page(5, Encoding.PLAIN, join(REPETITION, definition,
                ints(1, 2, 3))).write(file())));
    }

    @Test
    void dictionariesAreCheckedAgainstWhatRefersToThem() throws IOException {
        byte[] indices = {2, 3, 0b0011_1001, 0};
        assertRefused(new ParquetBytes(3, 3).dictionary(3, ints(1, 2, 3)).page(3, Encoding.RLE_DICTIONARY, indices)
                .write(file()), "index 3 of a dictionary of 3 entries");
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.RLE_DICTIONARY, indices).write(file()),
                "a missing dictionary");
        assertRefused(new ParquetBytes(3, 3).dictionary(4, ints(1, 2, 3)).page(3, Encoding.RLE_DICTIONARY, indices)
                .write(file()), "a dictionary of 4 entries in 12 bytes");
        assertRefused(new ParquetBytes(3, 3).dictionary(-1).page(3, Encoding.RLE_DICTIONARY, indices)
                .write(file()), "without its own header");
        byte[] wide = {33, 3, 0, 0};
        assertRefused(new ParquetBytes(3, 3).dictionary(3, ints(1, 2, 3)).page(3, Encoding.RLE_DICTIONARY, wide)
                .write(file()), "of 33 bits");
    }

    @Test
    void encodingsThatATypeDoesNotHaveAreRefusedByName() throws IOException {
        for (Encoding encoding : List.of(Encoding.DELTA_BYTE_ARRAY, Encoding.DELTA_LENGTH_BYTE_ARRAY, Encoding.RLE,
                Encoding.BIT_PACKED, Encoding.GROUP_VAR_INT)) {
            assertRefused(new ParquetBytes(3, 3).page(3, encoding, ints(1, 2, 3)).write(file()),
                    "values of INT32 in the encoding " + encoding);
        }
    }

    @Test
    void differencesAreCheckedBeforeTheyAreBelieved() throws IOException {
        // Block size, miniblocks a block, count, first value.
        for (byte[] head : new byte[][] {{0, 1, 3, 0}, {(byte) 128, 1, 0, 3, 0}, {(byte) 128, 1, 3, 3, 0},
                {8, 8, 3, 0}, {(byte) 128, (byte) 128, (byte) 128, 4, 1, 3, 0}}) {
            assertRefused(new ParquetBytes(3, 3).page(3, Encoding.DELTA_BINARY_PACKED, head).write(file()),
                    "differences: 3 values in blocks of");
        }
        byte[] wide = {(byte) 128, 1, 4, 3, 0, 0, 65, 0, 0, 0};
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.DELTA_BINARY_PACKED, wide).write(file()), "65 bits");
        byte[] fewer = {(byte) 128, 1, 4, 2, 0, 0, 0, 0, 0, 0};
        assertRefused(new ParquetBytes(3, 3).page(3, Encoding.DELTA_BINARY_PACKED, fewer).write(file()),
                "2 values, where the page has more");
        byte[] manyLengths = {(byte) 128, 1, 4, -1, -1, -1, -1, -1, 1, 0, 0, 0, 0, 0, 0};
        assertRefused(new ParquetBytes(3, 3).schema(Physical.BYTE_ARRAY, new String[] {"x"},
                leaf("x", Physical.BYTE_ARRAY, REQUIRED)).page(3, Encoding.DELTA_LENGTH_BYTE_ARRAY, manyLengths)
                .write(file()), "values, where the page has 3");
    }

    @Test
    void whatAPageClaimsToDecodeToIsBoundedByWhatItHas() throws IOException {
        int claimed = Integer.MAX_VALUE;
        for (int codec : new int[] {1, 2}) {
            assertRefused(new ParquetBytes(3, 3).codec(codec).page(3, Encoding.PLAIN, Encoding.RLE, claimed,
                    new byte[100]).write(file()), "a ratio that it can have");
        }
        assertRefused(new ParquetBytes(3, 3).codec(0).page(3, Encoding.PLAIN, Encoding.RLE, claimed, new byte[100])
                .write(file()), "not compressed");
        assertRefused(new ParquetBytes(3, 3).codec(1).page(3, Encoding.PLAIN, Encoding.RLE, 12, new byte[100])
                .write(file()), "snappy: ");
        assertRefused(new ParquetBytes(3, 3).codec(2).page(3, Encoding.PLAIN, Encoding.RLE, 12, new byte[100])
                .write(file()), "gzip: ");
        assertRefused(new ParquetBytes(3, 3).codec(6).page(3, Encoding.PLAIN, Encoding.RLE, 12, new byte[100])
                .write(file()), "zstd: ");
    }

    @Test
    void whatIsNotReadIsRefusedByName() throws IOException {
        assertRefused(new ParquetBytes(3, 3).codec(3).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()), "LZO");
        assertRefused(new ParquetBytes(3, 3).codec(4).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()), "BROTLI");
        assertRefused(new ParquetBytes(3, 3).codec(9).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file()),
                "codec 9");
        Path file = new ParquetBytes(3, 3).page(3, Encoding.PLAIN, ints(1, 2, 3)).write(file());
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] = 'E';
        assertRefused(Files.write(file, bytes), "an encrypted footer (PARE)");
        assertRefused(Files.write(file, new byte[] {'P', 'A', 'R', '1'}), "a file of 4 bytes");
        assertRefused(Files.write(file, "PAR1PAR1PAR1".getBytes(StandardCharsets.ISO_8859_1)), "a footer of");
    }

    @Test
    void footersAreReadWithinBounds() throws IOException {
        byte[] magic = "PAR1".getBytes(StandardCharsets.ISO_8859_1);
        ThriftBytes deep = new ThriftBytes();
        for (int i = 0; i < 100_000; i++) {
            deep.head(99 * (i & 1) + 9, ThriftReader.STRUCT);
        }
        assertFooterRefused(magic, deep.end(), "nested more than");
        ThriftBytes lists = new ThriftBytes().head(9, ThriftReader.LIST);
        for (int i = 0; i < 100_000; i++) {
            lists.listHead(1, ThriftReader.LIST);
        }
        assertFooterRefused(magic, lists.end(), "nested more than");
        assertFooterRefused(magic, new ThriftBytes().head(9, ThriftReader.LIST)
                .listHead(1L << 40, ThriftReader.STRUCT).end(), "1099511627776 elements");
        assertFooterRefused(magic, new ThriftBytes().head(6, ThriftReader.BINARY).varint(-1).end(), "bytes of text");
        assertFooterRefused(magic, new ThriftBytes().head(9, ThriftReader.MAP).varint(7).end(), "elements");
        assertFooterRefused(magic, new ThriftBytes().head(9, 14).end(), "type 14");
        assertFooterRefused(magic, new ThriftBytes().i64(1, 1).end(), "an i32");
        assertFooterRefused(magic, new ThriftBytes().i32(1, 1).end(), "without version, schema");
        assertFooterRefused(magic, new ThriftBytes().structs(2, group("root", REQUIRED, 1 << 30, -1)).end(),
                "with 1073741824 children");
        ThriftBytes[] nodes = new ThriftBytes[1000];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = group("g", REQUIRED, i < nodes.length - 1 ? 1 : 0, -1);
        }
        assertFooterRefused(magic, new ThriftBytes().structs(2, nodes).end(), "more than 64 deep");
        assertFooterRefused(magic, new ThriftBytes().structs(2, group("root", REQUIRED, 0, -1), group("g", REQUIRED,
                0, -1)).end(), "a schema of 2 nodes, of which the root has 1");
    }

    private void assertFooterRefused(byte[] magic, byte[] footer, String word) throws IOException {
        assertRefused(Files.write(file(), ParquetBytes.withFooter(magic, footer)), word);
    }

    private static void assertRefused(Path file, String... words) {
        String message = assertThrows(MalformedStoreException.class,
                () -> Inspection.of(file, Depth.CONTENT)).getMessage();
        assertTrue(message.startsWith(file + ": "), message);
        assertFalse(message.contains("\n"), message);
        for (String word : words) {
            assertTrue(message.contains(word), "'" + word + "' is not in: " + message);
        }
    }
}
