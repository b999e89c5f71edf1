// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.lake.DataFile;
import io.penstock.lake.DeletedRows;
import io.penstock.lake.LakeStore;
import io.penstock.lake.TableColumn;
import io.penstock.lake.TableSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.jspecify.annotations.Nullable;

/**
 * The deletes by equality of a snapshot: files of rows, each of which deletes the rows of older data files that have
 * its values in some columns; null equals null. Which rows these are is in no file: the columns of each data file that
 * such deletes concern are read once, when the table is opened.
 *
 * <p>Source: "Equality Delete Files" of Iceberg's table specification.
 */
final class EqualityDeletes {

    private static final int FIRST_BYTES = 1 << 10;

    private record Rows(long[] positions, String id) implements DeletedRows {

        @Override
        public long count() {
            return positions.length;
        }
    }

    private final Location place;
    private final Table table;
    private final Function<String, Location> at;
    /** The deleted keys of each file of deletes. */
    private final Map<String, Set<ByteBuffer>> deleted = new HashMap<>();

    EqualityDeletes(Location place, Table table, Function<String, Location> at) {
        this.place = place;
        this.table = table;
        this.at = at;
    }

    /**
     * Finds the rows deleted from a data file.
     *
     * @param file the file, with all its rows
     * @param deletes the files of deletes that concern it
     * @param before the rows deleted otherwise; null if none
     */
    DeletedRows of(DataFile file, List<DeleteFile> deletes, @Nullable DeletedRows before) throws IOException {
        Map<List<Integer>, List<DeleteFile>> byColumns = new HashMap<>();
        deletes.forEach(each -> byColumns.computeIfAbsent(each.equalityFieldIds().stream().sorted().toList(),
                _ -> new ArrayList<>()).add(each));
        Set<Long> found = new HashSet<>();
        for (var entry : byColumns.entrySet()) {
            List<Set<ByteBuffer>> keys = new ArrayList<>();
            List<TableColumn> columns = columns(entry.getKey(), entry.getValue().getFirst());
            for (DeleteFile each : entry.getValue()) {
                keys.add(keys(each, columns));
            }
            visit(file, columns, (row, key) -> {
                if (keys.stream().anyMatch(set -> set.contains(key))) {
                    found.add(row);
                }
            });
        }
        LongStream rows = found.stream().mapToLong(Long::longValue);
        String names = deletes.stream().map(each -> each.location().substring(each.location().lastIndexOf('/') + 1))
                .sorted().collect(Collectors.joining(","));
        return new Rows((before == null ? rows : LongStream.concat(rows, LongStream.of(before.positions()))).sorted()
                .distinct().toArray(), (before == null ? "" : before.id() + ",") + names);
    }

    private Set<ByteBuffer> keys(DeleteFile file, List<TableColumn> columns) throws IOException {
        Set<ByteBuffer> found = deleted.get(file.location());
        if (found == null) {
            if (file.format() != FileFormat.PARQUET) {
                throw new MalformedStoreException(at.apply(file.location()), "deletes by equality in " + file.format(),
                        "in Parquet");
            }
            Set<ByteBuffer> keys = new HashSet<>();
            visit(new DataFile(file.location(), file.recordCount(), file.fileSizeInBytes(), 0, null,
                    DataFile.NO_CONSTANTS), columns, (_, key) -> keys.add(key));
            deleted.put(file.location(), keys);
            found = keys;
        }
        return found;
    }

    /** Returns the columns of some ids, in any schema that the table had: one may have been dropped since. */
    private List<TableColumn> columns(List<Integer> ids, DeleteFile of) {
        Map<Integer, TableColumn> known = new HashMap<>();
        List<Schema> schemas = new ArrayList<>(table.schemas().values());
        schemas.add(table.schema());
        for (Schema schema : schemas) {
            new IcebergColumns(table, schema).columns().forEach(column -> known.put(column.fieldId(), column));
        }
        List<TableColumn> columns = new ArrayList<>();
        for (int id : ids) {
            TableColumn column = known.get(id);
            if (column == null) {
                throw new MalformedStoreException(at.apply(of.location()), "deletes by equality of the column with id "
                        + id, "one that the table has or had");
            }
            columns.add(column);
        }
        return columns;
    }

    @FunctionalInterface
    private interface Visitor {

        void visit(long row, ByteBuffer key);
    }

    /** Reads the values of some columns of all rows of a file: each after its size, which is -1 for null. */
    private void visit(DataFile file, List<TableColumn> columns, Visitor visitor) {
        TableSnapshot all = new TableSnapshot("iceberg", place, "", "", columns, List.of(file), at);
        Span span = new Span();
        try (LakeStore rows = new LakeStore(all); SpanReader reader = new SpanReader(ReadMode.AUTO);
                Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(FIRST_BYTES);
            for (long row = 0; row < rows.size(); row++) {
                byte[][] values = new byte[columns.size()][];
                int bytes = 0;
                for (int c = 0; c < values.length; c++) {
                    if (rows.isPresent(row, c)) {
                        rows.locate(row, c, span);
                        if (span.byteSize() > copy.byteSize()) {
                            copy = arena.allocate(2 * span.byteSize());
                        }
                        reader.copy(span, copy, 0);
                        values[c] = copy.asSlice(0, span.byteSize()).toArray(ValueLayout.JAVA_BYTE);
                        bytes += values[c].length;
                    }
                }
                ByteBuffer key = ByteBuffer.allocate(bytes + Integer.BYTES * values.length);
                for (byte[] value : values) {
                    key.putInt(value == null ? -1 : value.length);
                    key.put(value == null ? new byte[0] : value);
                }
                visitor.visit(row, key.flip());
            }
        }
    }
}
