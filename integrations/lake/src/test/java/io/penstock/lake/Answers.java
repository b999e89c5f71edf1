// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.json.Json;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;

/** What Spark read from a version of a table, to compare with: a line of JSON for each row, without nulls. */
public final class Answers {

    /** Fails unless a store has the rows that Spark read, in any order. */
    public static void check(Path answer, LakeStore rows) throws IOException {
        List<Map<String, Object>> expected = new ArrayList<>();
        for (String line : Files.readAllLines(answer)) {
            expected.add(withoutNulls(Json.object(Json.parse(line))));
        }
        List<Map<String, Object>> found = new ArrayList<>(rows(rows));
        found.sort(Comparator.comparing(row -> (Long) row.get("id")));
        assertEquals(expected.size(), rows.size());
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).toString(), found.get(i).toString(), answer.toString());
        }
    }

    /** Returns the rows in their order, without nulls. */
    public static List<Map<String, Object>> rows(LakeStore rows) {
        ChangeSource.RowText text = new ChangeSource.RowText();
        List<Map<String, Object>> found = new ArrayList<>();
        for (long row = 0; row < rows.size(); row++) {
            found.add(withoutNulls(Json.object(Json.parse(text.of(rows, row)))));
        }
        return found;
    }

    /** Returns the column {@code id} in the order of the rows. */
    public static List<Object> ids(LakeStore rows) {
        return rows(rows).stream().map(row -> row.get("id")).toList();
    }

    private static Map<String, Object> withoutNulls(Map<String, @Nullable Object> row) {
        Map<String, Object> present = new TreeMap<>();
        row.forEach((name, value) -> {
            if (value != null) {
                present.put(name, value);
            }
        });
        return present;
    }

    /**
     * Unpacks the tables of a test and the answers.
     *
     * @param test the test, in whose package {@code tables.zip} is
     */
    public static Path unpack(Class<?> test, Path to) throws IOException {
        try (ZipInputStream in = new ZipInputStream(Objects.requireNonNull(test.getResourceAsStream("tables.zip")))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                Path file = to.resolve(entry.getName());
                Files.createDirectories(file.getParent());
                Files.copy(in, file);
            }
        }
        return to;
    }

    /** Returns the answers: a file {@code TABLE-VERSION.jsonl} for each version. */
    public static List<Path> of(Path unpacked) throws IOException {
        try (Stream<Path> files = Files.list(unpacked.resolve("answers"))) {
            return files.sorted().toList();
        }
    }

    /** Returns all records of a source from a cursor on, each with the cursor behind it. */
    public static List<Map.Entry<String, Map<String, Object>>> read(StreamSource source, String cursor)
            throws IOException {
        List<Map.Entry<String, Map<String, Object>>> found = new ArrayList<>();
        try (PartitionReader reader = source.open(0, cursor); RecordBuffer buffer = new RecordBuffer()) {
            while (reader.poll(buffer) == PartitionReader.Found.RECORD) {
                byte[] record = buffer.record(0).toArray(ValueLayout.JAVA_BYTE);
                found.add(Map.entry(reader.cursor(), withoutNulls(Json.object(Json.parse(record)))));
                buffer.clear();
            }
        }
        return found;
    }
}
