// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Replaces a file atomically and durably: writes a temporary file in the same folder, flushes it, renames it over the
 * old one, and flushes the folder so that the rename survives a crash.
 *
 * <p>The temporary file, {@code .NAME.RANDOM.tmp}, is locked while it is written. An unlocked one is left over from a
 * dead process; the next write of the same file removes it. Threads and processes may write one file concurrently: each
 * write is atomic, and the last one wins.
 *
 * <p>An existing file that is not regular, such as a terminal or a pipe, is written in place.
 */
public final class AtomicFile {

    private static final String ENDING = ".tmp";
    private static final int ATTEMPTS = 100;

    /** The temporary files of this process. Opening and closing one again would release its lock. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    /** Writes a file's content. */
    @FunctionalInterface
    public interface Content {

        /**
         * Writes all content.
         *
         * @param out the target; buffered; do not close it
         * @throws IOException if it cannot be written
         */
        void writeTo(OutputStream out) throws IOException;
    }

    private AtomicFile() {
    }

    /**
     * Writes a text atomically, in UTF-8.
     *
     * @param file the file
     * @param text its new content
     * @throws IOException if it cannot be written; names the file, whose old content is unchanged unless the message
     *     says that it is replaced
     */
    public static void write(Path file, String text) throws IOException {
        write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Writes a file atomically.
     *
     * @param file the file
     * @param content writes its new content
     * @throws IOException as {@link #write(Path, String)}
     */
    public static void write(Path file, Content content) throws IOException {
        Path target = target(file);
        Path folder = target.getParent();
        if (folder == null || Files.isDirectory(target)) {
            throw new IOException(file + ": a folder, expected a file to write");
        }
        if (Files.exists(target) && !Files.isRegularFile(target)) {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(target))) {
                content.writeTo(out);
            } catch (IOException e) {
                throw failed(file, "cannot be written", e);
            }
            return;
        }
        String prefix = "." + target.getFileName() + ".";
        removeLeftBehind(folder, prefix);
        boolean replaced = false;
        for (int i = 0; i < ATTEMPTS && !replaced; i++) {
            Path temporary = folder.resolve(prefix + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ENDING);
            IN_USE.add(temporary);
            try {
                replaced = replace(target, temporary, content);
            } catch (IOException e) {
                throw failed(file, "cannot be written", e);
            } finally {
                IN_USE.remove(temporary);
            }
        }
        if (!replaced) {
            throw new IOException(file + ": cannot be written: other processes removed " + ATTEMPTS
                    + " temporary files as leftovers");
        }
        try {
            Folder.flush(folder);
        } catch (IOException e) {
            throw failed(file, "is replaced, but a power cut may bring the old one back", e);
        }
    }

    /** Resolves a link, so that the link stays and the temporary file is on the target's file system. */
    private static Path target(Path file) throws IOException {
        return Files.isSymbolicLink(file) && Files.isRegularFile(file) ? file.toRealPath() : file.toAbsolutePath();
    }

    /** Returns false if another process removed the file as a leftover before it was locked. */
    private static boolean replace(Path target, Path temporary, Content content) throws IOException {
        FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        boolean replaced = false;
        try {
            if (lock(channel) != Lock.HELD && Files.exists(temporary)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel));
                content.writeTo(out);
                out.flush();
                channel.force(true);
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
                replaced = true;
            }
            return replaced;
        } finally {
            close(channel);
            if (!replaced) {
                Files.deleteIfExists(temporary);
            }
        }
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // the data is flushed
        }
    }

    /** Removes leftovers of dead processes; one that cannot be removed is harmless. */
    private static void removeLeftBehind(Path folder, String prefix) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, path -> isTemporary(path, prefix))) {
            for (Path path : left) {
                removeIfUnlocked(path);
            }
        } catch (IOException | DirectoryIteratorException _) {
            // the next write tries again
        }
    }

    private static boolean isTemporary(Path path, String prefix) {
        String name = path.getFileName().toString();
        return name.startsWith(prefix) && name.endsWith(ENDING) && !IN_USE.contains(path)
                && name.length() > prefix.length() + ENDING.length()
                && name.substring(prefix.length(), name.length() - ENDING.length()).chars()
                        .allMatch(c -> Character.digit(c, 16) >= 0);
    }

    private static void removeIfUnlocked(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            if (lock(channel) == Lock.TAKEN) {
                Files.deleteIfExists(path);
            }
        } catch (NoSuchFileException _) {
            // its writer has just renamed it
        }
    }

    private enum Lock {
        TAKEN,
        /** Another process holds it. */
        HELD,
        /** The file system has no locks, or none is left. */
        NONE
    }

    private static Lock lock(FileChannel channel) {
        try {
            return channel.tryLock() != null ? Lock.TAKEN : Lock.HELD;
        } catch (OverlappingFileLockException _) {
            return Lock.HELD;
        } catch (IOException _) {
            return Lock.NONE;
        }
    }

    /** Returns an error that names the file as the user knows it. */
    private static IOException failed(Path file, String what, IOException e) {
        return switch (e) {
            case ClosedByInterruptException interrupted -> interrupted;
            case NoSuchFileException _ -> (IOException)
                    new NoSuchFileException(file.toString(), null, "no folder to write in").initCause(e);
            case AccessDeniedException _ -> (IOException)
                    new AccessDeniedException(file.toString(), null, "permission denied").initCause(e);
            case FileSystemException named when named.getReason() != null ->
                    new IOException(file + ": " + what + ": " + named.getReason(), e);
            default -> new IOException(file + ": " + what + ": " + e.getMessage(), e);
        };
    }
}
