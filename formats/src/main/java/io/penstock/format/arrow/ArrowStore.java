// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.table.Partitions;
import io.penstock.format.table.TableInspection;
import io.penstock.format.table.UnitedColumns;
import io.penstock.format.table.UnreadColumn;
import io.penstock.internal.PrefixSums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of Arrow IPC files or streams, in order; their columns are matched by name. Values are views of the mapped
 * files at any alignment, unless their buffer is compressed, holds booleans, which are stored as bits, or narrower
 * numbers than other files have: such a buffer is decoded when a value in it is first located. Values that are neither
 * numbers nor bytes nor text are given as JSON, written for some rows at a time when one of them is located.
 *
 * <p>Opening reads the metadata of every batch and checks all sizes; it reads nothing per row. A row is found in O(1):
 * its batch by an index, its value by its number or by two offsets, which are checked then.
 */
final class ArrowStore implements RecordStore {

    /**
     * Consecutive files of one schema.
     *
     * @param columns the table's columns in the order of the store's; null where these files have none
     */
    private record Section(ArrowTable table, List<MappedFile> files, @Nullable ArrowColumn[] columns) {
    }

    private final Location path;
    private final List<MappedFile> files;
    private final DecodedBuffers decoded;
    private final Section[] sections;
    private final PrefixSums starts;
    /** The columns that files store, then those that the names of folders say. */
    private final List<Column> columns;
    private final List<String> storedTypes;
    private final List<UnreadColumn> unread;
    private final int storedCount;
    private final Partitions partitions;
    private final PrefixSums fileStarts;
    private final long size;
    private volatile @Nullable String fingerprint;

    private ArrowStore(Location path, List<MappedFile> files, DecodedBuffers decoded, Partitions.Files list)
            throws IOException {
        this.path = path;
        this.files = files;
        this.decoded = decoded;
        UnitedColumns united = new UnitedColumns();
        List<List<MappedFile>> runs = new ArrayList<>();
        List<String> before = List.of();
        for (MappedFile file : files) {
            List<ArrowField> fields = file.reading(() -> ArrowFile.schema(file));
            List<String> schema = fields.stream().map(field -> field.name() + ": " + field.typeText()).toList();
            if (runs.isEmpty() || !schema.equals(before)) {
                runs.add(new ArrayList<>());
                united.add(file.location(), ArrowLayout.of(fields).columns().stream().map(ArrowShape::own).toList());
            }
            runs.getLast().add(file);
            before = schema;
        }
        Map<String, Column> byName = united.columns().stream().collect(Collectors.toMap(Column::name,
                column -> column));
        List<ArrowTable> tables = new ArrayList<>();
        Map<String, UnreadColumn> refused = new LinkedHashMap<>();
        long rowsBefore = 0;
        for (List<MappedFile> run : runs) {
            tables.add(ArrowTable.read(run, decoded, byName, rowsBefore));
            rowsBefore += tables.getLast().rows().batches().total();
            tables.getLast().unread().forEach(column -> refused.putIfAbsent(column.name(), column));
        }
        this.unread = List.copyOf(refused.values());
        List<Column> stored = united.columns().stream().filter(column -> tables.stream().noneMatch(table ->
                table.column(column.name()) == null && table.unread().stream()
                        .anyMatch(other -> other.name().equals(column.name())))).toList();
        this.storedCount = stored.size();
        this.sections = IntStream.range(0, runs.size()).mapToObj(i -> new Section(tables.get(i), runs.get(i),
                stored.stream().map(column -> tables.get(i).column(column.name())).toArray(ArrowColumn[]::new)))
                .toArray(Section[]::new);
        this.starts = PrefixSums.ofLengths(sections.length, i -> tables.get(i).rows().batches().total());
        long[] rows = tables.stream().flatMap(table -> table.fileRows().stream()).mapToLong(Long::longValue).toArray();
        this.fileStarts = PrefixSums.ofLengths(rows.length, file -> rows[file]);
        this.size = starts.total();
        if (stored.isEmpty()) {
            throw new MalformedStoreException(path, "no column that can be read: " + unread, "at least one");
        }
        this.partitions = list.partitions(stored.stream().map(Column::name).collect(Collectors.toSet()));
        this.columns = Stream.concat(stored.stream(), partitions.columns().stream()).toList();
        this.storedTypes = Stream.concat(stored.stream().map(united::storedType), partitions.types().stream())
                .toList();
    }

    /**
     * Opens a file or stream, or a folder of several; {@code member} is the wanted split, null if the folder has one.
     */
    static ArrowStore open(Location path, @Nullable String member, DecodeLimit limit) throws IOException {
        List<MappedFile> files = new ArrayList<>();
        DecodedBuffers decoded = new DecodedBuffers();
        try {
            Partitions.Files list = ArrowFiles.of(path, member);
            for (Location file : list.locations()) {
                files.add(file.open());
            }
            ArrowStore store = new ArrowStore(path, List.copyOf(files), decoded, list);
            decoded.freeze(path, limit, store.storedBytes());
            return store;
        } catch (UncheckedIOException e) {
            files.forEach(MappedFile::close);
            throw e.getCause();
        } catch (Throwable t) {
            files.forEach(MappedFile::close);
            throw t;
        }
    }

    private long storedBytes() {
        return files.stream().mapToLong(MappedFile::byteSize).sum();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public Map<String, String> unreadColumns() {
        return UnreadColumn.reasons(unread);
    }

    @Override
    public boolean isPresent(long record, int column) {
        Objects.checkIndex(record, size);
        if (column >= storedCount) {
            return partitions.isPresent(fileStarts.runOf(record), column - storedCount);
        }
        int section = section(record);
        ArrowColumn found = sections[section].columns[column];
        return found != null && found.isPresent(record - starts.start(section));
    }

    @Override
    public void locate(long record, int column, Span into) {
        if (record < 0 || record >= size) {
            throw new IndexOutOfBoundsException(path + ": row " + record + " is not within 0 to " + size);
        }
        if (column >= storedCount) {
            partitions.locate(fileStarts.runOf(record), column - storedCount, into);
            return;
        }
        int section = section(record);
        ArrowColumn found = sections[section].columns[column];
        if (found == null) {
            throw new MalformedStoreException(files.get(fileStarts.runOf(record)).location(),
                    "row " + record + " of column '" + columns.get(column).name() + "' is null: this file has no value"
                    + " of the column", "a value");
        }
        found.locate(record - starts.start(section), into);
    }

    private int section(long record) {
        return sections.length == 1 ? 0 : starts.runOf(record);
    }

    @Override
    public String storedType(int column) {
        return storedTypes.get(column);
    }

    @Override
    public boolean isConverted(int column) {
        return column < storedCount && Arrays.stream(sections).map(section -> section.columns[column])
                .anyMatch(found -> found != null && found.isConverted());
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) {
        Map<String, @Nullable Object> details = Json.members("container",
                ArrowFile.hasFooter(files.getFirst()) ? "file" : "stream");
        if (files.getFirst().location().equals(path)) {
            PrefixSums batches = sections[0].table.rows().batches();
            details.put("batch_rows", IntStream.range(0, batches.runs()).mapToObj(batches::length).toList());
        } else {
            details.put("shards", IntStream.range(0, files.size()).mapToObj(f -> {
                return Json.members("path", files.get(f).location().toString(), "rows", fileStarts.length(f));
            }).toList());
        }
        Map<String, @Nullable Object> content = TableInspection.of(this, sections[0].table.schema(), storedTypes,
                depth.digests(), progress, storedBytes());
        UnreadColumn.describe(unread, content);
        details.put("table", content);
        return new Inspection(path, "arrow", files.stream().map(MappedFile::location).toList(), details);
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            files.forEach(sample::add);
            partitions.addTo(sample);
            fingerprint = "arrow:rows=" + size + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public void close() {
        decoded.close();
        partitions.close();
        files.forEach(MappedFile::close);
    }

    @Override
    public String toString() {
        return path + " (" + size + " rows of " + columns + ")";
    }
}
