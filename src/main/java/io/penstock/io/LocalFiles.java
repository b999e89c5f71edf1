// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.io.local.CommittedFolder;
import io.penstock.io.local.RegularFile;
import io.penstock.os.PathBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a local file system as readers see them: a file that is committed but not yet moved is read in its
 * {@link CommittedFolder}.
 */
record LocalFiles(FileSystem system) implements FileSource {

    @Override
    public String root() {
        return "";
    }

    @Override
    public FileInfo info(String path) {
        Path place = place(path).orElse(null);
        while (place != null) {
            Path now = CommittedFolder.locate(place);
            FileInfo info = info(now);
            if (info != FileInfo.ABSENT || now.equals(CommittedFolder.locate(place))) {
                return info;
            }
        }
        return FileInfo.ABSENT;
    }

    /** Returns a path; empty if the text is no valid path on this system. */
    private Optional<Path> place(String path) {
        try {
            return Optional.of(system.getPath(path));
        } catch (InvalidPathException _) {
            return Optional.empty();
        }
    }

    /** Returns information about a path; one that cannot be examined counts as absent. */
    static FileInfo info(Path file) {
        BasicFileAttributes found;
        try {
            found = Files.readAttributes(file, BasicFileAttributes.class);
        } catch (IOException _) {
            return FileInfo.ABSENT;
        }
        FileInfo.EntryKind kind = found.isRegularFile() ? FileInfo.EntryKind.FILE
                : found.isDirectory() ? FileInfo.EntryKind.FOLDER : FileInfo.EntryKind.OTHER;
        long byteSize = kind == FileInfo.EntryKind.FILE ? found.size() : 0;
        return new FileInfo(kind, byteSize, found.fileKey() + " " + found.size() + " "
                + found.lastModifiedTime().to(TimeUnit.NANOSECONDS));
    }

    private Path required(String path) throws IOException {
        try {
            return system.getPath(path);
        } catch (InvalidPathException e) {
            throw new MalformedStoreException(path, new IllegalArgumentException(PathBytes.explain(e), e));
        }
    }

    @Override
    public List<String> files(String folder, Predicate<String> chosen) throws IOException {
        try {
            return CommittedFolder.files(required(folder), chosen);
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(folder, e);
        }
    }

    @Override
    public List<String> folders(String folder) throws IOException {
        return folders(folder, _ -> true);
    }

    /** {@inheritDoc} A folder may have very many files: only what is chosen is looked at. */
    @Override
    public List<String> folders(String folder, Predicate<String> chosen) throws IOException {
        try (Stream<Path> entries = Files.list(required(folder))) {
            return entries.filter(path -> chosen.test(path.getFileName().toString()) && Files.isDirectory(path))
                    .map(path -> path.getFileName().toString()).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public MappedFile open(Location file, @Nullable MappedFile index) throws IOException {
        return where(file.path(), now -> MappedFile.open(file, now, index));
    }

    @Override
    public SeekableByteChannel openChannel(Location file) throws IOException {
        return where(file.path(), RegularFile::open);
    }

    /** Opens a file at its present path; retries if it moves meanwhile. */
    private <T> T where(String path, RegularFile.Opener<T> opener) throws IOException {
        Path place = required(path);
        while (true) {
            Path now = CommittedFolder.locate(place);
            try {
                return opener.open(now);
            } catch (IOException | PenstockException e) {
                if (now.equals(CommittedFolder.locate(place))) {
                    throw e;
                }
            }
        }
    }

    @Override
    public Optional<Path> local(String path) {
        return place(path).map(CommittedFolder::locate);
    }
}
