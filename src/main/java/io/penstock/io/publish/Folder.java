// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/** Operations on folders. */
public final class Folder {

    private Folder() {
    }

    /**
     * {@return the folder that a file is in; the working folder for a name alone; a root is in itself}
     *
     * @param file the file
     */
    public static Path of(Path file) {
        Path absolute = file.toAbsolutePath();
        Path parent = absolute.getParent();
        return parent == null ? absolute : parent;
    }

    /**
     * Creates a folder and its missing parents durably. Does nothing if it exists.
     *
     * @param folder the folder
     * @throws IOException if it cannot be created, or a power cut may undo that; names it
     */
    public static void create(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = of(folder);
        try {
            create(parent);
        } catch (IOException e) {
            throw new IOException(folder + ": cannot be created: " + e.getMessage(), e);
        }
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
        try {
            flush(parent);
        } catch (IOException e) {
            throw new IOException(folder + ": is created, but a power cut may undo that: " + e.getMessage(), e);
        }
    }

    /**
     * Makes the renames and deletions in a folder durable, even if the thread is interrupted.
     *
     * @param folder the folder
     * @throws IOException if it cannot be flushed; names it
     */
    public static void flush(Path folder) throws IOException {
        // Windows cannot open a folder as a file; its file system orders renames itself.
        if (!folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return;
        }
        boolean interrupted = false;
        try {
            while (!force(folder)) {
                interrupted |= Thread.interrupted();
            }
        } catch (IOException e) {
            throw new IOException(folder + ": the folder cannot be flushed: " + e.getMessage(), e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns false if the thread was interrupted meanwhile. */
    private static boolean force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
            return true;
        } catch (ClosedByInterruptException _) {
            return false;
        }
    }

    /**
     * Deletes a folder and its content, if it exists. Links are deleted, not followed.
     *
     * @param folder the folder
     * @throws IOException if something in it cannot be deleted
     */
    public static void delete(Path folder) throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
