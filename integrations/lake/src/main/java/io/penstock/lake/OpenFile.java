// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.RowFilter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An open data file: where its rows are that were not deleted, and how its columns become those of the table. */
final class OpenFile {

    /** A column of the table in this file; all are null if its values are null. */
    private record Source(int column, @Nullable MemorySegment constant, @Nullable Conversion conversion) {

        static final Source NULL = new Source(-1, null, null);
    }

    private final TableSnapshot snapshot;
    private final Location location;
    private final RecordStore rows;
    private final Source[] sources;
    private final Converted[] converted;
    private final Arena arena;
    /** For each deleted row, how many rows before it are not deleted; ascending. */
    private final long[] before;

    private OpenFile(TableSnapshot snapshot, Location location, RecordStore rows, Source[] sources, long[] deleted,
            Arena arena) {
        this.snapshot = snapshot;
        this.location = location;
        this.rows = rows;
        this.sources = sources;
        this.converted = new Converted[sources.length];
        this.arena = arena;
        this.before = new long[deleted.length];
        for (int d = 0; d < deleted.length; d++) {
            before[d] = deleted[d] - d;
        }
    }

    static RecordStore parquet(Location location) throws IOException {
        return RecordStore.open(location, OpenOptions.DEFAULT.withFormat("parquet"));
    }

    static OpenFile open(TableSnapshot snapshot, DataFile file, List<Column> columns, Arena arena,
            Function<byte[], MemorySegment> constants) throws IOException {
        Location location = snapshot.at().apply(file.path());
        String expected = file.bytes() + " bytes with " + file.rows() + " rows, as " + snapshot + " has";
        try {
            if (location.byteSize() != file.bytes()) {
                throw new MalformedStoreException(location, location.byteSize() + " bytes", expected
                        + ": was it replaced or cut?");
            }
        } catch (NoSuchFileException e) {
            throw new MalformedStoreException(location, "found no such file, expected " + expected
                    + ": was it removed by a vacuum or an expiry of versions?", e);
        }
        RecordStore rows = parquet(location);
        try {
            if (rows.size() != file.rows()) {
                throw new MalformedStoreException(location, rows.size() + " rows", expected + ": was it replaced?");
            }
            long[] deleted = file.deleted() == null ? new long[0] : file.deleted().positions();
            if (file.deleted() != null && deleted.length != file.deleted().count()) {
                throw new MalformedStoreException(location, deleted.length + " deleted rows",
                        file.deleted().count() + ", as " + snapshot + " has");
            }
            return new OpenFile(snapshot, location, rows, sources(snapshot, file, columns, rows, location, constants),
                    deleted, arena);
        } catch (Throwable t) {
            rows.close();
            throw t;
        }
    }

    private static Source[] sources(TableSnapshot snapshot, DataFile file, List<Column> columns, RecordStore rows,
            Location location, Function<byte[], MemorySegment> constants) throws IOException {
        Map<String, @Nullable Object> details = rows.inspect(Inspection.Depth.STRUCTURE, Progress.NONE).details();
        Map<Long, String> byId = new HashMap<>();
        if (Json.object(details.get("parquet")).get("field_ids") instanceof Map<?, ?> ids) {
            ids.forEach((name, id) -> byId.put((Long) id, (String) name));
        }
        Map<String, String> storedTypes = new HashMap<>();
        for (Object column : Json.array(Json.object(details.get("table")).get("columns"))) {
            Map<String, @Nullable Object> described = Json.object(column);
            storedTypes.put((String) described.get("name"), (String) described.get("stored_dtype"));
        }
        Map<String, Integer> byName = new HashMap<>();
        for (int c = 0; c < rows.columns().size(); c++) {
            byName.put(rows.columns().get(c).name(), c);
        }
        Source[] sources = new Source[columns.size()];
        for (int c = 0; c < sources.length; c++) {
            TableColumn column = snapshot.columns().get(c);
            // Files of before the table had ids, which a migration took over, have names alone.
            String inFile = column.fieldId() >= 0 && !byId.isEmpty() ? byId.get((long) column.fieldId())
                    : column.inFile();
            Integer found = inFile == null ? null : byName.get(inFile);
            if (column.constant() >= 0 && column.constant() < file.constants().length) {
                byte[] value = file.constants()[column.constant()];
                sources[c] = value == null ? Source.NULL : new Source(-1, constants.apply(value), null);
            } else if (found != null) {
                Column own = rows.columns().get(found);
                sources[c] = new Source(found, null, Conversion.of(own, storedTypes.getOrDefault(own.name(), ""),
                        column, columns.get(c), location));
            } else if (inFile != null && rows.unreadColumns().containsKey(inFile)) {
                throw new MalformedStoreException(location, "column '" + inFile + "' that cannot be read: "
                        + rows.unreadColumns().get(inFile), "one that can, for '" + column.name() + "'");
            } else {
                sources[c] = column.absent() == null ? Source.NULL
                        : new Source(-1, constants.apply(column.absent()), null);
            }
        }
        return sources;
    }

    /** Returns the row in the file of the {@code live}-th row that was not deleted. */
    long position(long live) {
        int low = 0;
        int high = before.length;
        while (low < high) {
            int mid = low + high >>> 1;
            if (before[mid] <= live) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return live + low;
    }

    /** Returns which of the rows that were not deleted a row of the file is; -1 if it was deleted. */
    long live(long position) {
        int low = 0;
        int high = before.length;
        while (low < high) {
            int mid = low + high >>> 1;
            if (before[mid] + mid < position) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low < before.length && before[low] + low == position ? -1 : position - low;
    }

    RecordStore rows() {
        return rows;
    }

    /** Tells whether all rows have one value in a column, or are null. */
    boolean isConstant(int c) {
        return sources[c].column < 0;
    }

    @Nullable MemorySegment constant(int c) {
        return sources[c].constant;
    }

    /** Returns the position of a column in the file: -1 if it is converted, {@link RowFilter#KNOWN} if constant. */
    int columnInFile(int c) {
        return isConstant(c) ? RowFilter.KNOWN : sources[c].conversion == null ? sources[c].column : -1;
    }

    boolean isPresent(long row, int c) {
        Source source = sources[c];
        return source.constant != null || source.column >= 0
                && (source.conversion == null ? rows.isPresent(row, source.column) : converted(c).isPresent(row));
    }

    void locate(long row, int c, Span into) {
        Source source = sources[c];
        if (source.constant != null) {
            into.set(source.constant, 0, source.constant.byteSize());
        } else if (!isPresent(row, c)) {
            throw new MalformedStoreException(location, "row " + row + " of column '" + snapshot.columns().get(c).name()
                    + "' is null", "a value: leave the row out, or choose what stands for a missing value");
        } else if (source.conversion == null) {
            rows.locate(row, source.column, into);
        } else {
            converted(c).locate(row, into);
        }
    }

    private synchronized Converted converted(int c) {
        Converted values = converted[c];
        if (values == null) {
            Source source = sources[c];
            values = Converted.of(rows, source.column, Objects.requireNonNull(source.conversion), arena);
            converted[c] = values;
        }
        return values;
    }

    void close() {
        rows.close();
    }
}
