// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Shards of one table whose schemas differ without harm. {@code src/test/python/table_shards.py} writes them, and what
 * pyarrow has for all of them together.
 */
class TableShardsTest {

    private static final String[] INTEGERS = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"};

    private static Path shards(String name) {
        return Fixtures.resource("shards/" + name);
    }

    @TestFactory
    Stream<DynamicTest> shardsAreReadAsPyarrowReadsThemTogether() throws IOException {
        Map<String, Object> expected = Json.object(Json.parse(Files.readAllBytes(shards("expected.json"))));
        return Stream.of("parquet", "arrow").flatMap(format -> expected.entrySet().stream().map(table -> {
            String name = format + "/" + table.getKey();
            return DynamicTest.dynamicTest(name, () -> {
                try (RecordStore store = RecordStore.open(shards(name))) {
                    Map<String, Object> rows = new HashMap<>(Rows.of(store));
                    Json.object(table.getValue()).forEach((column, values) ->
                            assertEquals(values, rows.remove(column), column));
                    assertEquals(Map.of(), rows);
                }
            });
        }));
    }

    @Test
    void aShardWithoutAColumnSaysSo() throws IOException {
        try (RecordStore store = RecordStore.open(shards("parquet/extra"))) {
            assertFalse(store.isPresent(0, 1));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(0, 1, new Span()))
                    .getMessage();
            assertTrue(message.contains("train-00000-of-00003.parquet: row 0 of column 'b' is null: this file has no"
                    + " value of the column"), message);
        }
    }

    @Test
    void anErrorCountsTheRowsOfAllShards() throws IOException {
        for (String format : List.of("arrow", "parquet")) {
            try (RecordStore store = RecordStore.open(shards(format + "/lists"))) {
                String message = assertThrows(MalformedStoreException.class, () -> store.locate(3, 0, new Span()))
                        .getMessage();
                assertTrue(message.contains("train-00001-of-00002." + format + ": row 3 of column 'ids'"), message);
            }
        }
    }

    @Test
    void theWiderOfTwoTypesHasAllValuesOfBoth() {
        for (String a : INTEGERS) {
            for (String b : INTEGERS) {
                String wider = null;
                for (String each : INTEGERS) {
                    // In the order of their sizes: the first that has the least and the greatest of both.
                    if (wider == null && holds(each, a) && holds(each, b)) {
                        wider = each;
                    }
                }
                DType found = UnitedColumns.wider(DType.of(a), DType.of(b));
                assertEquals(wider, found == null ? null : found.toString(), a + " and " + b);
            }
        }
        assertEquals(DType.F64, UnitedColumns.wider(DType.F32, DType.F64));
        assertNull(UnitedColumns.wider(DType.F16, DType.BF16));
        assertNull(UnitedColumns.wider(DType.I32, DType.F64));
        assertNull(UnitedColumns.wider(DType.BOOL, DType.U8));
    }

    private static boolean holds(String wider, String type) {
        int bits = Integer.parseInt(wider.substring(1));
        int own = Integer.parseInt(type.substring(1));
        return wider.charAt(0) == type.charAt(0) ? bits >= own : wider.charAt(0) == 'i' && bits > own;
    }

    @Test
    void widenedIntegersKeepTheirValues() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) -1, (byte) 1);
            MemorySegment into = arena.allocate(16, 8);
            UnitedColumns.widen(from, DType.U8, 1, into, DType.I64, 2);
            assertEquals(List.of(255L, 1L), List.of(into.getAtIndex(ValueLayout.JAVA_LONG, 0),
                    into.getAtIndex(ValueLayout.JAVA_LONG, 1)));
            UnitedColumns.widen(from, DType.I8, 1, into, DType.I64, 2);
            assertEquals(-1L, into.getAtIndex(ValueLayout.JAVA_LONG, 0));
        }
    }
}
