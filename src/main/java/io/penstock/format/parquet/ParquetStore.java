// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.ColumnBlock;
import io.penstock.format.ColumnBlocks;
import io.penstock.format.Fingerprint;
import io.penstock.format.JsonText;
import io.penstock.format.MissingValue;
import io.penstock.format.ShardFiles;
import io.penstock.format.TableInspection;
import io.penstock.format.UnreadColumn;
import io.penstock.internal.PrefixSums;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.io.spill.DecodedSpill;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rows of Parquet files. A column chunk, a column of one row group, is decoded when one of its rows is first
 * located; then look-ups read the decoded copy. Values that are neither numbers nor bytes nor text are given as JSON.
 */
final class ParquetStore implements RecordStore {

    private record Group(ParquetPart part, RowGroup rows) {
    }

    private final Location path;
    private final List<ParquetPart> parts;
    private final List<Column> columns;
    private final Group[] groups;
    private final PrefixSums starts;
    private final ColumnBlocks blocks;
    private final DecodedSpill copy;
    private volatile @Nullable String fingerprint;

    private ParquetStore(Location path, List<ParquetPart> parts) throws MalformedStoreException {
        this.path = path;
        this.parts = parts;
        this.columns = parts.getFirst().columns().stream().map(ParquetColumn::column).toList();
        List<Group> found = new ArrayList<>();
        for (ParquetPart part : parts) {
            checkSame(part);
            part.metadata().groups().stream().filter(group -> group.rows() > 0)
                    .forEach(group -> found.add(new Group(part, group)));
        }
        if ((long) found.size() * columns.size() > Integer.MAX_VALUE - Long.BYTES) {
            throw new MalformedStoreException(path, found.size() + " row groups of " + columns.size() + " columns",
                    "less than 2^31 column chunks");
        }
        this.groups = found.toArray(Group[]::new);
        this.starts = PrefixSums.ofLengths(groups.length, group -> groups[group].rows().rows());
        this.blocks = new ColumnBlocks(groups.length * columns.size(), this::decode);
        this.copy = new DecodedSpill(path);
    }

    /**
     * Opens Parquet files and checks their footers.
     *
     * @param path a file, or a folder whose {@code .parquet} files are one table, in the order of their names
     * @param member one of several tables in a folder: {@code train} for {@code train-00000-of-00010.parquet} and so
     *     on; null if there is one
     * @param limit what each file may decode to; a column beyond it fails when it is read
     */
    static ParquetStore open(Location path, @Nullable String member, DecodeLimit limit) throws IOException {
        boolean isFolder = path.isFolder();
        if (!isFolder && member != null) {
            throw new IllegalArgumentException(path + ": one file is one table, found '" + member + "'");
        }
        List<ParquetPart> parts = new ArrayList<>();
        try {
            for (Location file : isFolder ? ShardFiles.of(path, ".parquet", _ -> "", member) : List.of(path)) {
                parts.add(ParquetPart.open(file, limit));
            }
            return new ParquetStore(path, List.copyOf(parts));
        } catch (Throwable t) {
            parts.forEach(ParquetPart::close);
            throw t;
        }
    }

    private void checkSame(ParquetPart part) throws MalformedStoreException {
        List<Column> found = part.columns().stream().map(ParquetColumn::column).toList();
        String first = parts.getFirst().file().location().name();
        if (!found.equals(columns)) {
            throw new MalformedStoreException(part.file().location(), "the columns " + found, columns + ", as "
                    + first + " has");
        }
        for (int c = 0; c < columns.size(); c++) {
            ParquetColumn own = part.columns().get(c);
            ParquetColumn expected = parts.getFirst().columns().get(c);
            // Times are given as their counts of units, which the columns do not have.
            if (own instanceof Flat flat && expected instanceof Flat other && !flat.hasUnitOf(other)) {
                throw new MalformedStoreException(part.file().location(), "column '" + own.column().name() + "' of "
                        + own.storedType(), expected.storedType() + ", as " + first + " has");
            }
        }
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
        return UnreadColumn.reasons(parts.getFirst().schema().unread());
    }

    @Override
    public boolean isPresent(long record, int column) {
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        return block(group, column).state(record - starts.start(group)) == ColumnBlock.PRESENT;
    }

    @Override
    public void locate(long record, int column, Span into) {
        int group = groupOf(record);
        Objects.checkIndex(column, columns.size());
        ColumnBlock block = block(group, column);
        long row = record - starts.start(group);
        byte state = block.state(row);
        if (state != ColumnBlock.PRESENT) {
            String why = state == ColumnBlock.NULL ? "is null" : columns.get(column).kind() == Column.Kind.NUMBERS
                    ? "is a list of which an item is null"
                    : "has a text that is not UTF-8, or takes more than " + JsonText.MAX_VALUE_BYTES + " bytes as JSON";
            throw new UncheckedIOException(new MalformedStoreException(groups[group].part().file().location(), "row "
                    + record + " of column '" + columns.get(column).name() + "' " + why,
                    MissingValue.EXPECTED));
        }
        block.locate(row, into);
    }

    private int groupOf(long record) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(path + ": row " + record + ", expected 0 to " + (size() - 1));
        }
        return starts.runOf(record);
    }

    private ColumnBlock block(int group, int column) {
        return blocks.get(group * columns.size() + column, groups[group].part().file());
    }

    private ColumnBlock decode(int block) throws IOException {
        Group from = groups[block / columns.size()];
        return from.part().columns().get(block % columns.size()).decode(from.part().file(), from.rows(),
                from.part().budget(), copy);
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
        parquet.put("row_groups", parts.stream().flatMap(part -> part.metadata().groups().stream())
                .map(RowGroup::rows).toList());
        parquet.put("created_by", first.metadata().createdBy());
        parquet.put("format_version", first.metadata().version() == 1 ? "1.0" : "2.6");
        parquet.put("column_chunks", first.metadata().groups().stream().findFirst()
                .map(group -> group.chunks().stream().map(ParquetStore::describe).toList()).orElse(List.of()));
        Map<String, @Nullable Object> table = TableInspection.of(this, null,
                first.columns().stream().map(ParquetColumn::storedType).toList(), depth.digests(), progress,
                parts.stream().mapToLong(part -> part.file().byteSize()).sum());
        UnreadColumn.describe(first.schema().unread(), table);
        Map<String, @Nullable Object> details = Json.members("schema", first.schema().lines(), "parquet", parquet,
                "converted", true, "table", table);
        return new Inspection(path, "parquet", parts.stream().map(part -> part.file().location()).toList(), details);
    }

    private static Map<String, @Nullable Object> describe(ColumnChunk chunk) {
        Map<String, @Nullable Object> map = Json.members("path", chunk.name(), "physical", chunk.physical().toString());
        // Arrow's name, which it also uses for LZ4 in Hadoop's framing.
        map.put("compression", chunk.compression() == Compression.LZ4_RAW ? "LZ4" : chunk.compression().toString());
        map.put("encodings", chunk.encodings().stream().map(Encoding::toString).sorted().distinct().toList());
        return map;
    }

    @Override
    public String fingerprint() {
        if (fingerprint == null) {
            Fingerprint sample = new Fingerprint();
            parts.forEach(part -> sample.add(part.file()));
            fingerprint = "parquet:rows=" + size() + ":columns=" + columns.size() + ":sha256=" + sample.hex();
        }
        return fingerprint;
    }

    @Override
    public void close() {
        copy.close();
        parts.forEach(ParquetPart::close);
    }

    @Override
    public String toString() {
        return path + " (" + size() + " rows: " + columns + ")";
    }
}
