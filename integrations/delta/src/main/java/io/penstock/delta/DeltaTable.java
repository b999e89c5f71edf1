// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.delta.kernel.Snapshot;
import io.delta.kernel.SnapshotBuilder;
import io.delta.kernel.TableManager;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.defaults.engine.DefaultEngine;
import io.delta.kernel.engine.Engine;
import io.delta.kernel.exceptions.KernelException;
import io.delta.kernel.internal.InternalScanFileUtils;
import io.delta.kernel.internal.actions.AddFile;
import io.delta.kernel.internal.actions.DeletionVectorDescriptor;
import io.delta.kernel.internal.deletionvectors.DeletionVectorUtils;
import io.delta.kernel.utils.CloseableIterator;
import io.penstock.io.Location;
import io.penstock.lake.ChangeLog;
import io.penstock.lake.DataFile;
import io.penstock.lake.DeletedRows;
import io.penstock.lake.LakeStore;
import io.penstock.lake.LakeTable;
import io.penstock.lake.TableColumn;
import io.penstock.lake.TableSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Delta table in a folder. The log is read by Delta Kernel, the data by Penstock.
 *
 * {@snippet :
 * LakeTable clicks = DeltaTable.of(Location.of(Path.of("/lake/clicks")));
 * try (LakeStore rows = clicks.open("12")) {
 *     Dataset german = RecordFields.of(rows).select(rows.rowsWhere("country = 'de'"));
 * }
 * }
 *
 * <p>A version is a number, {@code 12}, or a time. The order of the files is that of their commits where the table
 * tracks rows, otherwise that of their modification times.
 */
public final class DeltaTable implements LakeTable {

    static final String LOG = "_delta_log";

    private static final Pattern ROWS = Pattern.compile("\"numRecords\"\\s*:\\s*(\\d+)");
    private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

    private final Location folder;
    private final Engine engine;
    private final String id;

    private DeltaTable(Location folder, Engine engine, String id) {
        this.folder = folder;
        this.engine = engine;
        this.id = id;
    }

    /**
     * Opens a table; no data are read.
     *
     * @param folder the table's folder, which has a folder {@code _delta_log}
     * @return the table
     * @throws IOException if it is no table, or cannot be read
     */
    public static DeltaTable of(Location folder) throws IOException {
        Engine engine = DefaultEngine.create(new LocationFiles(folder));
        return new DeltaTable(folder, engine, calling(folder, () -> TableManager.loadSnapshot(folder.toString())
                .build(engine).getMetadata().getId()));
    }

    /** What Kernel does; its exceptions become those of Penstock. */
    @FunctionalInterface
    interface Call<T> {
        T call() throws IOException;
    }

    static <T> T calling(Location folder, Call<T> call) throws IOException {
        try {
            return call.call();
        } catch (KernelException e) {
            throw new IOException(folder + ": " + e.getMessage(), e);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public TableSnapshot at(String version) throws IOException {
        return calling(folder, () -> snapshot(load(version)));
    }

    /** Loads the metadata of a version. */
    Snapshot load(String version) throws IOException {
        SnapshotBuilder newest = TableManager.loadSnapshot(folder.toString());
        if (version.equals(NEWEST)) {
            return newest.build(engine);
        }
        try {
            SnapshotBuilder chosen = TableManager.loadSnapshot(folder.toString());
            return NUMBER.matcher(version).matches() ? chosen.atVersion(Long.parseLong(version)).build(engine)
                    : chosen.atTimestamp(Instant.parse(version).toEpochMilli(), newest.build(engine)).build(engine);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(folder + ": found version '" + version + "', expected a number, or a"
                    + " time such as 2024-01-31T12:00:00Z", e);
        } catch (KernelException e) {
            throw new IllegalArgumentException(folder + ": found no version '" + version + "': " + e.getMessage(), e);
        }
    }

    private TableSnapshot snapshot(Snapshot at) throws IOException {
        List<String> partitions = DeltaColumns.physical(at, at.getPartitionColumnNames());
        List<TableColumn> columns = DeltaColumns.of(at);
        Map<Map<String, String>, byte[][]> constants = new HashMap<>();
        List<AddedFile> files = new ArrayList<>();
        try (CloseableIterator<FilteredColumnarBatch> batches = at.getScanBuilder().build()
                .getScanFiles(engine, true)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> rows = batches.next().getRows()) {
                    while (rows.hasNext()) {
                        Row row = rows.next();
                        files.add(added(row, constants, partitions, columns));
                    }
                }
            }
        }
        // A number that only some files have does not order them.
        boolean areTracked = files.stream().allMatch(file -> file.commit >= 0);
        List<DataFile> sorted = new ArrayList<>(files.size());
        for (AddedFile file : files) {
            sorted.add(new DataFile(file.path, file.rows, file.bytes, areTracked ? file.commit : file.modifiedMillis,
                    file.deleted, file.constants));
        }
        return new TableSnapshot("delta", folder, id, Long.toString(at.getVersion()), columns, sorted, this::locate);
    }

    /** A file of the log; {@code commit} is -1 if the log does not say it. */
    private record AddedFile(String path, long rows, long bytes, long modifiedMillis, long commit,
            @Nullable DeletedRows deleted, byte[][] constants) {
    }

    private AddedFile added(Row scanFile, Map<Map<String, String>, byte[][]> constants, List<String> partitions,
            List<TableColumn> columns) throws IOException {
        Row add = scanFile.getStruct(InternalScanFileUtils.ADD_FILE_ORDINAL);
        String path = add.getString(add.getSchema().indexOf("path"));
        int stats = add.getSchema().indexOf("stats");
        DeletionVectorDescriptor vector = InternalScanFileUtils.getDeletionVectorDescriptorFromRow(scanFile);
        byte[][] values = constants.computeIfAbsent(InternalScanFileUtils.getPartitionValues(scanFile),
                partition -> DeltaColumns.values(partition, partitions, columns));
        return new AddedFile(path, rows(path, stats < 0 || add.isNullAt(stats) ? "" : add.getString(stats)),
                add.getLong(add.getSchema().indexOf("size")), add.getLong(add.getSchema().indexOf("modificationTime")),
                InternalScanFileUtils.getDefaultRowCommitVersion(scanFile).orElse(-1L),
                vector == null ? null : new DeletionVector(vector), values);
    }

    /** Returns the rows of a file from its statistics; without them, from its footer. */
    long rows(String path, String stats) throws IOException {
        Matcher rows = ROWS.matcher(stats);
        return rows.find() ? Long.parseLong(rows.group(1)) : LakeStore.rowsOf(locate(path));
    }

    DataFile added(AddFile add, byte[] @Nullable [] constants) throws IOException {
        return new DataFile(add.getPath(), rows(add.getPath(), add.getStatsJson().orElse("")), add.getSize(), 0,
                add.getDeletionVector().map(DeletionVector::new).orElse(null), constants);
    }

    DeletedRows deleted(DeletionVectorDescriptor vector) {
        return new DeletionVector(vector);
    }

    /** Returns where a file of the log is: a path relative to the table's folder, or a URI; both are encoded. */
    Location locate(String path) {
        URI uri = URI.create(path);
        return uri.getScheme() != null ? Location.of(uri) : folder.resolve(uri.getPath());
    }

    @Override
    public ChangeLog changes() {
        return new DeltaChanges(this);
    }

    @Override
    public boolean keepsRows(String from, String to) throws IOException {
        return calling(folder, () -> new DeltaChanges(this).keepsRows(Long.parseLong(from), Long.parseLong(to)));
    }

    Location folder() {
        return folder;
    }

    Engine engine() {
        return engine;
    }

    @Override
    public String toString() {
        return folder.toString();
    }

    /** The rows deleted from a file. */
    private final class DeletionVector implements DeletedRows {

        private final DeletionVectorDescriptor descriptor;

        DeletionVector(DeletionVectorDescriptor descriptor) {
            this.descriptor = descriptor;
        }

        @Override
        public long count() {
            return descriptor.getCardinality();
        }

        @Override
        public long[] positions() throws IOException {
            return calling(folder, () -> DeletionVectorUtils.loadNewDvAndBitmap(engine, folder.toString(), descriptor)
                    ._2.toArray());
        }

        @Override
        public String id() {
            return descriptor.getUniqueId();
        }
    }
}
