// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.lake.ChangeLog;
import io.penstock.lake.DataFile;
import io.penstock.lake.DeletedRows;
import io.penstock.lake.LakeTable;
import io.penstock.lake.TableSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.util.SnapshotUtil;
import org.jspecify.annotations.Nullable;

/**
 * An Iceberg table: in a folder, as a Hadoop catalog has them, or in any catalog. The metadata are read by Iceberg, the
 * data by Penstock.
 *
 * {@snippet :
 * LakeTable clicks = IcebergTable.rest(Map.of("uri", "http://catalog:8181"), "shop.clicks");
 * try (LakeStore rows = clicks.open("tag:training-2024")) {
 *     train(RecordFields.of(rows));
 * }
 * }
 *
 * <p>A version is a snapshot's id, {@code tag:NAME}, {@code branch:NAME} or a time. Where the table's schema is newer
 * than the newest snapshot, {@code ID/schema-N}. The order of the files is that of the commits that added them.
 */
public final class IcebergTable implements LakeTable {

    private static final Pattern METADATA = Pattern.compile("v?(\\d+)(-.*)?(?:\\.gz)?\\.metadata\\.json(?:\\.gz)?");
    private static final Pattern VERSION = Pattern.compile("(\\d+)(?:/schema-(\\d+))?");
    /** The version of a table without a snapshot. */
    private static final String EMPTY = "empty";

    private final Location place;
    private final Supplier<Table> load;
    private Table table;

    private IcebergTable(Location place, Supplier<Table> load) {
        this.place = place;
        this.load = load;
        this.table = load.get();
    }

    /**
     * Opens a table in a folder, at its newest metadata.
     *
     * @param folder the table's folder, which has a folder {@code metadata}: {@code WAREHOUSE/DATABASE/TABLE} of a
     *     Hadoop catalog. It may have been moved or copied
     * @return the table
     * @throws IOException if it is no table, or cannot be read
     */
    public static IcebergTable of(Location folder) throws IOException {
        return reading(folder, () -> new IcebergTable(folder, () -> inFolder(folder)));
    }

    /**
     * Opens a table of a catalog.
     *
     * @param table a table that a catalog loaded; data files are read where {@link Location} finds them
     * @return the table
     */
    public static IcebergTable of(Table table) {
        return new IcebergTable(new LocationFileIO().locate(table.location()), () -> {
            table.refresh();
            return table;
        });
    }

    /**
     * Opens a table of a REST catalog.
     *
     * @param properties the catalog's properties, such as {@code uri}, {@code warehouse}, {@code token} and
     *     {@code credential}; metadata are read by {@link LocationFileIO}, unless {@code io-impl} says another class
     * @param name the table, {@code DATABASE.TABLE}
     * @return the table
     * @throws IOException if the catalog cannot be reached, or has no such table
     */
    public static IcebergTable rest(Map<String, String> properties, String name) throws IOException {
        Map<String, String> all = new HashMap<>(properties);
        all.putIfAbsent("io-impl", LocationFileIO.class.getName());
        try {
            // Kept open as long as the table, whose refreshes ask it.
            @SuppressWarnings("resource")
            RESTCatalog catalog = new RESTCatalog();
            catalog.initialize("rest", all);
            return of(catalog.loadTable(TableIdentifier.parse(name)));
        } catch (RuntimeException e) {
            throw new IOException(properties.get("uri") + ": table '" + name + "': " + e.getMessage(), e);
        }
    }

    /** Finds the newest metadata file of a folder: the highest number. */
    static Optional<Location> metadata(Location folder) throws IOException {
        Location metadata = folder.resolve("metadata");
        if (!metadata.isFolder()) {
            return Optional.empty();
        }
        return metadata.files(name -> METADATA.matcher(name).matches()).stream()
                .max(Comparator.comparingLong((Location file) -> {
                    Matcher number = METADATA.matcher(file.name());
                    return number.matches() ? Long.parseLong(number.group(1)) : -1;
                }).thenComparing(Location::name));
    }

    private static Table inFolder(Location folder) {
        try {
            Location newest = metadata(folder).orElseThrow(() -> new MalformedStoreException(folder,
                    "no metadata/*.metadata.json", "an Iceberg table"));
            TableMetadata found = TableMetadataParser.read(new LocationFileIO(), newest.toString());
            LocationFileIO files = new LocationFileIO(found.location(), folder);
            return new BaseTable(new StaticTableOperations(found, files), folder.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @FunctionalInterface
    private interface Call<T> {
        T call() throws IOException;
    }

    private static <T> T reading(Location place, Call<T> call) throws IOException {
        try {
            return call.call();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (org.apache.iceberg.exceptions.NotFoundException e) {
            throw new IOException(place + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String id() {
        return table.uuid().toString();
    }

    @Override
    public TableSnapshot at(String version) throws IOException {
        return reading(place, () -> {
            table = load.get();
            return find(version);
        });
    }

    private TableSnapshot find(String version) throws IOException {
        Matcher number = VERSION.matcher(version);
        if (version.equals(NEWEST) || version.equals(EMPTY)) {
            return version.equals(EMPTY) ? snapshot(null, table.schema())
                    : snapshot(table.currentSnapshot(), table.schema());
        }
        if (number.matches()) {
            Snapshot found = table.snapshot(Long.parseLong(number.group(1)));
            if (found != null) {
                Schema schema = number.group(2) == null ? SnapshotUtil.schemaFor(table, found.snapshotId())
                        : table.schemas().get(Integer.parseInt(number.group(2)));
                if (schema != null) {
                    return snapshot(found, schema);
                }
            }
        } else if (version.startsWith("tag:") || version.startsWith("branch:")) {
            String name = version.substring(version.indexOf(':') + 1);
            SnapshotRef ref = table.refs().get(name);
            if (ref != null && ref.isTag() == version.startsWith("tag:")) {
                return snapshot(table.snapshot(ref.snapshotId()), SnapshotUtil.schemaFor(table, name));
            }
        } else {
            try {
                Long found = SnapshotUtil.nullableSnapshotIdAsOfTime(table, Instant.parse(version).toEpochMilli());
                if (found != null) {
                    return snapshot(table.snapshot(found), SnapshotUtil.schemaFor(table, found));
                }
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException(place + ": found version '" + version + "', expected a snapshot's"
                        + " id, tag:NAME, branch:NAME, or a time such as 2024-01-31T12:00:00Z", e);
            }
        }
        List<Long> known = new ArrayList<>();
        table.snapshots().forEach(snapshot -> known.add(snapshot.snapshotId()));
        throw new IllegalArgumentException(place + ": found no version '" + version + "', expected one of the"
                + " snapshots " + known + ", or one of the tags and branches " + table.refs().keySet());
    }

    private TableSnapshot snapshot(@Nullable Snapshot at, Schema schema) throws IOException {
        if (at == null) {
            return new TableSnapshot("iceberg", place, id(), EMPTY, new IcebergColumns(table, schema).columns(),
                    List.of(), this::locate);
        }
        boolean isOwn = SnapshotUtil.schemaFor(table, at.snapshotId()).schemaId() == schema.schemaId();
        String version = at.snapshotId() + (isOwn ? "" : "/schema-" + schema.schemaId());
        return snapshot(version, schema, table.newScan().useSnapshot(at.snapshotId()).planFiles());
    }

    private TableSnapshot snapshot(String version, Schema schema, CloseableIterable<FileScanTask> tasks)
            throws IOException {
        IcebergColumns columns = new IcebergColumns(table, schema);
        PositionDeletes deletes = new PositionDeletes(this::locate);
        EqualityDeletes equality = new EqualityDeletes(place, table, this::locate);
        Map<List<Object>, byte[] @Nullable []> constants = new HashMap<>();
        List<DataFile> files = new ArrayList<>();
        try (tasks) {
            for (FileScanTask task : tasks) {
                org.apache.iceberg.DataFile file = task.file();
                if (file.format() != FileFormat.PARQUET) {
                    throw new MalformedStoreException(file.location(), "a data file in " + file.format(),
                            "one in Parquet");
                }
                // Files of a partition share its values.
                List<Object> key = new ArrayList<>(List.of(file.specId()));
                for (int i = 0; i < file.partition().size(); i++) {
                    key.add(String.valueOf(file.partition().get(i, Object.class)));
                }
                byte[] @Nullable [] values = constants.computeIfAbsent(key, _ -> columns.constants(file));
                Long order = file.fileSequenceNumber();
                DataFile all = new DataFile(file.location(), file.recordCount(), file.fileSizeInBytes(),
                        order == null ? 0 : order, null, values);
                DeletedRows gone = deleted(all, task.deletes(), deletes, equality);
                files.add(gone == null ? all : new DataFile(all.path(), all.rows(), all.bytes(), all.order(), gone,
                        values));
            }
        }
        return new TableSnapshot("iceberg", place, id(), version, columns.columns(), files, this::locate);
    }

    /** Returns the rows deleted from a data file, by position and by equality. */
    private @Nullable DeletedRows deleted(DataFile file, List<DeleteFile> of, PositionDeletes positions,
            EqualityDeletes equality) throws IOException {
        List<DeleteFile> byPosition = of.stream().filter(each -> each.content() == FileContent.POSITION_DELETES)
                .toList();
        List<DeleteFile> byEquality = of.stream().filter(each -> each.content() == FileContent.EQUALITY_DELETES)
                .toList();
        DeletedRows found = byPosition.isEmpty() ? null
                : byPosition.size() == 1 && byPosition.getFirst().format() == FileFormat.PUFFIN
                ? new DeletionVector(table.io(), byPosition.getFirst()) : positions.of(file.path(), byPosition);
        return byEquality.isEmpty() ? found : equality.of(file, byEquality, found);
    }

    private Location locate(String path) {
        return table.io() instanceof LocationFileIO files ? files.locate(path) : new LocationFileIO().locate(path);
    }

    @Override
    public ChangeLog changes() {
        return new Changes();
    }

    @Override
    public boolean keepsRows(String from, String to) throws IOException {
        return reading(place, () -> {
            long earlier = snapshotOf(from);
            for (Snapshot snapshot : SnapshotUtil.ancestorsBetween(table, snapshotOf(to), earlier)) {
                if (!snapshot.operation().equals(DataOperations.APPEND)
                        && !snapshot.operation().equals(DataOperations.REPLACE)) {
                    return false;
                }
            }
            return true;
        });
    }

    private long snapshotOf(String version) throws IOException {
        Matcher number = VERSION.matcher(version);
        if (!number.matches()) {
            throw new IOException(place + ": found version '" + version + "', expected a snapshot's id");
        }
        return Long.parseLong(number.group(1));
    }

    @Override
    public String toString() {
        return place.toString();
    }

    /** The snapshots of the table's current branch: appended rows; rewritten files add none. */
    private final class Changes implements ChangeLog {

        @Override
        public Optional<String> after(String version) throws IOException {
            return reading(place, () -> {
                table = load.get();
                Snapshot at = table.currentSnapshot();
                if (at == null || !version.isEmpty() && at.snapshotId() == snapshotOf(version)) {
                    return Optional.empty();
                }
                while (true) {
                    Long parent = at.parentId();
                    Snapshot before = parent == null ? null : table.snapshot(parent);
                    boolean isNext = version.isEmpty() ? before == null
                            : parent != null && parent == snapshotOf(version);
                    if (isNext) {
                        return Optional.of(Long.toString(at.snapshotId()));
                    }
                    if (before == null) {
                        throw new IOException(place + ": found snapshots from " + at.snapshotId() + " on, expected one"
                                + " that follows " + version + ", where the stream goes on: it has expired, or is of"
                                + " another branch");
                    }
                    at = before;
                }
            });
        }

        @Override
        public TableSnapshot rows(String version) throws IOException {
            return reading(place, () -> {
                Snapshot at = table.snapshot(snapshotOf(version));
                if (at == null) {
                    throw new IOException(place + ": found no snapshot " + version + ", expected one that has not"
                            + " expired");
                }
                Schema schema = SnapshotUtil.schemaFor(table, at.snapshotId());
                if (at.operation().equals(DataOperations.REPLACE)) {
                    return snapshot(version, schema, CloseableIterable.empty());
                }
                if (!at.operation().equals(DataOperations.APPEND)) {
                    throw new UnsupportedOperationException(place + ": found snapshot " + version + " with operation '"
                            + at.operation() + "', which deleted or replaced rows, expected one that only adds rows;"
                            + " skip such snapshots (changes=skip) if that is meant");
                }
                return snapshot(version, schema, table.newIncrementalAppendScan().fromSnapshotInclusive(at.snapshotId())
                        .toSnapshot(at.snapshotId()).planFiles());
            });
        }
    }
}
