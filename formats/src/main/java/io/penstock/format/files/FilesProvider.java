// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.io.Location;
import io.penstock.io.local.HiddenNames;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** A folder of files, one record each; in image trees the subfolders are classes. */
public final class FilesProvider implements StoreProvider {

    static final String NAME = "files";

    /** For the service loader. */
    public FilesProvider() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        Optional<Path> folder = candidate.path().local();
        if (!candidate.isFolder() || folder.isEmpty()) {
            return false;
        }
        try (Stream<Path> entries = Files.list(folder.get())) {
            return entries.anyMatch(entry -> !HiddenNames.isHidden(entry.getFileName().toString()));
        }
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        if (NAME.equals(options.format())) {
            return FilesStore.openAll(path);
        }
        FilesStore store = FilesStore.open(path);
        try {
            store.requireNoOtherFormat();
            return store;
        } catch (Throwable t) {
            store.close();
            throw t;
        }
    }
}
