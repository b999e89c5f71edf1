// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Arrow, Polars and DuckDB wrote these files, in every encoding, page version and compression; what they hold is what
 * those libraries say: {@code src/test/python/parquet_fixtures.py}.
 */
class ParquetFixturesTest {

    @TestFactory
    Stream<DynamicTest> whatTheManifestHasIsReadTheSame() throws IOException {
        return Fixtures.entries("parquet").filter(entry -> entry.expect().equals("read")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> {
                    Map<String, Object> found = inspect(entry.path());
                    assertEquals(entry.fields().get("parquet"), found.get("parquet"));
                    assertEquals(entry.fields().get("schema"), found.get("schema"));
                    assertTable(Json.object(entry.fields().get("table")), Json.object(found.get("table")));
                }));
    }

    @TestFactory
    Stream<DynamicTest> whatTheManifestRejectsIsRefusedInOneLine() throws IOException {
        return Fixtures.entries("parquet").filter(entry -> entry.expect().equals("reject")).map(entry ->
                DynamicTest.dynamicTest(entry.toString(), () -> {
                    String message = assertThrows(MalformedStoreException.class, () -> inspect(entry.path()))
                            .getMessage();
                    assertTrue(message.contains(entry.path().toString()) && message.contains("magic"), message);
                    assertFalse(message.contains("\n"), message);
                }));
    }

    @TestFactory
    Stream<DynamicTest> whatOtherWritersEncodeInOtherWaysIsReadTheSame() throws IOException {
        Path folder = Fixtures.resource("parquet");
        Map<String, Object> expected = Json.object(Json.parse(Files.readAllBytes(folder.resolve("expected.json"))));
        return expected.entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey(), () ->
                assertTable(Json.object(entry.getValue()),
                        Json.object(inspect(folder.resolve(entry.getKey())).get("table")))));
    }

    private static Map<String, Object> inspect(Path path) throws IOException {
        return Json.object(Json.parse(Json.write(Inspection.of(path, Depth.CONTENT).toMap())));
    }

    private static void assertTable(Map<String, Object> expected, Map<String, Object> found) {
        assertEquals(expected.get("rows"), found.get("rows"));
        assertEquals(names(expected), names(found));
        List<Object> columns = Json.array(found.get("columns"));
        for (int i = 0; i < columns.size(); i++) {
            Map<String, Object> column = Json.object(columns.get(i));
            Json.object(Json.array(expected.get("columns")).get(i)).forEach((name, value) -> {
                if (!name.equals("spots")) {
                    assertEquals(value, column.get(name), column.get("name") + " " + name);
                }
            });
        }
    }

    private static List<Object> names(Map<String, Object> table) {
        List<Object> names = new ArrayList<>();
        Json.array(table.get("columns")).forEach(column -> names.add(Json.object(column).get("name")));
        return names;
    }
}
