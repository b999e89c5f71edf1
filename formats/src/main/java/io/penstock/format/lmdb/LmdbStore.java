// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.Fingerprint;
import io.penstock.format.Mapping;
import io.penstock.format.RecordDigest;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.integrity.Verifiable;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One database of an LMDB environment, read from its mapped file as of the last transaction. Each key-value pair is a
 * record with the columns {@code key} and {@code value}, in database order; a key with several values (DUPSORT) gives
 * several records. Keys and values, large ones too, are views of the mapping.
 *
 * <p>Opening walks the database's tree once, because LMDB has no index by position. The lock file is neither needed nor
 * written: the environment must not be written while it is open here. Layout: LMDB 0.9, 64-bit, little-endian
 * ({@code mdb.c}, data format version 1), with pages of any size.
 */
public final class LmdbStore implements RecordStore, Verifiable {

    static final String DATA_FILE = "data.mdb";
    private static final List<Column> COLUMNS = List.of(Column.bytes("key", ""), Column.bytes("value", ""));
    private static final int KEY = 0;
    /** py-lmdb's default {@code map_size} of a reader, if less is in use. */
    private static final long READER_MAP_BYTES = 10 << 20;
    private static final int MAX_NAMES_SHOWN = 20;
    private static final long PROGRESS_BYTES = 1 << 20;

    private final MappedFile file;
    private final Meta meta;
    private final Pages pages;
    private final LmdbIndex main;
    private final @Nullable String member;
    /** The database with the records; null if there are several and none was selected. */
    private final @Nullable LmdbIndex index;
    private final @Nullable String name;
    private volatile @Nullable String fingerprint;

    private LmdbStore(MappedFile file, @Nullable String member) {
        this.file = file;
        this.meta = Meta.of(file);
        this.pages = new Pages(file, meta);
        this.member = member;
        if (pages.isCut()) {
            // No tree may reach beyond the end of a file that ends early.
            PageSet all = new PageSet(pages.count());
            TreeWalk.index(pages, meta.free(), "the list of free pages", false, all);
            walkNamed(walkMain(all).names(), all);
        }
        PageSet seen = new PageSet(pages.count());
        this.main = walkMain(seen);
        Map<String, Tree> names = main.names();
        this.name = member != null || main.size() > 0 || names.size() != 1 ? member : names.keySet().iterator().next();
        if (name == null) {
            walkNamed(names, seen);
            this.index = main.size() > 0 || names.isEmpty() ? main : null;
            return;
        }
        Tree tree = names.get(name);
        if (tree == null) {
            throw new MalformedStoreException(file.location(), "no database '" + name + "'", namesText(names));
        }
        this.index = TreeWalk.index(pages, tree, described(name), false, seen);
    }

    private LmdbIndex walkMain(PageSet seen) {
        return TreeWalk.index(pages, meta.main(), described(null), true, seen);
    }

    /** Walks the named databases; an environment with a malformed one opens only if another one is selected. */
    private void walkNamed(Map<String, Tree> names, PageSet seen) {
        for (Map.Entry<String, Tree> named : names.entrySet()) {
            TreeWalk.index(pages, named.getValue(), described(named.getKey()), false, seen);
        }
    }

    /**
     * Opens a database and checks its tree.
     *
     * @param path the environment's folder, or its data file
     * @param database the name of a database; null for the main one if it has records, otherwise the only named one. An
     *     environment with several named databases opens too, but only for {@link #inspect}: asking for its records
     *     is an error that lists their names
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the database does not exist, or the file is not a complete environment
     * @throws IOException if the file is missing or cannot be read
     */
    public static LmdbStore open(Location path, @Nullable String database) throws IOException {
        Location data = path.isFolder() ? path.resolve(DATA_FILE) : path;
        return Mapping.open(data, file -> new LmdbStore(file, database));
    }

    /** {@return the names of the databases, in the order of the main database, which holds them} */
    public List<String> databases() {
        return List.copyOf(main.names().keySet());
    }

    private static String described(@Nullable String name) {
        return name == null ? "the main database" : "database '" + name + "'";
    }

    private static String namesText(Map<String, Tree> names) {
        return names.isEmpty() ? "the main one: none has a name" : "one of "
                + names.keySet().stream().limit(MAX_NAMES_SHOWN).toList()
                + (names.size() > MAX_NAMES_SHOWN ? " and " + (names.size() - MAX_NAMES_SHOWN) + " more" : "");
    }

    private LmdbIndex index() {
        if (index == null) {
            throw new MalformedStoreException(file.location(), main.names().size()
                    + " databases, none selected", namesText(main.names()));
        }
        return index;
    }

    @Override
    public long size() {
        return index().size();
    }

    @Override
    public List<Column> columns() {
        return COLUMNS;
    }

    @Override
    public void locate(long record, int column, Span into) {
        checkRecord(record);
        Objects.checkIndex(column, COLUMNS.size());
        try {
            if (column == KEY) {
                index().key(record, into);
            } else {
                index().value(record, into);
            }
        } catch (InternalError fault) {
            throw file.explain(fault);
        }
    }

    private void checkRecord(long record) {
        if (record < 0 || record >= size()) {
            throw new IndexOutOfBoundsException(file.location() + ": record " + record + " of " + size());
        }
    }

    /**
     * Locates the first value of a key. Descends the tree.
     *
     * @param key the key's bytes as stored; an integer key is little-endian
     * @param into receives the location if the key exists
     * @return whether the key exists
     * @throws MalformedStoreException if the environment has several databases and none was selected, or a page on
     *     the way is malformed
     */
    public boolean locate(MemorySegment key, Span into) {
        try {
            return index().value(key, into);
        } catch (InternalError fault) {
            throw file.explain(fault);
        }
    }

    /**
     * {@return the index of the first record of a key, or -1 if the key does not exist}
     *
     * @param key the key's bytes as stored; an integer key is little-endian
     * @throws MalformedStoreException if the environment has several databases and none was selected, or a page on
     *     the way is malformed
     */
    public long find(MemorySegment key) {
        return file.reading(() -> index().find(key));
    }

    /** Returns the key: as text if it is UTF-8 without control characters, otherwise as hexadecimal digits. */
    @Override
    public String key(long record) {
        return name(record);
    }

    @Override
    public String name(long record) {
        Span key = new Span();
        locate(record, KEY, key);
        return KeyText.of(key.segment(), key.byteOffset(), key.byteSize());
    }

    @Override
    public Keys keys() {
        return Keys.NAMES;
    }

    @Override
    public int keyColumn() {
        return KEY;
    }

    @Override
    public boolean isConverted(int column) {
        Objects.checkIndex(column, COLUMNS.size());
        return false;
    }

    @Override
    public long maxLength(int column) {
        return Objects.checkIndex(column, COLUMNS.size()) == KEY ? index().counts().maxKeyBytes()
                : index().counts().maxValueBytes();
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            known = "lmdb:" + (name == null ? "" : name) + ":records=" + (index == null ? 0 : size()) + ":sha256="
                    + new Fingerprint().add(file).hex();
            fingerprint = known;
        }
        return known;
    }

    /** {@inheritDoc} Describes all databases of the environment, or the selected one. */
    @Override
    public Inspection inspect(Inspection.Depth depth, Progress progress) throws IOException {
        Map<String, @Nullable Object> details = Json.members("page_size", meta.pageBytes(),
                "last_pgno", meta.lastPage(), "last_txnid", meta.transaction(),
                "map_size", Math.max(READER_MAP_BYTES, (meta.lastPage() + 1) * meta.pageBytes()),
                "writer_map_size", meta.mapSize());
        List<Object> databases = new ArrayList<>();
        for (Map.Entry<@Nullable String, LmdbIndex> each : indexes().entrySet()) {
            databases.add(describe(each.getKey(), each.getValue(), depth.digests(), progress));
        }
        details.put("databases", databases);
        return new Inspection(file.location(), "lmdb", List.of(file.location()), details);
    }

    /** Returns the described databases by their names; the main one has null. */
    private Map<@Nullable String, LmdbIndex> indexes() {
        Map<@Nullable String, LmdbIndex> indexes = new LinkedHashMap<>();
        if (member == null && (main.size() > 0 || main.names().isEmpty())) {
            indexes.put(null, main);
        }
        PageSet seen = new PageSet(pages.count());
        walkMain(seen);
        for (Map.Entry<String, Tree> named : main.names().entrySet()) {
            if (member == null || named.getKey().equals(member)) {
                indexes.put(named.getKey(), TreeWalk.index(pages, named.getValue(), described(named.getKey()), false,
                        seen));
            }
        }
        return indexes;
    }

    /** {@inheritDoc} They are the headers of overflow pages, which reading values does not need. */
    @Override
    public String checksum() {
        return "page headers";
    }

    @Override
    public void verify(Consumer<Fault> faults, Progress progress) throws IOException {
        for (LmdbIndex records : indexes().values()) {
            try {
                for (long record = 0; records.tree().overflowPages() > 0 && record < records.size(); record++) {
                    records.checkValue(record);
                }
            } catch (MalformedStoreException e) {
                faults.accept(new Fault(file.location(), checksum(), e.getMessage()));
            }
        }
    }

    private static Map<String, @Nullable Object> describe(@Nullable String name, LmdbIndex records, boolean digest,
            Progress progress) throws IOException {
        Map<String, @Nullable Object> database = Json.members("db", name, "flags", records.tree().flagNames(),
                "entries", records.size(), "distinct_keys", records.counts().keys(),
                "value_bytes", records.counts().valueBytes(), "depth", records.tree().depth(),
                "overflow_pages", records.tree().overflowPages());
        if (digest) {
            database.put("record_digest", digest(records, progress));
        }
        return database;
    }

    private static String digest(LmdbIndex records, Progress progress) throws IOException {
        RecordDigest digest = new RecordDigest();
        Span key = new Span();
        Span value = new Span();
        long done = 0;
        long shown = 0;
        for (long record = 0; record < records.size(); record++) {
            records.key(record, key);
            records.value(record, value);
            digest.add(key, value);
            done += value.byteSize();
            if (done - shown >= PROGRESS_BYTES) {
                shown = done;
                progress.update(done, records.counts().valueBytes());
            }
        }
        return digest.hex();
    }

    @Override
    public void close() {
        file.close();
    }

    @Override
    public String toString() {
        return file.location() + " (" + (index == null ? main.names().size() + " databases"
                : index.size() + " records of " + described(name)) + ")";
    }
}
