// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.io.FileInfo;
import io.penstock.io.FileSource;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What identifies a shard, also while its writer moves it to its final place. */
class ShardStateTest {

    @TempDir
    Path folder;

    /** Local files, of which the first that is asked for moves to its final place as soon as it was found. */
    private static final class Moving implements FileSource {
        private final FileSource files;
        private final Path before;
        private boolean moved;

        Moving(FileSource files, Path before) {
            this.files = files;
            this.before = before;
        }

        @Override
        public String root() {
            return files.root();
        }

        @Override
        public FileInfo info(String path) throws IOException {
            return files.info(path);
        }

        @Override
        public List<String> files(String folder, Predicate<String> chosen) throws IOException {
            return files.files(folder, chosen);
        }

        @Override
        public MappedFile open(Location file, MappedFile index) throws IOException {
            return files.open(file, index);
        }

        @Override
        public Optional<Path> local(String path) {
            Optional<Path> found = files.local(path);
            if (!moved) {
                assertEquals(before, found.orElseThrow());
                try {
                    Files.move(before, Path.of(path));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                moved = true;
            }
            return found;
        }
    }

    @Test
    void aShardThatMovesToItsFinalPlaceMeanwhileIsIdentifiedThere() throws IOException {
        Path committed = Files.createDirectory(folder.resolve(".x.tar.committed")).resolve("x.tar");
        Files.write(committed, new byte[10_000]);
        ShardState alone = ShardState.of(Location.of(folder.resolve("x.tar")));
        FileSource moving = new Moving(Location.of(committed).source(), committed);
        ShardState state = ShardState.of(new Location(moving, folder.resolve("x.tar").toString()));
        assertEquals(alone.byteSize(), state.byteSize());
        assertEquals(alone.mtimeNanos(), state.mtimeNanos());
        assertArrayEquals(alone.content(), state.content());
    }

    @Test
    void aShardThatIsMissingIsNamed() {
        Path missing = folder.resolve("y.tar");
        NoSuchFileException e = assertThrows(NoSuchFileException.class, () -> ShardState.of(Location.of(missing)));
        assertEquals(missing.toString(), e.getFile());
    }
}
