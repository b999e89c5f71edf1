// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.MissingValue;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.DecodedOnce;
import io.penstock.format.table.JsonText;
import io.penstock.format.table.Partitions;
import io.penstock.format.table.TableInspection;
import io.penstock.format.table.UnitedColumns;
import io.penstock.format.table.UnreadColumn;
import io.penstock.internal.PrefixSums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedCache;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.RowFilter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of Parquet files. Pages of a column are decoded when one of their rows is located, or before by a loader's
 * plan, into {@linkplain CachedColumns memory of a bounded size}; or a column chunk, a column of one row group, into a
 * copy on disk. Values that are neither numbers nor bytes nor text are given as JSON.
 */
final class ParquetStore implements RecordStore {

    static final String ENDING = ".parquet";

    private final Location path;
    private final ParquetFiles files;
    private final List<ParquetPart> parts;
    /** The columns that files store, then those that the names of folders say. */
    private final List<Column> columns;
    private final List<String> storedTypes;
    private final List<UnreadColumn> unread;
    private final int storedCount;
    /** For each file and column how it is read; null if the file has no value of it. Files of one schema share it. */
    private final @Nullable ParquetColumn[][] read;
    private final Partitions partitions;
    /** The file of each row group that has rows, and its number there. */
    private final int[] groupParts;
    private final int[] groupNumbers;
    private final PrefixSums starts;
    /** The decoded columns: all in a copy on disk, or as many as fit in memory; the other one is null. */
    private final @Nullable DecodedOnce<ColumnBlock> blocks;
    private final DecodedSpill copy;
    private final @Nullable CachedColumns cached;
    private volatile @Nullable String fingerprint;

    private ParquetStore(Location path, ParquetFiles files, Partitions.Files places, DecodeLimit limit,
            @Nullable DecodedCache cache) throws IOException {
        this.path = path;
        this.files = files;
        this.parts = files.parts();
        Map<Schema, ParquetPart> kinds = new LinkedHashMap<>();
        parts.forEach(part -> kinds.putIfAbsent(part.schema(), part));
        this.unread = unread(kinds.keySet());
        Set<String> refused = refused(kinds.keySet());
        UnitedColumns united = new UnitedColumns();
        kinds.forEach((schema, first) -> united.add(first.location(), schema.columns().stream()
                .filter(column -> !refused.contains(column.column().name())).map(ParquetColumn::own).toList()));
        List<Column> stored = united.columns();
        this.storedCount = stored.size();
        Map<Schema, @Nullable ParquetColumn[]> ways = new HashMap<>();
        kinds.keySet().forEach(schema -> ways.put(schema, read(schema, stored)));
        this.read = parts.stream().map(part -> ways.get(part.schema())).toArray(ParquetColumn[][]::new);
        this.partitions = places.partitions(stored.stream().map(Column::name).collect(Collectors.toSet()));
        this.columns = Stream.concat(stored.stream(), partitions.columns().stream()).toList();
        this.storedTypes = Stream.concat(stored.stream().map(united::storedType), partitions.types().stream())
                .toList();
        long groups = parts.stream().flatMapToLong(part -> Arrays.stream(part.rows())).filter(rows -> rows > 0).count();
        if (groups * storedCount > Integer.MAX_VALUE - Long.BYTES) {
            throw new MalformedStoreException(path, groups + " row groups of " + storedCount + " columns",
                    "less than 2^31 column chunks");
        }
        this.groupParts = new int[(int) groups];
        this.groupNumbers = new int[(int) groups];
        int found = 0;
        for (int p = 0; p < parts.size(); p++) {
            long[] rows = parts.get(p).rows();
            for (int g = 0; g < rows.length; g++) {
                if (rows[g] > 0) {
                    groupParts[found] = p;
                    groupNumbers[found++] = g;
                }
            }
        }
        this.starts = PrefixSums.ofLengths(groupParts.length,
                group -> parts.get(groupParts[group]).rows()[groupNumbers[group]]).indexed();
        int chunks = groupParts.length * storedCount;
        this.copy = new DecodedSpill(path);
        this.cached = cache == null ? null : new CachedColumns(cache, starts, storedCount, limit, new Chunks());
        this.blocks = cached == null
                ? new DecodedOnce<>(chunks, chunk -> files.kept(partOf(chunk / storedCount)),
                        this::decode) : null;
    }

    /**
     * Opens Parquet files and checks their footers.
     *
     * @param path a file, or a folder whose {@code .parquet} files are one table, in the order of their names; those of
     *     folders named {@code key=value} too
     * @param member one of several tables in a folder: {@code train} for {@code train-00000-of-00010.parquet} and so
     *     on; null if there is one
     * @param limit what each file may decode to; a column beyond it fails when it is read
     */
    static ParquetStore open(Location path, @Nullable String member, DecodeLimit limit) throws IOException {
        return open(path, member, limit, DecodedCache.isWanted() ? DecodedCache.configured(path) : null);
    }

    /** Opens Parquet files; their columns are decoded into a cache, which is closed with the store, or on disk. */
    static ParquetStore open(Location path, @Nullable String member, DecodeLimit limit, @Nullable DecodedCache cache)
            throws IOException {
        ParquetFiles parts = new ParquetFiles(limit, cache == null);
        try {
            Partitions.Files files = Partitions.Files.of(path, ENDING, _ -> "", member);
            parts.addAll(path, files.locations());
            return new ParquetStore(path, parts, files, limit, cache);
        } catch (Throwable t) {
            parts.close();
            if (cache != null) {
                cache.close();
            }
            throw t;
        }
    }

    /** Returns the columns that a file has but that cannot be read in it: they are read in no file. */
    private static List<UnreadColumn> unread(Set<Schema> schemas) {
        Map<String, UnreadColumn> found = new LinkedHashMap<>();
        for (Schema schema : schemas) {
            schema.unread().forEach(column -> found.putIfAbsent(column.name(), column));
        }
        return List.copyOf(found.values());
    }

    /** Returns the names of columns that cannot be read in some file and that it does not have otherwise. */
    private static Set<String> refused(Set<Schema> schemas) {
        return schemas.stream().filter(schema -> !schema.unread().isEmpty()).flatMap(schema -> schema.unread()
                .stream().map(UnreadColumn::name).filter(name -> schema.columns().stream()
                        .noneMatch(column -> column.column().name().equals(name)))).collect(Collectors.toSet());
    }

    private static @Nullable ParquetColumn[] read(Schema schema, List<Column> columns) {
        Map<String, ParquetColumn> byName = schema.columns().stream().collect(Collectors.toMap(
                column -> column.column().name(), column -> column));
        return columns.stream().map(column -> {
            ParquetColumn own = byName.get(column.name());
            return own == null ? null : own.as(column);
        }).toArray(ParquetColumn[]::new);
    }

    @Override
    public long size() {
        return starts.total();
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
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        if (column >= storedCount) {
            return partitions.isPresent(groupParts[group], column - storedCount);
        }
        return read[groupParts[group]][column] != null
                && state(group, column, record - starts.start(group)) == ColumnBlock.PRESENT;
    }

    @Override
    public void locate(long record, int column, Span into) {
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        if (column >= storedCount) {
            partitions.locate(groupParts[group], column - storedCount, into);
            return;
        }
        if (read[groupParts[group]][column] == null) {
            throw malformed(group, "row " + record + " of column '" + columns.get(column).name()
                    + "' is null: this file has no value of the column");
        }
        byte state = locate(group, column, record - starts.start(group), into);
        if (state != ColumnBlock.PRESENT) {
            String why = state == ColumnBlock.NULL ? "is null" : columns.get(column).kind() == Column.Kind.NUMBERS
                    ? "is a list of which an item is null"
                    : "has a text that is not UTF-8, or takes more than " + JsonText.MAX_VALUE_BYTES + " bytes as JSON";
            throw malformed(group, "row " + record + " of column '" + columns.get(column).name() + "' " + why);
        }
    }

    /** Returns the memory of decoded rows; empty if they are on disk. */
    Optional<DecodedCache> cache() {
        return Optional.ofNullable(cached).map(CachedColumns::cache);
    }

    private byte state(int group, int column, long row) {
        return cached != null ? cached.state(group * storedCount + column, row) : block(group, column).state(row);
    }

    /** Returns a row's state; locates its value if it has one. */
    private byte locate(int group, int column, long row, Span into) {
        if (cached != null) {
            return cached.locate(group * storedCount + column, row, into);
        }
        ColumnBlock block = block(group, column);
        byte state = block.state(row);
        if (state == ColumnBlock.PRESENT) {
            block.locate(row, into);
        }
        return state;
    }

    @Override
    public boolean gather(long[] records, int count, int column, long valueBytes, MemorySegment target,
            long targetOffset, long[] scratch) {
        return cached != null && column < storedCount && cached.gather(column, records, count, valueBytes,
                target, targetOffset, scratch);
    }

    private MalformedStoreException malformed(int group, String found) {
        return new MalformedStoreException(partOf(group).location(), found, MissingValue.EXPECTED);
    }

    private ParquetPart partOf(int group) {
        return parts.get(groupParts[group]);
    }

    private int groupOf(long record) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(path + ": row " + record + ", expected 0 to " + (size() - 1));
        }
        return starts.runOf(record);
    }

    private ColumnBlock block(int group, int column) {
        return Objects.requireNonNull(blocks).get(group * storedCount + column);
    }

    private CachedColumns.Source source(int chunk) {
        int group = chunk / storedCount;
        return new CachedColumns.Source(files, partOf(group), Objects.requireNonNull(
                read[groupParts[group]][chunk % storedCount]), groupNumbers[group]);
    }

    private final class Chunks implements CachedColumns.Sources {

        @Override
        public CachedColumns.Source of(int chunk) {
            return source(chunk);
        }

        @Override
        public boolean has(int chunk) {
            return read[groupParts[chunk / storedCount]][chunk % storedCount] != null;
        }
    }

    private ColumnBlock decode(int chunk) throws IOException {
        CachedColumns.Source from = source(chunk);
        return files.reading(from.part(), (file, metadata) -> {
            try (DecodeBuffers buffers = new DecodeBuffers()) {
                return from.column().decode(file, metadata.groups().get(from.group()), files.budget(from.part()),
                        buffers, copy::append);
            }
        });
    }

    @Override
    public String storedType(int column) {
        return storedTypes.get(column);
    }

    /** {@inheritDoc} Row groups, and pages of those with a page index, are read if their bounds may have such rows. */
    @Override
    public long[] rowsWhere(RowFilter filter) {
        RowFilter.FoundRows found = new RowFilter.FoundRows();
        for (int group = 0; group < groupParts.length; group++) {
            long[] runs = runs(filter, group);
            for (int r = 0; r < runs.length; r += 2) {
                filter.find(this, starts.start(group) + runs[r], starts.start(group) + runs[r + 1], found);
            }
        }
        return found.toArray();
    }

    /** Returns the runs of rows of a group among which there may be some, starts and ends in turns. */
    private long[] runs(RowFilter filter, int group) {
        int part = groupParts[group];
        boolean mayHold = filter.mayHold(column -> column >= storedCount, column -> {
            if (!partitions.isPresent(part, column - storedCount)) {
                return null;
            }
            Span value = new Span();
            partitions.locate(part, column - storedCount, value);
            return value.slice();
        });
        return !mayHold ? new long[0] : files.reading(parts.get(part), (file, metadata) -> runs(filter, part, file,
                metadata.groups().get(groupNumbers[group])));
    }

    private long[] runs(RowFilter filter, int part, MappedFile file, RowGroup group) {
        if (!filter.mayHold(column -> column >= storedCount ? null : bounds(read[part][column], file, group))) {
            return new long[0];
        }
        long[] runs = {0, group.rows()};
        for (int column : filter.columns()) {
            if (column < storedCount && read[part][column] instanceof Flat flat && ColumnBounds.areKnown(flat)) {
                ColumnBounds.OfPages pages = ColumnBounds.ofPages(file, group.chunks().get(flat.leaf().index()), flat,
                        group.rows());
                if (pages != null) {
                    boolean[] may = new boolean[pages.firstRows().length];
                    for (int p = 0; p < may.length; p++) {
                        RowFilter.Bounds bounds = pages.bounds().get(p);
                        may[p] = filter.mayHold(other -> other == column ? bounds : null);
                    }
                    runs = ColumnBounds.intersect(runs, pages, may, group.rows());
                }
            }
        }
        return runs;
    }

    private static RowFilter.@Nullable Bounds bounds(@Nullable ParquetColumn column, MappedFile file, RowGroup group) {
        if (column == null) {
            return new RowFilter.Bounds(null, null, group.rows(), group.rows());
        }
        return column instanceof Flat flat && ColumnBounds.areKnown(flat)
                ? ColumnBounds.ofChunk(file, group.chunks().get(flat.leaf().index()), flat) : null;
    }

    /** Always true: pages are encoded. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return true;
    }

    @Override
    public long maxLength(int column) {
        Column found = columns.get(column);
        return found.spec().rank() > 0 && !found.spec().isVariable() ? found.spec().dim(0) : -1;
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) {
        ParquetPart first = parts.getFirst();
        Map<String, @Nullable Object> parquet = new LinkedHashMap<>();
        parquet.put("row_groups", parts.stream().flatMap(part -> Arrays.stream(part.rows()).boxed()).toList());
        files.reading(first, (_, metadata) -> {
            parquet.put("created_by", metadata.createdBy());
            parquet.put("format_version", metadata.version() == 1 ? "1.0" : "2.6");
            return parquet.put("column_chunks", metadata.groups().stream().findFirst()
                    .map(group -> group.chunks().stream().map(ParquetStore::describe).toList()).orElse(List.of()));
        });
        Map<String, Object> fieldIds = first.schema().fieldIds();
        if (!fieldIds.isEmpty()) {
            parquet.put("field_ids", fieldIds);
        }
        Map<String, @Nullable Object> table = TableInspection.of(this, null, storedTypes, depth.digests(), progress,
                parts.stream().mapToLong(ParquetPart::byteSize).sum());
        UnreadColumn.describe(unread, table);
        Map<String, @Nullable Object> details = Json.members("schema", first.schema().lines(), "parquet", parquet,
                "converted", true, "table", table);
        return new Inspection(path, "parquet", parts.stream().map(ParquetPart::location).toList(), details);
    }

    private static Map<String, @Nullable Object> describe(ColumnChunk chunk) {
        Map<String, @Nullable Object> map = Json.members("path", chunk.name(), "physical", chunk.physical().toString());
        // Arrow's name, which it also uses for LZ4 in Hadoop's framing.
        map.put("compression", switch (chunk.compression()) {
            case NONE -> "UNCOMPRESSED";
            case LZ4_RAW -> "LZ4";
            default -> chunk.compression().toString();
        });
        map.put("encodings", chunk.encodings().stream().map(Encoding::toString).sorted().distinct().toList());
        return map;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null && !files.fingerprint().isEmpty()) {
            fingerprint = files.fingerprint();
        }
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            parts.forEach(part -> files.reading(part, (file, _) -> sample.add(file)));
            partitions.addTo(sample);
            fingerprint = "parquet:rows=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
            files.keep(fingerprint);
        }
        return fingerprint;
    }

    @Override
    public void close() {
        if (cached != null) {
            cached.close();
        }
        copy.close();
        partitions.close();
        files.close();
    }

    @Override
    public String toString() {
        return path + " (" + size() + " rows: " + columns + ")";
    }
}
