// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder that the driver and all executors have under the same path. Attempts write in it. */
final class LocalParts extends PartsFolder {

    private static final long serialVersionUID = 1;

    LocalParts(String folder, String record) {
        super(Path.of(folder).toAbsolutePath().toString(), Path.of(record).toAbsolutePath().toString());
    }

    Path path() {
        return Path.of(folder());
    }

    @Override
    boolean hasRecord() {
        return Files.exists(Path.of(record()));
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
            try {
                Files.deleteIfExists(file);
            } catch (DirectoryNotEmptyException _) {
                // an attempt that still runs writes in it
            }
        }
    }

    @Override
    void writeRecord(String content, IfExists ifExists) throws IOException {
        Path record = Path.of(record());
        Path written = path().resolve(record.getFileName() + ".writing");
        try (FileChannel file = FileChannel.open(written, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(content);
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        }
        Files.move(written, record, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel folder = FileChannel.open(record.getParent())) {
            folder.force(true);                     // so that a power cut does not undo the rename
        }
    }
}
