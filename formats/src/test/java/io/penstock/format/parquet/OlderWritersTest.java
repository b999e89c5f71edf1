// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static io.penstock.format.parquet.ParquetBytes.group;
import static io.penstock.format.parquet.ParquetBytes.ints;
import static io.penstock.format.parquet.ParquetBytes.join;
import static io.penstock.format.parquet.ParquetBytes.leaf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of writers with faults that all readers work around. Those in {@code src/test/resources/parquet/older} are from
 * the test data of Arrow, hyparquet and fastparquet; {@code src/test/python/older_parquet_fixtures.py} writes what
 * pyarrow reads in them.
 */
class OlderWritersTest {

    private static final int LIST = 3;

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("x.parquet");
    }

    @TestFactory
    Stream<DynamicTest> whatPyarrowReadsIsReadTheSame() throws IOException {
        Path files = Fixtures.resource("parquet/older");
        Map<String, Object> expected = Json.object(Json.parse(Files.readAllBytes(files.resolve("expected.json"))));
        return expected.entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> {
            try (RecordStore store = RecordStore.open(files.resolve(entry.getKey()))) {
                assertEquals(entry.getValue(), Rows.of(store));
            }
        }));
    }

    private static List<Object> values(Path file) throws IOException {
        try (RecordStore store = RecordStore.open(file)) {
            return Rows.column(store, store.columns().getFirst().name());
        }
    }

    @Test
    void aChunkMayLeaveOutTheHeaderOfItsDictionaryButNoMore() throws IOException {
        byte[] indices = {2, 3, 0b0010_0100, 0};
        ParquetBytes bytes = new ParquetBytes(3, 3).dictionary(3, ints(7, 8, 9))
                .page(3, Encoding.PLAIN_DICTIONARY, indices);
        int header = new ThriftBytes().i32(1, 2).i32(2, 12).i32(3, 12).struct(7,
                new ThriftBytes().i32(1, 3).i32(2, 2)).end().length;
        assertEquals(List.of(7L, 8L, 9L), values(bytes.place(4, -header).write(file())));
        Path shorter = bytes.place(4, -header - 1).write(file());
        assertTrue(assertThrows(Exception.class, () -> values(shorter)).getMessage()
                .contains("that the column chunk has left"));
    }

    @Test
    void theEncodingOfADictionaryMayBeNamedAsThatOfItsIndices() throws IOException {
        byte[] indices = {2, 3, 0b0010_0100, 0};
        byte[] entries = ints(7, 8, 9);
        assertEquals(List.of(7L, 8L, 9L), values(new ParquetBytes(3, 3).page(new ThriftBytes().i32(1, 2)
                .i32(2, entries.length).i32(3, entries.length).struct(7, new ThriftBytes().i32(1, 3)
                .i32(2, Encoding.RLE_DICTIONARY.ordinal())), entries).page(3, Encoding.RLE_DICTIONARY, indices)
                .write(file())));
    }

    private static ThriftBytes secondVersion(int values, int rows, int definitionBytes, int repetitionBytes,
            int uncompressedBytes, int bytes) {
        return new ThriftBytes().i32(1, 3).i32(2, uncompressedBytes).i32(3, bytes).struct(8, new ThriftBytes()
                .i32(1, values).i32(2, 0).i32(3, rows).i32(4, Encoding.PLAIN.ordinal()).i32(5, definitionBytes)
                .i32(6, repetitionBytes).head(7, ThriftReader.FALSE));
    }

    @Test
    void pagesOfEarlyParquetCppAreCompressedEvenIfTheySayNotAndAreAsLarge() throws IOException {
        // Snappy: 12 bytes, of which 8 are literal and 4 repeat those 4 before.
        byte[] packed = {12, 7 << 2, 1, 0, 0, 0, 2, 0, 0, 0, 1, 4};
        ParquetBytes bytes = new ParquetBytes(3, 3).codec(1).page(secondVersion(3, 3, 0, 0, 12, 12), packed);
        assertEquals(List.of(1L, 2L, 2L), values(bytes.createdBy("parquet-cpp version 1.5.1-SNAPSHOT").write(file())));
        // From 3.0.0 on such a page is what it says: plain.
        assertEquals(List.of(0x1_1C_0CL, 0x2_00_00L, 0x401_00_00L),
                values(bytes.createdBy("parquet-cpp-arrow version 3.0.0").write(file())));
    }

    @Test
    void theLevelsOfAPageTellItsRowsWhateverItsHeaderSays() throws IOException {
        // Lists [1, 2] and [3]; the header counts the values as rows.
        byte[] levels = {3, 0b0000_0010, 3, 0b0000_0111};
        assertEquals(List.of(List.of(1L, 2L), List.of(3L)), values(new ParquetBytes(2, 3).schema(Physical.INT32,
                new String[] {"x", "e"}, group("x", 0, 1, LIST), leaf("e", Physical.INT32, 2))
                .page(secondVersion(3, 3, 2, 2, 16, 16), join(levels, ints(1, 2, 3))).write(file())));
    }

    @Test
    void aFileMayCountNoRowsIfItsRowGroupsDoButNoOtherNumber() throws IOException {
        ParquetBytes bytes = new ParquetBytes(2, 2).page(2, Encoding.PLAIN, ints(1, 2));
        assertEquals(List.of(1L, 2L), values(bytes.fileRows(0).write(file())));
        Path other = bytes.fileRows(1).write(file());
        assertTrue(assertThrows(MalformedStoreException.class, () -> values(other)).getMessage()
                .contains("a file of 1 rows, expected 2"));
    }

    @Test
    void whatIsForOtherProgramsNeedNotBeText() throws IOException {
        ParquetBytes bytes = new ParquetBytes(2, 2).page(2, Encoding.PLAIN, ints(1, 2));
        byte[] latin1 = "Zürich".getBytes(StandardCharsets.ISO_8859_1);
        assertEquals(List.of(1L, 2L), values(bytes.property(new ThriftBytes().string(1, "place")
                .head(2, ThriftReader.BINARY).varint(latin1.length).raw(latin1)).write(file())));
        assertEquals(List.of(1L, 2L), values(bytes.property(new ThriftBytes().string(1, "version").i64(2, 3))
                .write(file())));
    }

    @Test
    void aChunkInAFileWithoutANameIsInThisOne() throws IOException {
        ParquetBytes bytes = new ParquetBytes(2, 2).page(2, Encoding.PLAIN, ints(1, 2));
        assertEquals(List.of(1L, 2L), values(bytes.otherFile("").write(file())));
        Path other = bytes.otherFile("y.parquet").write(file());
        assertTrue(assertThrows(MalformedStoreException.class, () -> values(other)).getMessage()
                .contains("a column chunk in the file 'y.parquet'"));
    }

    @Test
    void theNullsOfInterimParquetCppAreNulls() throws IOException {
        byte[] absent = {2, 0, 0, 0, 4, 0};
        try (RecordStore store = RecordStore.open(new ParquetBytes(2, 2).schema(Physical.INT32, new String[] {"x"},
                leaf("x", Physical.INT32, 1).i32(6, 25)).page(2, Encoding.PLAIN, absent).write(file()))) {
            assertEquals("[x: u8[*] bytes]", store.columns().toString());
            assertEquals(2, Rows.column(store, "x").stream().filter(value -> value == null).count());
        }
    }
}
