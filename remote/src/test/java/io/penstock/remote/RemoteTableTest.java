// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Column;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.Rows;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables on a web server: what is read of them is fetched, and not the files. */
class RemoteTableTest {

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");
    private static final int BLOCK_BYTES = 1 << 12;

    @TempDir
    private Path cache;

    private static RemoteFiles files(ObjectHost web, Path cache) {
        return RemoteFiles.of(web.settings(cache).withBlockBytes(BLOCK_BYTES), Map.of());
    }

    /** Returns the bytes of the ranges that were asked for. */
    private static long fetched(ObjectHost web) {
        long bytes = 0;
        for (String request : web.gets()) {
            Matcher range = RANGE.matcher(request);
            while (range.find()) {
                bytes += Long.parseLong(range.group(2)) - Long.parseLong(range.group(1)) + 1;
            }
        }
        return bytes;
    }

    @Test
    void ofAParquetFileTheFooterAndTheChunksOfTheColumnsReadAreFetched() throws IOException {
        Path file = Fixtures.resource("parquet/filters/filters.parquet");
        try (ObjectHost web = ObjectHost.start(); Arena arena = Arena.ofConfined()) {
            web.put("table.parquet", Files.readAllBytes(file));
            Location location = files(web, cache).locate(web.url("table.parquet"));
            try (RecordStore rows = RecordStore.open(location, OpenOptions.DEFAULT);
                    SpanReader reader = new SpanReader(ReadMode.AUTO)) {
                long opened = fetched(web);
                assertTrue(opened < Files.size(file) / 4, opened + " bytes fetched to open a file of "
                        + Files.size(file));
                int id = rows.columns().stream().map(Column::name).toList().indexOf("id");
                MemorySegment value = arena.allocate(Long.BYTES);
                Span span = new Span();
                for (long row = 1000; row < 1010; row++) {
                    rows.locate(row, id, span);
                    reader.copy(span, value, 0);
                    assertEquals(row, value.get(LittleEndian.I64, 0));
                }
                long read = fetched(web) - opened;
                assertTrue(read > 0 && read < Files.size(file) / 8, read + " bytes fetched for a page of "
                        + Files.size(file));
            }
            assertTrue(web.problems().isEmpty(), web.problems().toString());
        }
    }

    @Test
    void whatStatisticsExcludeIsNotFetched() throws IOException {
        Path file = Fixtures.resource("parquet/filters/filters.parquet");
        try (ObjectHost web = ObjectHost.start()) {
            web.put("table.parquet", Files.readAllBytes(file));
            Location location = files(web, cache).locate(web.url("table.parquet"));
            try (RecordStore rows = RecordStore.open(location, OpenOptions.DEFAULT)) {
                long opened = fetched(web);
                assertEquals(0, rows.rowsWhere("small > 200 and id >= 0").length);
                assertTrue(fetched(web) - opened <= 4 * BLOCK_BYTES, fetched(web) - opened + " bytes");
                assertArrayEquals(new long[] {1234}, rows.rowsWhere("id = 1234"));
                assertTrue(fetched(web) < Files.size(file) / 2, fetched(web) + " of " + Files.size(file) + " bytes");
            }
        }
    }

    @Test
    void aCsvFileOnAServerIsTheTableThatItIsLocally(@TempDir Path local) throws IOException {
        StringBuilder text = new StringBuilder("id,name,x\n");
        for (int i = 0; i < 3000; i++) {
            text.append(i).append(",\"name ").append(i).append("\"\"\",").append(i / 8.0).append('\n');
        }
        Path file = Files.writeString(local.resolve("table.csv"), text);
        try (ObjectHost web = ObjectHost.start(); RecordStore expected = RecordStore.open(file)) {
            web.put("table.csv", text.toString().getBytes(StandardCharsets.UTF_8));
            Location location = files(web, cache).locate(web.url("table.csv"));
            try (RecordStore rows = RecordStore.open(location, OpenOptions.DEFAULT)) {
                assertEquals(Rows.of(expected), Rows.of(rows));
                assertArrayEquals(new long[] {2999}, rows.rowsWhere("x >= 374.875 and name != 'none'"));
            }
            assertTrue(web.problems().isEmpty(), web.problems().toString());
        }
    }
}
