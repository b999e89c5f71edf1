// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.format.manifest.Manifest;
import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder that the driver and all executors have under the same path. Attempts write in it. */
final class LocalParts extends PartsFolder {

    private static final long serialVersionUID = 1;

    private final String store;

    LocalParts(Path store) {
        super(store.toString());
        this.store = store.toAbsolutePath().toString();
    }

    Path path() {
        return Path.of(store).resolveSibling(name());
    }

    @Override
    String manifest() {
        return store + Manifest.ENDING;
    }

    @Override
    boolean hasManifest() {
        return Files.exists(Path.of(manifest()));
    }

    @Override
    void create() throws IOException {
        Files.createDirectories(path());
    }

    @Override
    <T> T write(String attempt, Attempt<T> writes) throws IOException {
        return writes.write(path().resolve(attempt));
    }

    @Override
    SortedMap<String, Long> entries() throws IOException {
        SortedMap<String, Long> entries = new TreeMap<>();
        try (Stream<Path> files = Files.list(path())) {
            for (Path file : (Iterable<Path>) files::iterator) {
                entries.put(file.getFileName().toString(), Files.isRegularFile(file) ? file.toFile().length() : -1);
            }
        }
        return entries;
    }

    @Override
    String read(String entry) throws IOException {
        return Files.readString(path().resolve(entry));
    }

    @Override
    void delete(Collection<String> entries) throws IOException {
        for (String entry : entries) {
            deleteTree(path().resolve(entry));
        }
    }

    static void deleteTree(Path tree) throws IOException {
        List<Path> inside;
        try (Stream<Path> walk = Files.walk(tree)) {
            inside = walk.sorted(Comparator.reverseOrder()).toList();
        } catch (NoSuchFileException | UncheckedIOException _) {
            return;                                 // an attempt that still runs deletes its own
        }
        for (Path file : inside) {
            Files.deleteIfExists(file);
        }
    }

    @Override
    void commit(Manifest manifest, IfExists ifExists) throws IOException {
        manifest.write(Path.of(manifest()), ifExists);
    }
}
