// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.CommittedFolder;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Moves the files of a {@link CommittedFolder} to their final places, after the commit. */
final class Commit {

    static byte[] surplusBytes(Collection<String> names) {
        return Json.write(List.copyOf(names)).getBytes(StandardCharsets.UTF_8);
    }

    /** {@return the paths of the stores whose committed folders contain a file or its sidecar} */
    static List<Path> unfinishedWith(Path file, String description) throws IOException {
        List<Path> stores = new ArrayList<>();
        for (Path committed : CommittedFolder.list(Folder.of(file), CommittedFolder::isName)) {
            if (Files.exists(committed.resolve(file.getFileName())) || Files.exists(committed.resolve(description))) {
                stores.add(file.resolveSibling(CommittedFolder.storeOf(committed).getFileName()));
            }
        }
        return stores;
    }

    /**
     * Moves all files of a committed folder, if it exists, to their final places, then deletes surplus files and the
     * folder. For the store's single writer. If a step fails, the store stays readable, and the next call continues.
     */
    static void finish(Path committed) throws IOException {
        if (!Files.isDirectory(committed)) {
            return;
        }
        Path folder = Folder.of(committed);
        Path list = CommittedFolder.surplusIn(committed);
        List<Path> files = new ArrayList<>(CommittedFolder.list(committed, file -> !file.equals(list)));
        files.sort(Comparator.comparingInt((Path file) -> -file.getFileName().toString().length())
                .thenComparing(file -> file.getFileName().toString()));
        int length = -1;
        for (Path file : files) {
            if (length >= 0 && file.getFileName().toString().length() < length) {
                Folder.flush(folder);   // no file is in place before its sidecar, even after a power cut
            }
            length = file.getFileName().toString().length();
            Files.move(file, folder.resolve(file.getFileName()), StandardCopyOption.ATOMIC_MOVE);
        }
        try {
            for (String name : CommittedFolder.surplusOf(committed)) {
                Files.deleteIfExists(folder.resolve(name));
            }
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(committed, e);
        }
        Folder.flush(folder);
        Files.deleteIfExists(list);
        Files.deleteIfExists(committed);
        Folder.flush(folder);
    }

    /** Returns the error for a failure after the commit. */
    static IOException unfinished(Path target, Path committed, IOException e) {
        String reason = e instanceof FileSystemException named
                ? named.getFile() + ": " + (named.getReason() == null ? e.getClass().getSimpleName()
                        : named.getReason()) : String.valueOf(e.getMessage());
        return new IOException(target + ": is complete and replaces the old store, but not all of its files can be"
                + " moved from " + committed + " to their places: " + reason
                + " (penstock reads them there, and the next writer of this store continues)", e);
    }
}
