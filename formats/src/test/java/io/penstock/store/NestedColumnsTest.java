// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Arrow's own library wrote these files, with every type at the top, in lists and deeper, in both versions of the
 * metadata; what is in them is what it read: {@code src/test/python/nested_fixtures.py}.
 */
class NestedColumnsTest {

    @TempDir
    private Path folder;

    static Path file(String name) {
        return Fixtures.resource("nested").resolve(name);
    }

    @TestFactory
    Stream<DynamicTest> everyRowOfEveryColumnIsWhatArrowReads() throws IOException {
        Map<String, Object> expected = expected();
        return expected.keySet().stream().filter(name -> !name.equals("digests")).map(name ->
                DynamicTest.dynamicTest(name, () -> assertReadsAs(file(name), Json.object(
                        expected.get(name) instanceof String same ? expected.get(same) : expected.get(name)))));
    }

    private static Map<String, Object> expected() throws IOException {
        return Json.object(Json.parse(Files.readAllBytes(file("expected.json"))));
    }

    @TestFactory
    Stream<DynamicTest> rowsOfManyBlocksAreWhatArrowReadsToAllThreads() throws IOException {
        return Json.object(expected().get("digests")).entrySet().stream().map(entry ->
                DynamicTest.dynamicTest(entry.getKey(), () -> {
                    try (RecordStore store = RecordStore.open(file(entry.getKey()))) {
                        String[] rows = new String[(int) store.size()];
                        IntStream.range(0, rows.length).parallel().forEach(row -> rows[row] = json(store, row));
                        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
                        for (String row : rows) {
                            sha256.update((row + "\n").getBytes(StandardCharsets.UTF_8));
                        }
                        assertEquals(entry.getValue(), HexFormat.of().formatHex(sha256.digest()));
                    }
                }));
    }

    private static String json(RecordStore store, long row) {
        return json(store, row, 0);
    }

    private static String json(RecordStore store, long row, int column) {
        if (!store.isPresent(row, column)) {
            return "null";
        }
        Span span = new Span();
        store.locate(row, column, span);
        return new String(span.slice().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    @Test
    void aColumnThatCannotBeReadIsListedWithItsReasonAndNoOtherIsRefused() throws IOException {
        Map<String, Object> table =
                Json.object(Inspection.of(file("brotli.parquet"), Depth.CONTENT).details().get("table"));
        assertEquals(List.of(Map.of("name", "cannot", "type", "list<element: string>", "reason",
                "compressed with BROTLI")), table.get("unsupported"));
    }

    /** A text of row 1 is made no UTF-8. */
    @ParameterizedTest
    @ValueSource(strings = {"small/nested_stream.arrow", "small/nested.parquet"})
    void aTextThatIsNotUtf8SpoilsItsRowAlone(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(file(name));
        // The first one is the value; statistics come behind it.
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("turn 0 of 1 ");
        bytes[at] = (byte) 0xC0;
        Path damaged = Files.write(folder.resolve("damaged"), bytes);
        try (RecordStore whole = RecordStore.open(file(name)); RecordStore store = RecordStore.open(damaged,
                OpenOptions.DEFAULT.withFormat(name.endsWith("arrow") ? "arrow" : "parquet"))) {
            for (long row = 0; row < store.size(); row++) {
                if (row != 1) {
                    assertEquals(json(whole, row), json(store, row));
                }
            }
            assertFalse(store.isPresent(1, 0));
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(1, 0, new Span()))
                    .getMessage();
            assertTrue(message.contains("row 1 of column 'conv'") && message.contains("not UTF-8"), message);
        }
    }

    /** A length that no data stand behind takes no memory, and is refused or has no effect. */
    @Test
    void lengthsThatAreFarTooLargeAreRefused() throws IOException {
        byte[] bytes = Files.readAllBytes(file("small/nested_stream.arrow"));
        Path damaged = folder.resolve("damaged.arrow");
        int refused = 0;
        for (int at = 0; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
            // The lengths of arrays that have one or two values a row.
            if (buffer.getLong(at) == 8 || buffer.getLong(at) == 16) {
                Files.write(damaged, buffer.putLong(at, 1L << 60).array());
                try (RecordStore store = RecordStore.open(damaged)) {
                    for (int c = 0; c < store.columns().size(); c++) {
                        json(store, store.size() - 1, c);
                    }
                } catch (MalformedStoreException _) {
                    refused++;
                }
            }
        }
        assertTrue(refused > 20, refused + " were refused");
    }

    @Test
    void rowsOfWhichEachHasItemsAreNoMoreThanThereAreItems() throws IOException {
        byte[] bytes = Files.readAllBytes(file("small/fixed_stream.arrow"));
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
            if (buffer.getLong(at) == 8) {
                buffer.putLong(at, 1L << 60);
            }
        }
        Path damaged = Files.write(folder.resolve("damaged.arrow"), bytes);
        String message = assertThrows(MalformedStoreException.class, () -> RecordStore.open(damaged)).getMessage();
        assertTrue(message.contains("column 'all' of 16 values, expected at least " + (1L << 61)), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"many.arrow", "many.parquet"})
    void locatingAllocatesNothingOnceTheBlockIsWritten(String name) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RecordStore store = RecordStore.open(file(name))) {
            Span span = new Span();
            long least = Long.MAX_VALUE;
            for (int window = 0; window < 30 && least > 0; window++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 20_000; i++) {
                    if (store.isPresent(i % 2000, 0)) {
                        store.locate(i % 2000, 0, span);
                    }
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    private static void assertReadsAs(Path file, Map<String, Object> expected) throws IOException {
        try (RecordStore store = RecordStore.open(file)) {
            List<String> names = store.columns().stream().map(Column::name).toList();
            assertEquals(new TreeSet<>(expected.keySet()), new TreeSet<>(names));
            // Backwards: no value may depend on what was read before it.
            for (long row = store.size() - 1; row >= 0; row--) {
                for (int c = 0; c < names.size(); c++) {
                    List<Object> rows = Json.array(expected.get(names.get(c)));
                    assertEquals(rows.size(), store.size());
                    assertValue(store, row, c, rows.get((int) row));
                }
            }
        }
    }

    private static void assertValue(RecordStore store, long row, int c, Object expected) {
        Column column = store.columns().get(c);
        String where = column + ", row " + row;
        Span span = new Span();
        if (!(expected instanceof String text)) {
            assertFalse(store.isPresent(row, c), where);
            String message = assertThrows(MalformedStoreException.class, () -> store.locate(row, c, span), where)
                    .getMessage();
            assertTrue(message.contains("row " + row + " of column '" + column.name() + "'"), message);
            assertTrue(message.contains(expected == null ? "null" : "list of which an item is null"), message);
            return;
        }
        assertTrue(store.isPresent(row, c), where);
        store.locate(row, c, span);
        byte[] bytes = span.slice().toArray(ValueLayout.JAVA_BYTE);
        assertEquals(text, column.kind() == Column.Kind.TEXT ? new String(bytes, StandardCharsets.UTF_8)
                : HexFormat.of().formatHex(bytes), where);
        if (column.encoding().equals("json")) {
            Json.parse(bytes);
        }
    }
}
