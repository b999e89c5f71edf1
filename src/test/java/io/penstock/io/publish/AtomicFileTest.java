// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A file is the old one or the new one, whole, and nothing else is left. */
class AtomicFileTest {

    @TempDir
    private Path folder;

    @Test
    void aContentThatFailsHalfWayLeavesTheOldFileAndNamesIt() throws IOException {
        Path file = Files.writeString(folder.resolve("state.json"), "old");
        String message = assertThrows(IOException.class, () -> AtomicFile.write(file, out -> {
            out.write(new byte[1 << 16]);
            throw new IOException("No space left on device");
        })).getMessage();
        assertEquals(file + ": cannot be written: No space left on device", message);
        assertEquals("old", Files.readString(file));
        assertEquals(List.of("state.json"), Folders.names(folder));
    }

    @Test
    void whatADeadWriterLeftIsRemovedAndWhatOthersAreCalledIsNot() throws IOException {
        Files.writeString(folder.resolve(".state.json.5f3a.tmp"), "half");
        Files.writeString(folder.resolve(".state.json.mine.tmp"), "kept");
        Files.writeString(folder.resolve(".other.json.5f3a.tmp"), "kept");
        AtomicFile.write(folder.resolve("state.json"), "new");
        assertEquals(List.of(".other.json.5f3a.tmp", ".state.json.mine.tmp", "state.json"), Folders.names(folder));
    }

    @Test
    void whatAnotherWriterHasLockedStays() throws Exception {
        Path busy = Files.writeString(folder.resolve(".state.json.5f3a.tmp"), "half");
        try (FileChannel channel = FileChannel.open(busy, StandardOpenOption.WRITE)) {
            channel.lock();
            AtomicFile.write(folder.resolve("state.json"), "new");
            assertTrue(Files.exists(busy));
        }
    }

    @Test
    void anyNumberOfThreadsWriteOneFileEachWhole() throws Exception {
        Path file = folder.resolve("state.json");
        List<String> texts = Stream.of("a", "b", "c").map(letter -> letter.repeat(100_000)).toList();
        AtomicFile.write(file, texts.getFirst());
        try (var pool = Executors.newFixedThreadPool(3)) {
            List<Future<?>> writers = new ArrayList<>();
            for (String text : texts) {
                writers.add(pool.submit(() -> {
                    for (int i = 0; i < 30; i++) {
                        AtomicFile.write(file, text);
                        assertTrue(texts.contains(Files.readString(file)));
                    }
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        }
        assertEquals(List.of("state.json"), Folders.names(folder));
    }

    @Test
    void aLinkStaysAndTheFileThatItLeadsToIsReplaced() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path real = Files.writeString(elsewhere.resolve("real.json"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("state.json"), real);
        AtomicFile.write(link, "new");
        assertTrue(Files.isSymbolicLink(link));
        assertEquals("new", Files.readString(real));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aDeviceIsWrittenAsItIsAndNamedIfItIsFull() {
        String message = assertThrows(IOException.class, () -> AtomicFile.write(Path.of("/dev/full"), "x"))
                .getMessage();
        assertEquals("/dev/full: cannot be written: No space left on device", message);
        assertFalse(Files.isRegularFile(Path.of("/dev/full")));
    }

    @Test
    void aFolderThatIsNotThereIsToldWithTheFilesName() {
        Path file = folder.resolve("none/state.json");
        assertEquals(file.toString(),
                assertThrows(NoSuchFileException.class, () -> AtomicFile.write(file, "x")).getFile());
        String message = assertThrows(IOException.class, () -> AtomicFile.write(folder, "x")).getMessage();
        assertTrue(message.contains("a folder, expected a file"), message);
    }
}
