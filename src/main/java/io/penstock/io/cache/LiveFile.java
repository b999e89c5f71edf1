// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.os.SharedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** A file that counts while the process that created it lives: its first byte is locked. */
final class LiveFile implements AutoCloseable {

    private final Path path;
    private final SharedFile lock;

    private LiveFile(Path path, SharedFile lock) {
        this.path = path;
        this.lock = lock;
    }

    static LiveFile create(Path folder) throws IOException {
        Files.createDirectories(folder);
        while (true) {
            Path path = folder.resolve(Long.toHexString(ThreadLocalRandom.current().nextLong()));
            try {
                Files.createFile(path);
                SharedFile lock = SharedFile.open(path);
                if (lock.tryExclusive(0) && lock.isCurrent()) {
                    return new LiveFile(path, lock);
                }
                lock.close();
            } catch (FileAlreadyExistsException | NoSuchFileException _) {
                // another process took it for one that a dead process left
            }
        }
    }

    /** Returns the files whose processes live; removes the others. */
    static List<Path> live(Path folder) throws IOException {
        List<Path> live = new ArrayList<>();
        List<Path> all;
        try (Stream<Path> files = Files.list(folder)) {
            all = files.toList();
        } catch (NoSuchFileException _) {
            return live;
        }
        for (Path file : all) {
            try (SharedFile lock = SharedFile.open(file)) {
                if (!lock.tryExclusive(0)) {
                    live.add(file);
                } else if (lock.isCurrent()) {
                    Files.deleteIfExists(file);
                }
            } catch (NoSuchFileException _) {
                // ended meanwhile
            }
        }
        return live;
    }

    Path path() {
        return path;
    }

    /** Removes the file. */
    @Override
    public void close() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.close();
        }
    }
}
