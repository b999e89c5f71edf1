// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.Mapping;
import io.penstock.format.OpenedVersion;
import io.penstock.format.table.OpenFiles;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files of a store. Of each it keeps where it is and how many rows its row groups have; files of one schema share
 * it. A bounded number of them is mapped, with the footers: those that were used last. A file that is opened again must
 * be the one that it was. Remote files stay open: their caches plan what they fetch. Thread-safe.
 */
final class ParquetFiles implements AutoCloseable {

    /** What is read of an open file. */
    @FunctionalInterface
    interface Use<T, X extends Exception> {

        T read(MappedFile file, FileMetadata metadata) throws X;
    }

    /** What files share: how they are read. */
    private record Kind(SchemaNode root, String arrow, Set<String> passed) {
    }

    private final DecodeLimit limit;
    private final List<ParquetPart> parts = new ArrayList<>();
    private final Map<Kind, Schema> schemas = new HashMap<>();
    /** Null if all files are kept open. */
    private final @Nullable OpenFiles<ParquetPart> open;
    /** The folder that has an index; null if none has. */
    private @Nullable Location indexed;
    private String fingerprint = "";
    private volatile boolean closed;

    /** Creates files of which none is open; {@code keepsOpen} if none is closed before all are. */
    ParquetFiles(DecodeLimit limit, boolean keepsOpen) {
        this.limit = limit;
        this.open = keepsOpen ? null : new OpenFiles<>(ParquetFiles::close);
    }

    List<ParquetPart> parts() {
        return parts;
    }

    /** Opens the files of a folder, or of those that its index knows, one of each schema. */
    void addAll(Location folder, List<Location> files) throws IOException {
        Path place = open != null ? FooterIndex.place(folder, files.size()) : null;
        if (place == null) {
            for (Location file : files) {
                add(file);
            }
            return;
        }
        FooterIndex index = FooterIndex.read(place);
        Map<Integer, Schema> known = new HashMap<>();
        int same = 0;
        for (Location file : files) {
            FooterIndex.Entry entry = index.files().get(FooterIndex.nameOf(folder, file));
            if (entry == null || !entry.is(file.info())) {
                add(file);
                continue;
            }
            same++;
            Schema schema = known.get(entry.schema());
            if (schema == null) {
                add(file);
                known.put(entry.schema(), parts.getLast().schema());
            } else {
                parts.add(new ParquetPart(file, entry, schema));
            }
        }
        indexed = folder;
        if (same == files.size() && same == index.files().size()) {
            fingerprint = index.fingerprint();
        } else {
            FooterIndex.write(place, folder, parts, "");
        }
    }

    /** Returns the fingerprint of the table, if its index knows it; otherwise nothing. */
    String fingerprint() {
        return fingerprint;
    }

    /** Keeps the fingerprint of the table in its index, if there is one. */
    void keep(String found) {
        Location folder = indexed;
        if (folder == null) {
            return;
        }
        try {
            Path place = FooterIndex.place(folder, parts.size());
            if (place != null) {
                FooterIndex.write(place, folder, parts, found);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens a file and checks its footer. */
    private void add(Location location) throws IOException {
        ParquetPart.Open opened = Mapping.open(location, file -> new ParquetPart.Open(file, FileMetadata.read(file)));
        try {
            Schema own = new Schema(opened.metadata().root(), ParquetPart.arrowFields(opened));
            Set<String> passed = ParquetPart.pass(opened, own);
            Schema schema = schemas.computeIfAbsent(new Kind(opened.metadata().root(), ParquetPart.arrowSchema(opened),
                    passed), _ -> own);
            ParquetPart part = new ParquetPart(location, opened.file().byteSize(), opened.file().version(), schema,
                    opened);
            part.check(opened);
            parts.add(part);
            used(part);
        } catch (Throwable t) {
            opened.file().close();
            throw t;
        }
    }

    /** Reads a file, which stays open meanwhile; an error of the mapping names the file. */
    <T, X extends Exception> T reading(ParquetPart part, Use<T, X> use) throws X {
        ParquetPart.Open opened = acquire(part);
        try {
            return opened.file().reading(() -> use.read(opened.file(), opened.metadata()));
        } finally {
            synchronized (part) {
                part.users--;
            }
        }
    }

    /** Returns an open file that is not closed before all are: a remote one, or any if these files are kept open. */
    MappedFile kept(ParquetPart part) {
        return Objects.requireNonNull(part.open).file();
    }

    private ParquetPart.Open acquire(ParquetPart part) {
        ParquetPart.Open opened;
        synchronized (part) {
            opened = part.open;
            if (opened == null) {
                opened = openAgain(part);
                part.open = opened;
            }
            part.users++;
        }
        used(part);
        return opened;
    }

    private ParquetPart.Open openAgain(ParquetPart part) {
        if (closed) {
            throw new IllegalStateException(part.location() + ": the store is closed");
        }
        try {
            OpenedVersion.of(part.location(), part.byteSize(), part.version()).requireSame();
            return Mapping.open(part.location(), file -> {
                ParquetPart.Open opened = new ParquetPart.Open(file, FileMetadata.read(file));
                part.checkSame(opened);
                return opened;
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void used(ParquetPart part) {
        if (open != null && !part.isRemote()) {
            open.used(part);
        }
    }

    /** Closes a file that nobody reads. */
    private static boolean close(ParquetPart part) {
        synchronized (part) {
            if (part.users > 0) {
                return false;
            }
            ParquetPart.Open opened = part.open;
            part.open = null;
            if (opened != null) {
                opened.file().close();
            }
            return true;
        }
    }

    /** Returns what a file may still decode to. */
    DecodeLimit.Budget budget(ParquetPart part) {
        return part.budget(limit);
    }

    @Override
    public void close() {
        closed = true;
        for (ParquetPart part : parts) {
            ParquetPart.Open opened;
            synchronized (part) {
                opened = part.open;
            }
            if (opened != null) {
                opened.file().close();
            }
        }
    }
}
