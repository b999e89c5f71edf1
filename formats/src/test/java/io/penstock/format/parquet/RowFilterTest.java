// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.publish.DecodedCache;
import io.penstock.io.publish.DecodedCache.Spilling;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.store.RowFilter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows that pyarrow's compute functions find: see {@code make_filters.py} beside the file. */
class RowFilterTest {

    private static final Path FOLDER = Fixtures.resource("parquet/filters");

    @TempDir
    private Path folder;

    private static ParquetStore open() throws IOException {
        Location file = Location.of(FOLDER.resolve("filters.parquet"));
        return ParquetStore.open(file, null, DecodeLimit.DEFAULT,
                DecodedCache.isWanted() ? new DecodedCache("test", file, 64L << 20, Spilling.AUTO) : null);
    }

    @Test
    void conditionsHoldForTheRowsThatPyarrowFinds() throws IOException {
        Map<String, Object> answers = Json.object(Json.parse(Files.readAllBytes(FOLDER.resolve("filters.json"))));
        assertEquals(32, answers.size());
        try (RecordStore rows = open()) {
            for (var answer : answers.entrySet()) {
                long[] expected = Json.array(answer.getValue()).stream().mapToLong(row -> (Long) row).toArray();
                assertArrayEquals(expected, rows.rowsWhere(answer.getKey()), answer.getKey());
                RowFilter.FoundRows found = new RowFilter.FoundRows();
                RowFilter.parse(answer.getKey(), rows.columns(), rows::storedType).find(rows, 0, rows.size(), found);
                assertArrayEquals(expected, found.toArray(), answer.getKey() + ", of all rows");
            }
        }
    }

    @Test
    void whatCannotHaveSuchRowsIsNotDecoded() throws IOException {
        try (ParquetStore rows = open()) {
            if (rows.cache().isEmpty()) {
                return;
            }
            DecodedCache cache = rows.cache().orElseThrow();
            assertEquals(0, rows.rowsWhere("small > 200 and id >= 0").length);
            assertEquals(0, rows.rowsWhere("never = 1").length);
            assertEquals(0, rows.rowsWhere("id is null").length);
            assertEquals(0, cache.decodedBytes());
            assertEquals(1, rows.rowsWhere("id = 1234").length);
            long some = cache.decodedBytes();
            assertTrue(some > 0);
            assertEquals(3000, rows.rowsWhere("id >= 0").length);
            assertTrue(cache.decodedBytes() > 2 * some, cache.decodedBytes() + " of all, " + some + " of one page");
        }
    }

    @Test
    void aSubsetKeepsTheNumbersOfItsRows() throws IOException {
        try (RecordStore rows = open()) {
            Dataset some = RecordFields.of(rows).and("id").select(rows.rowsWhere("late < 1510 and late != 1505"));
            assertEquals(9, some.size());
            assertEquals(rows.key(1506), some.key(5));
        }
    }

    @Test
    void filesWithoutTheColumnAndFoldersOfAnotherValueHaveNoSuchRows() throws IOException {
        for (String year : List.of("2023", "2024")) {
            Path part = Files.createDirectories(folder.resolve("year=" + year));
            Files.copy(FOLDER.resolve("filters.parquet"), part.resolve("part.parquet"));
        }
        Files.copy(Fixtures.resource("parquet/plain-v1.parquet"), folder.resolve("other.parquet"));
        try (RecordStore rows = RecordStore.open(folder)) {
            long first = rows.size() - 6000;
            assertArrayEquals(new long[] {first + 7, first + 3007}, rows.rowsWhere("id = 7"));
            assertArrayEquals(new long[] {first + 3007}, rows.rowsWhere("id = 7 and year = 2024"));
            assertEquals(first, rows.rowsWhere("year is null").length);
            assertEquals(0, rows.rowsWhere("year < 2023").length);
        }
    }

    @Test
    void whatIsNoConditionIsNamed() throws IOException {
        try (RecordStore rows = open()) {
            refuses(rows, "idd = 1", "found a condition on column 'idd', expected one of [id, n, ");
            refuses(rows, "id == 1", "found 'id == 1' in condition 'id == 1', expected COLUMN OP VALUE");
            refuses(rows, "id = x", "found 'x', expected a number to compare column 'id' with");
            refuses(rows, "day = 'tomorrow'", "found 'tomorrow', expected a date32[day] to compare column 'day' with");
            refuses(rows, "flag = 2", "found '2', expected true or false to compare column 'flag' with");
            refuses(rows, " ", "found an empty condition");
            refuses(rows, "", "found an empty condition");
        }
    }

    private static void refuses(RecordStore rows, String where, String message) {
        String found = assertThrows(IllegalArgumentException.class, () -> rows.rowsWhere(where)).getMessage();
        assertTrue(found.contains(message), found);
    }
}
