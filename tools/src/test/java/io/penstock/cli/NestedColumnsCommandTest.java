// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What commands give of columns of lists, structs and maps, and of rows that have no value. */
class NestedColumnsCommandTest {

    @TempDir
    Path folder;

    private static Path file(String name) {
        return Fixtures.resource(name.startsWith("fixtures/") ? name : "nested/" + name);
    }

    private static String text(RecordStore store, String column, long row) {
        int c = store.columns().stream().map(Column::name).toList().indexOf(column);
        Span span = new Span();
        store.locate(row, c, span);
        return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"small/nested_file.arrow", "small/nested.parquet"})
    void conversationsAreInspectedAndBatchedAsJson(String name) {
        Map<String, Object> table = Json.object(CommandRun.of("inspect", file(name), "--json").json().get("table"));
        List<Object> columns = Json.array(table.get("columns"));
        Map<String, Object> conversations = Json.object(columns.getFirst());
        assertEquals("conv", conversations.get("name"));
        assertEquals("u8", conversations.get("dtype"));
        assertTrue(conversations.get("stored_dtype").toString().startsWith("list<"), conversations.toString());
        CommandRun run = CommandRun.of("batches", file(name), "--fields", "conv", "--batch", 2, "--json",
                "--skip-incomplete");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("\"conv\""), run.out());
        run = CommandRun.of("stream", file(name), "--fields", "conv", "--batch", 2, "--steps", 3,
                "--skip-incomplete");
        assertEquals(0, run.exitCode(), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"small/nested_file.arrow", "small/nested.parquet"})
    void conversationsBecomeMembersOfTarsThatEndInJson(String name) throws IOException {
        CommandRun run = CommandRun.of("convert", file(name), folder.resolve("x.tar"), "--to", "webdataset", "--fields",
                "conv,map");
        assertEquals(0, run.exitCode(), run.err());
        try (RecordStore rows = RecordStore.open(file(name)); RecordStore tar = RecordStore.open(
                folder.resolve("x.tar"))) {
            assertEquals(List.of("conv.json", "map.json"), tar.columns().stream().map(Column::name).sorted().toList());
            assertEquals(text(rows, "conv", 3), text(tar, "conv.json", 3));
            assertEquals("[[\"b\",3]]", text(tar, "map.json", 3));
        }
    }

    /** The longest value is looked for first, or the batch is made: either way one line and status 3. */
    @ParameterizedTest
    @CsvSource({"fixtures/parquet/nulls.parquet, s", "fixtures/parquet/nulls.parquet, x",
        "fixtures/arrow/nulls.arrow, maybe_text", "small/nested.parquet, conv", "small/lists.parquet, l_i16",
        "small/lists_file.arrow, l_i16", "small/nested_file.arrow, conv"})
    void aRowWithoutAValueIsBadInputInOneLine(String name, String column) {
        CommandRun run = CommandRun.of("batches", file(name), "--fields", column, "--batch", 4, "--no-shuffle");
        assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        String fileName = Path.of(name).getFileName().toString();
        assertTrue(run.err().contains(fileName + ": row ") && run.err().contains("column '" + column + "'"), run.err());
    }

    @Test
    void aColumnThatCannotBeReadIsRefusedWithItsReasonWhereItIsAskedFor() {
        CommandRun run = CommandRun.of("batches", file("brotli.parquet"), "--fields", "can,cannot");
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode());
        assertTrue(run.err().contains("column 'cannot' cannot be read: compressed with BROTLI"), run.err());
        run = CommandRun.of("convert", file("brotli.parquet"), folder.resolve("x.tar"), "--fields", "cannot");
        assertTrue(run.err().contains("column 'cannot' cannot be read: compressed with BROTLI"), run.err());
        assertEquals(0, CommandRun.of("batches", file("brotli.parquet")).exitCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"small/lists.parquet", "small/lists_file.arrow"})
    void aListWithANullIsABadSampleAndTheOthersAreRead(String name) {
        CommandRun run = CommandRun.of("batches", file(name), "--fields", "l_i16", "--batch", 4, "--json",
                "--bad-samples", "skip");
        assertEquals(0, run.exitCode(), run.err());
        List<Map<String, Object>> batches = run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
        // Of rows 0 and 7 the list is null, of rows 3 and 4 an item of it.
        assertEquals(4, batches.stream().mapToLong(batch -> (long) batch.get("valid")).sum());
        assertTrue(batches.stream().allMatch(batch -> List.of(1L, 2L, 5L, 6L).containsAll(Json.array(
                batch.get("samples")))), run.out());
    }
}
