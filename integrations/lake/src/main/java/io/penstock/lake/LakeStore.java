// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.RowFilter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a table at a version. Opening reads no data; a data file is opened when one of its rows is first located,
 * and stays open until the store is closed.
 *
 * <p>A row's index is its place in the order of {@link TableSnapshot}, and stays the same while rows are only appended
 * to the table. The fields of a struct are columns, {@code info.b}; lists of numbers are numbers; other lists, maps and
 * decimals are JSON; dates are days and timestamps microseconds since 1970-01-01. A column that a file does not have is
 * null there, or has the default that the table says.
 */
public final class LakeStore implements RecordStore {

    private static final int HEX_DIGITS = 16;

    private final TableSnapshot snapshot;
    private final List<Column> columns;
    /** The index of the first row of each file, and the number of rows. */
    private final long[] starts;
    private final AtomicReferenceArray<@Nullable OpenFile> open;
    private final Arena arena = Arena.ofShared();
    /** The values that whole files have, by themselves. */
    private final Map<ByteBuffer, MemorySegment> constants = new HashMap<>();
    private volatile @Nullable String fingerprint;

    /**
     * Opens a version, or any files of it.
     *
     * @param snapshot the version
     */
    public LakeStore(TableSnapshot snapshot) {
        this.snapshot = snapshot;
        this.columns = snapshot.columns().stream().map(column -> column.type().column(column.name())).toList();
        this.starts = new long[snapshot.files().size() + 1];
        for (int f = 0; f < snapshot.files().size(); f++) {
            starts[f + 1] = starts[f] + snapshot.files().get(f).live();
        }
        this.open = new AtomicReferenceArray<>(snapshot.files().size());
    }

    /** {@return the version and its files} */
    public TableSnapshot snapshot() {
        return snapshot;
    }

    @Override
    public long size() {
        return starts[starts.length - 1];
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public boolean isPresent(long record, int column) {
        int f = fileOf(record);
        OpenFile file = file(f);
        return file.isPresent(file.position(record - starts[f]), Objects.checkIndex(column, columns.size()));
    }

    @Override
    public void locate(long record, int column, Span into) {
        int f = fileOf(record);
        OpenFile file = file(f);
        file.locate(file.position(record - starts[f]), Objects.checkIndex(column, columns.size()), into);
    }

    /** {@return the record's data file and its row there} */
    @Override
    public String name(long record) {
        int f = fileOf(record);
        String path = snapshot.files().get(f).path();
        return path.substring(path.lastIndexOf('/') + 1) + " row " + file(f).position(record - starts[f]);
    }

    /** Always true: Parquet's pages are encoded. */
    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, columns.size());
        return true;
    }

    /** {@return the type as Arrow calls it, for dates, times and decimals} */
    @Override
    public String storedType(int column) {
        return switch (snapshot.columns().get(column).type().kind()) {
            case DATE -> "date32[day]";
            case TIME -> "time64[us]";
            case TIMESTAMP -> "timestamp[us]";
            case TIMESTAMP_NANOS -> "timestamp[ns]";
            case DECIMAL -> "decimal";
            default -> "";
        };
    }

    /**
     * {@inheritDoc} Files whose partition cannot have such rows are not opened; of others, what their statistics
     * exclude is not read.
     */
    @Override
    public long[] rowsWhere(RowFilter filter) {
        RowFilter.FoundRows found = new RowFilter.FoundRows();
        for (int f = 0; f < snapshot.files().size(); f++) {
            DataFile of = snapshot.files().get(f);
            if (starts[f] < starts[f + 1] && filter.mayHold(c -> constant(c, of), c -> {
                byte[] value = of.constants()[snapshot.columns().get(c).constant()];
                return value == null ? null : MemorySegment.ofArray(value);
            })) {
                OpenFile file = file(f);
                if (filter.mayHold(file::isConstant, file::constant)) {
                    find(filter, f, file, found);
                }
            }
        }
        return found.toArray();
    }

    private boolean constant(int c, DataFile file) {
        int constant = snapshot.columns().get(c).constant();
        return constant >= 0 && constant < file.constants().length;
    }

    /** Asks the data file, which knows its statistics, if it has the columns as the table has them. */
    private void find(RowFilter filter, int f, OpenFile file, RowFilter.FoundRows found) {
        RowFilter inFile = filter.over(file::columnInFile, file.rows().columns());
        if (inFile == null) {
            filter.find(this, starts[f], starts[f + 1], found);
            return;
        }
        for (long position : file.rows().rowsWhere(inFile)) {
            long live = file.live(position);
            if (live >= 0) {
                found.add(starts[f] + live);
            }
        }
    }

    private int fileOf(long record) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(snapshot + ": row " + record + ", expected 0 to " + (size() - 1));
        }
        int at = Arrays.binarySearch(starts, record);
        int f = at >= 0 ? at : -at - 2;
        while (starts[f + 1] == record) {
            f++;        // files of which all rows are deleted
        }
        return f;
    }

    private OpenFile file(int f) {
        OpenFile file = open.getPlain(f);
        return file != null ? file : openFile(f);
    }

    private synchronized OpenFile openFile(int f) {
        OpenFile file = open.get(f);
        if (file == null) {
            try {
                file = OpenFile.open(snapshot, snapshot.files().get(f), columns, arena, this::constant);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            open.set(f, file);
        }
        return file;
    }

    private MemorySegment constant(byte[] value) {
        return constants.computeIfAbsent(ByteBuffer.wrap(value), _ -> arena.allocate(Math.max(1, value.length))
                .asSlice(0, value.length).copyFrom(MemorySegment.ofArray(value)));
    }

    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) {
        List<Map<String, @Nullable Object>> described = new ArrayList<>();
        for (int c = 0; c < columns.size(); c++) {
            Column column = columns.get(c);
            Map<String, @Nullable Object> map = Json.members("name", column.name(), "dtype",
                    column.spec().dtype().toString(), "stored_dtype", snapshot.columns().get(c).type().toString());
            if (depth.digests()) {
                map.put("sha256", digest(c));
                progress.update((c + 1) * size(), columns.size() * size());
            }
            described.add(map);
        }
        List<DataFile> files = snapshot.files();
        Map<String, @Nullable Object> details = Json.members("table_id", snapshot.id(), "version", snapshot.version(),
                "data_files", (long) files.size(), "data_bytes", files.stream().mapToLong(DataFile::bytes).sum(),
                "deleted_rows", files.stream().mapToLong(file -> file.rows() - file.live()).sum(),
                "converted", true, "table", Json.members("rows", size(), "columns", described));
        return new Inspection(snapshot.table(), snapshot.format(), List.of(snapshot.table()), details);
    }

    /** Digests the values of a column with their lengths, in the order of the rows. */
    private String digest(int c) {
        MessageDigest sha256 = sha256();
        Span span = new Span();
        for (long row = 0; row < size(); row++) {
            boolean isPresent = isPresent(row, c);
            if (isPresent) {
                locate(row, c, span);
            }
            sha256.update(ByteBuffer.allocate(Long.BYTES).putLong(0, isPresent ? span.byteSize() : -1));
            if (isPresent) {
                sha256.update(span.slice().asByteBuffer());
            }
        }
        return HexFormat.of().formatHex(sha256.digest());
    }

    /** Returns the table, the version, the number of rows, and a digest of the files and the rows deleted in them. */
    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            MessageDigest sha256 = sha256();
            for (DataFile file : snapshot.files()) {
                String path = file.path();
                sha256.update((path.substring(path.lastIndexOf('/') + 1) + "\n" + file.rows() + "\n"
                        + DataFile.id(file.deleted()) + "\n").getBytes(StandardCharsets.UTF_8));
            }
            columns.forEach(column -> sha256.update((column + "\n").getBytes(StandardCharsets.UTF_8)));
            known = snapshot.format() + ":table=" + snapshot.id() + ":version=" + snapshot.version() + ":rows="
                    + size() + ":sha256=" + HexFormat.of().formatHex(sha256.digest()).substring(0, HEX_DIGITS);
            fingerprint = known;
        }
        return known;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public synchronized void close() {
        for (int f = 0; f < open.length(); f++) {
            OpenFile file = open.getAndSet(f, null);
            if (file != null) {
                file.close();
            }
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    @Override
    public String toString() {
        return snapshot + " (" + size() + " rows: " + columns + ")";
    }

    /**
     * Reads the number of rows of a data file from its footer, for tables that do not say it.
     *
     * @param file the file
     * @return the rows
     * @throws IOException if it cannot be read
     */
    public static long rowsOf(Location file) throws IOException {
        try (RecordStore rows = OpenFile.parquet(file)) {
            return rows.size();
        } catch (MalformedStoreException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
