// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rows that the versions of a table added, in order, each as a JSON object: the rows that files were added with, or
 * those of a change feed. A cursor is a version and the next row in it, so a run resumes exactly.
 *
 * {@snippet :
 * StreamSource added = new ChangeSource(DeltaTable.of(folder), "12", StreamEnd.WAIT, true);
 * try (StreamDataset rows = StreamDataset.builder(added).field("json").open(); …) {
 * }
 * }
 */
public final class ChangeSource implements StreamSource {

    private final LakeTable table;
    private final String from;
    private final StreamEnd end;
    private final boolean refuses;

    /**
     * A source of the changes after a version.
     *
     * @param table the table
     * @param from the version before the first that is read; {@code ""} to begin with the table's first
     * @param end what happens behind the newest version
     * @param refuses whether a version that deleted or replaced rows, of which no feed tells, is an error; otherwise it
     *     is skipped
     */
    public ChangeSource(LakeTable table, String from, StreamEnd end, boolean refuses) {
        this.table = table;
        this.from = from;
        this.end = end;
        this.refuses = refuses;
    }

    @Override
    public String fingerprint() {
        return "changes:table=" + table.id() + (from.isEmpty() ? "" : ":from=" + from);
    }

    @Override
    public List<String> partitions() {
        return List.of("changes");
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        if (cursor.isEmpty()) {
            return new Reader(table.changes(), from, 0);
        }
        int at = cursor.lastIndexOf('@');
        try {
            return new Reader(table.changes(), cursor.substring(at + 1), Long.parseLong(cursor.substring(0, at)));
        } catch (RuntimeException e) {
            throw new IOException(fingerprint() + ": found cursor '" + cursor + "', expected ROW@VERSION", e);
        }
    }

    /** Reads version by version. */
    private final class Reader implements PartitionReader {

        private final ChangeLog log;
        private final RowText text = new RowText();
        /** The version that is read, or was read last; the next row in it; its rows while they are read. */
        private String version;
        private long next;
        private @Nullable LakeStore rows;

        /** The first {@code next} rows of the version were given; of the version that a source begins behind, all. */
        Reader(ChangeLog log, String version, long next) throws IOException {
            this.log = log;
            this.version = version;
            this.next = next;
            if (next > 0) {
                rows = openRows(version);
            }
        }

        private @Nullable LakeStore openRows(String of) throws IOException {
            try {
                return new LakeStore(log.rows(of));
            } catch (UnsupportedOperationException e) {
                if (refuses) {
                    throw new IOException(e.getMessage(), e);
                }
                return null;
            }
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            while (true) {
                if (rows != null && next < rows.size()) {
                    byte[] row = text.of(rows, next++).getBytes(StandardCharsets.UTF_8);
                    into.add(row, 0, row.length);
                    return Found.RECORD;
                }
                close();
                Optional<String> following = log.after(version);
                if (following.isEmpty()) {
                    return end == StreamEnd.STOP ? Found.END : Found.NOTHING_YET;
                }
                LakeStore more = openRows(following.get());
                version = following.get();
                next = 0;
                rows = more;
            }
        }

        @Override
        public String cursor() {
            return next + "@" + version;
        }

        @Override
        public void close() {
            if (rows != null) {
                rows.close();
                rows = null;
            }
        }
    }

    /** Writes rows as JSON: numbers, truth values, null, bytes in base 64, text; floats that are not finite as null. */
    static final class RowText {

        private final Span span = new Span();

        String of(LakeStore rows, long row) {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            for (int c = 0; c < rows.columns().size(); c++) {
                Column column = rows.columns().get(c);
                members.put(column.name(), rows.isPresent(row, c) ? value(rows, row, c, column) : null);
            }
            return Json.write(members);
        }

        private @Nullable Object value(LakeStore rows, long row, int c, Column column) {
            rows.locate(row, c, span);
            MemorySegment bytes = span.slice();
            if (column.kind() != Column.Kind.NUMBERS) {
                byte[] content = bytes.toArray(ValueLayout.JAVA_BYTE);
                return column.kind() == Column.Kind.BYTES ? Base64.getEncoder().encodeToString(content)
                        : column.encoding().equals("json") ? Json.parse(content)
                        : new String(content, StandardCharsets.UTF_8);
            }
            DType dtype = column.spec().dtype();
            if (column.spec().rank() == 0) {
                return number(dtype, bytes, 0);
            }
            List<@Nullable Object> items = new ArrayList<>();
            for (long at = 0; at < bytes.byteSize(); at += dtype.byteSize()) {
                items.add(number(dtype, bytes, at));
            }
            return items;
        }

        private static @Nullable Object number(DType dtype, MemorySegment bytes, long at) {
            if (dtype == DType.BOOL) {
                return bytes.get(ValueLayout.JAVA_BYTE, at) != 0;
            }
            if (dtype.isFloat()) {
                double value = dtype.doubleAt(bytes, at);
                return !Double.isFinite(value) ? null
                        : dtype == DType.F32 ? (Object) Double.valueOf(Float.toString((float) value)) : value;
            }
            return dtype.longAt(bytes, at);
        }
    }
}
