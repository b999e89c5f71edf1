// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.delta.kernel.CommitRangeBuilder.CommitBoundary;
import io.delta.kernel.Snapshot;
import io.delta.kernel.TableManager;
import io.delta.kernel.data.ColumnarBatch;
import io.delta.kernel.data.MapValue;
import io.delta.kernel.data.Row;
import io.delta.kernel.internal.DeltaHistoryManager;
import io.delta.kernel.internal.DeltaLogActionUtils.DeltaAction;
import io.delta.kernel.internal.actions.AddFile;
import io.delta.kernel.internal.actions.RemoveFile;
import io.delta.kernel.internal.fs.Path;
import io.delta.kernel.internal.util.VectorUtils;
import io.delta.kernel.utils.CloseableIterator;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.lake.ChangeLog;
import io.penstock.lake.DataFile;
import io.penstock.lake.DeletedRows;
import io.penstock.lake.LakeStore;
import io.penstock.lake.TableColumn;
import io.penstock.lake.TableSnapshot;
import io.penstock.lake.ValueType;
import io.penstock.lake.ValueType.Kind;
import io.penstock.lake.Values;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The commits of a Delta table. A commit with files of a change feed has their rows; another one the rows of the files
 * that it added. Two columns more than the table's say what happened: {@code _change_type} and {@code _commit_version}.
 */
final class DeltaChanges implements ChangeLog {

    private final DeltaTable table;

    DeltaChanges(DeltaTable table) {
        this.table = table;
    }

    @Override
    public Optional<String> after(String version) throws IOException {
        if (version.isEmpty()) {
            return Optional.of(Long.toString(DeltaTable.calling(table.folder(), () -> DeltaHistoryManager
                    .getEarliestDeltaFile(table.engine(), new Path(table.folder() + "/" + DeltaTable.LOG),
                            Optional.empty()))));
        }
        long next = number(version) + 1;
        String name = String.format(Locale.ROOT, "%s/%020d.json", DeltaTable.LOG, next);
        if (table.folder().resolve(name).infoNow().kind() == EntryKind.FILE) {
            return Optional.of(Long.toString(next));
        }
        long newest = DeltaTable.calling(table.folder(), () -> table.load("").getVersion());
        if (newest >= next) {
            throw new IOException(table + ": found the newest version " + newest + " and no log of version " + next
                    + ", expected that log, where the stream goes on: it was cleaned up before it was read");
        }
        return Optional.empty();
    }

    private long number(String version) throws IOException {
        try {
            return Long.parseLong(version);
        } catch (NumberFormatException e) {
            throw new IOException(table + ": found version '" + version + "', expected a number", e);
        }
    }

    @Override
    public TableSnapshot rows(String version) throws IOException {
        return DeltaTable.calling(table.folder(), () -> read(number(version)));
    }

    private TableSnapshot read(long version) throws IOException {
        Snapshot at = table.load(Long.toString(version));
        List<String> partitions = DeltaColumns.physical(at, at.getPartitionColumnNames());
        List<TableColumn> columns = new ArrayList<>(DeltaColumns.of(at));
        Map<String, AddFile> adds = new LinkedHashMap<>();
        Map<String, RemoveFile> removes = new LinkedHashMap<>();
        List<DataFile> feed = new ArrayList<>();
        read(version, version, Set.of(DeltaAction.ADD, DeltaAction.REMOVE, DeltaAction.CDC), action -> {
            Row add = struct(action, "add");
            Row cdc = struct(action, "cdc");
            Row remove = struct(action, "remove");
            if (add != null && new AddFile(add).getDataChange()) {
                adds.put(new AddFile(add).getPath(), new AddFile(add));
            } else if (remove != null && new RemoveFile(remove).getDataChange()) {
                removes.put(new RemoveFile(remove).getPath(), new RemoveFile(remove));
            } else if (cdc != null) {
                String path = cdc.getString(cdc.getSchema().indexOf("path"));
                feed.add(new DataFile(path, LakeStore.rowsOf(table.locate(path)),
                        cdc.getLong(cdc.getSchema().indexOf("size")), 0, null, constants(
                                cdc.getMap(cdc.getSchema().indexOf("partitionValues")), partitions, columns, version,
                                null)));
            }
        });
        boolean hasFeed = "true".equals(at.getTableProperties().get("delta.enableChangeDataFeed"));
        if (feed.isEmpty() && !removes.isEmpty() && !hasFeed) {
            throw new UnsupportedOperationException(table + ": found version " + version + ", which deleted or"
                    + " replaced rows without a change feed, expected one that only adds rows; set"
                    + " delta.enableChangeDataFeed on the table, or skip such versions (changes=skip)");
        }
        // With a feed, a commit that writes no files of it changed exactly the rows of the files that it names.
        List<DataFile> changed = new ArrayList<>();
        for (RemoveFile file : removes.values()) {
            AddFile again = adds.get(file.getPath());
            MapValue partition = file.getPartitionValues().orElseGet(() -> again == null
                    ? VectorUtils.stringStringMapValue(Map.of()) : again.getPartitionValues());
            DataFile before = new DataFile(file.getPath(), table.rows(file.getPath(), file.getStatsJson().orElse("")),
                    table.locate(file.getPath()).byteSize(), 0, file.getDeletionVector().map(table::deleted)
                            .orElse(null), constants(partition, partitions, columns, version, "delete"));
            changed.add(again == null ? before : new DataFile(before.path(), before.rows(), before.bytes(), 0,
                    DeletedRows.allBut(before.rows(), positions(table.added(again, before.constants())),
                            positions(before)), before.constants()));
        }
        for (AddFile file : adds.values()) {
            if (!removes.containsKey(file.getPath())) {
                changed.add(table.added(file, constants(file.getPartitionValues(), partitions, columns, version,
                        "insert")));
            }
        }
        int extra = partitions.size();
        columns.add(new TableColumn("_change_type", ValueType.of(Kind.TEXT), "_change_type", -1,
                feed.isEmpty() ? extra : -1, Map.of()));
        columns.add(new TableColumn("_commit_version", ValueType.of(Kind.I64), "_commit_version", -1, extra + 1,
                Map.of()));
        return new TableSnapshot("delta", table.folder(), table.id(), Long.toString(version), columns,
                feed.isEmpty() ? changed : feed, table::locate);
    }

    private static long[] positions(DataFile file) throws IOException {
        return file.deleted() == null ? new long[0] : file.deleted().positions();
    }

    private static byte[] @Nullable [] constants(MapValue partition, List<String> partitions,
            List<TableColumn> columns, long version, @Nullable String change) {
        byte[] @Nullable [] values = Arrays.copyOf(DeltaColumns.values(VectorUtils.toJavaMap(partition), partitions,
                columns), partitions.size() + 2);
        values[partitions.size()] = change == null ? null : change.getBytes(StandardCharsets.UTF_8);
        values[partitions.size() + 1] = Values.number(Kind.I64, version);
        return values;
    }

    boolean keepsRows(long from, long to) throws IOException {
        boolean[] keeps = {true};
        if (to > from) {
            read(from + 1, to, Set.of(DeltaAction.REMOVE), action -> {
                Row remove = struct(action, "remove");
                keeps[0] &= remove == null || !new RemoveFile(remove).getDataChange();
            });
        }
        return keeps[0];
    }

    /** Takes an action of a commit. */
    @FunctionalInterface
    private interface Action {
        void take(Row action) throws IOException;
    }

    private void read(long from, long to, Set<DeltaAction> kinds, Action into) throws IOException {
        try (CloseableIterator<ColumnarBatch> batches = TableManager.loadCommitRange(table.folder().toString(),
                CommitBoundary.atVersion(from)).withEndBoundary(CommitBoundary.atVersion(to)).build(table.engine())
                .getActions(table.engine(), kinds)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> rows = batches.next().getRows()) {
                    while (rows.hasNext()) {
                        into.take(rows.next());
                    }
                }
            }
        }
    }

    private static @Nullable Row struct(Row action, String name) {
        int at = action.getSchema().indexOf(name);
        return at < 0 || action.isNullAt(at) ? null : action.getStruct(at);
    }
}
