// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Folders that tests write to. */
public final class Folders {

    private Folders() {
    }

    /** A new folder in memory, where the system has one: millions of files are written there. */
    public static Path inMemory() throws IOException {
        Path memory = Path.of("/dev/shm");
        return Files.isWritable(memory) ? Files.createTempDirectory(memory, "penstock-fuzz-")
                : Files.createTempDirectory("penstock-fuzz-");
    }

    /** The files in a folder, sorted; none if there is no such folder. */
    public static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }

    /** The names of the files in a folder, sorted. */
    public static List<String> names(Path folder) throws IOException {
        return files(folder).stream().map(file -> file.getFileName().toString()).toList();
    }
}
