// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of {@code make_tables.py}, which knows what is in them. {@code -Dpenstock.tables=FILE} reads others, such as
 * those of {@code make_tables.py FILE 2000}.
 */
class TableFilesTest {

    private static final String CASES = System.getProperty("penstock.tables", "");

    private static final Map<String, String> TYPES = Map.of("i64", "int64", "f64", "double", "bool", "bool", "date",
            "date32[day]", "timestamp[us]", "timestamp[us]", "text", "string");

    @TempDir
    private Path folder;

    @Test
    void valuesAreThoseThatWereWritten() throws IOException {
        Random random = new Random(5);
        int files = 0;
        try (BufferedReader cases = new BufferedReader(new InputStreamReader(CASES.isEmpty()
                ? Objects.requireNonNull(TableFilesTest.class.getResourceAsStream("tables.jsonl"))
                : Files.newInputStream(Path.of(CASES)), StandardCharsets.UTF_8))) {
            for (String line = cases.readLine(); line != null; line = cases.readLine()) {
                JsonFields one = JsonFields.parse(line, "a table");
                Path file = folder.resolve(one.text("name"));
                Files.write(file, Base64.getDecoder().decode(one.text("bytes")));
                String options = Json.write(one.take("options"));
                List<JsonFields> columns = one.objects("columns");
                Path description = folder.resolve(file.getFileName() + ".table.json");
                Files.writeString(description, options);
                List<String> expected = columns.stream().map(TableFilesTest::expected).toList();
                try (RecordStore table = RecordStore.open(file)) {
                    assertEquals(expected, contents(table), file + " " + options);
                }
                for (int i = 0; i < 3; i++) {
                    int blockBytes = 1 + random.nextInt(i == 0 ? 8 : 300);
                    try (TextTable table = TextTable.open(Location.of(file), TextTable.Kind.CSV,
                            TableOptions.parse(options), null, DecodeLimit.DEFAULT, blockBytes)) {
                        assertEquals(expected, contents(table), file + " in blocks of " + blockBytes);
                    }
                }
                Files.delete(file);
                Files.delete(description);
                files++;
            }
        }
        assertTrue(files >= 100, files + " files");
    }

    private static String expected(JsonFields column) {
        String name = column.text("name");
        String type = column.text("type");
        List<Object> values = new ArrayList<>();
        for (Object value : column.array("values")) {
            values.add(value instanceof String text && type.equals("f64") ? number(text) : value);
        }
        return name + " " + TYPES.get(type) + " " + values;
    }

    /** Returns what Python's {@code float.hex()} wrote. */
    private static String number(String hex) {
        return Double.toHexString(Double.parseDouble(hex.replace("inf", "Infinity")));
    }

    private static List<String> contents(RecordStore table) throws IOException {
        Inspection inspection = table.inspect(Inspection.Depth.STRUCTURE, Progress.NONE);
        List<JsonFields> described = JsonFields.parse(Json.write(inspection.details().get("table")), "a table")
                .objects("columns");
        List<String> all = new ArrayList<>();
        for (int c = 0; c < table.columns().size(); c++) {
            List<Object> values = new ArrayList<>();
            for (long row = 0; row < table.size(); row++) {
                values.add(table.isPresent(row, c) ? value(table, row, c) : null);
            }
            all.add(table.columns().get(c).name() + " " + described.get(c).text("stored_dtype") + " " + values);
        }
        return all;
    }

    private static Object value(RecordStore table, long row, int c) {
        Span span = new Span();
        table.locate(row, c, span);
        Column column = table.columns().get(c);
        if (column.kind() == Column.Kind.TEXT) {
            return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }
        return switch (column.spec().dtype()) {
            case F64 -> Double.toHexString(span.segment().get(LittleEndian.F64, span.byteOffset()));
            case BOOL -> span.segment().get(ValueLayout.JAVA_BYTE, span.byteOffset()) == 1;
            case I32 -> span.segment().get(LittleEndian.I32, span.byteOffset());
            default -> span.segment().get(LittleEndian.I64, span.byteOffset());
        };
    }
}
