package io.penstock.json;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Replaces a small file in one step that survives a crash: a temporary file in the same folder, flushed, renamed over
 * the old one, and the folder flushed so that the rename lasts.
 */
public final class AtomicFile {

    private AtomicFile() {
    }

    /**
     * Writes a text, whole or not at all.
     *
     * @param file where; an existing file is replaced
     * @param text its new content, as UTF-8
     * @throws IOException if it cannot be written; the old file is then as it was
     */
    public static void write(Path file, String text) throws IOException {
        Path target = file.toAbsolutePath();
        Path folder = target.getParent();
        if (folder == null || Files.isDirectory(target)) {
            throw new IOException(file + ": a folder, expected a file to write");
        }
        String tag = Long.toHexString(ThreadLocalRandom.current().nextLong());
        Path temporary = folder.resolve("." + target.getFileName() + "." + tag + ".tmp");
        try {
            try (FileChannel channel = FileChannel.open(temporary,
                    StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = StandardCharsets.UTF_8.encode(text);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            try {
                Files.deleteIfExists(temporary);
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
        flushFolder(folder);
    }

    private static void flushFolder(Path folder) throws IOException {
        // Windows opens no folder as a file; there the file system orders the rename by itself.
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}
