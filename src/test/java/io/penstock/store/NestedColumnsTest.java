package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.json.Json;
import io.penstock.memory.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
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
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Arrow's own library wrote these files, with every type at the top, in lists and deeper, in both versions of the
 * metadata; what is in them is what it read: {@code src/test/python/nested_fixtures.py}.
 */
class NestedColumnsTest {

    static Path file(String name) {
        return Fixtures.path("../nested").resolve(name);
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
        if (!store.isPresent(row, 0)) {
            return "null";
        }
        Span span = new Span();
        store.locate(row, 0, span);
        return new String(span.segment().asSlice(span.byteOffset(), span.byteSize()).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
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
            String message = assertThrows(UncheckedIOException.class, () -> store.locate(row, c, span), where)
                    .getCause().getMessage();
            assertTrue(message.contains("row " + row + " of column '" + column.name() + "'"), message);
            assertTrue(message.contains(expected == null ? "null" : "list of which an item is null"), message);
            return;
        }
        assertTrue(store.isPresent(row, c), where);
        store.locate(row, c, span);
        byte[] bytes = span.segment().asSlice(span.byteOffset(), span.byteSize()).toArray(ValueLayout.JAVA_BYTE);
        assertEquals(text, column.kind() == Column.Kind.TEXT ? new String(bytes, StandardCharsets.UTF_8)
                : HexFormat.of().formatHex(bytes), where);
        if (column.encoding().equals("json")) {
            Json.parse(bytes);
        }
    }
}
