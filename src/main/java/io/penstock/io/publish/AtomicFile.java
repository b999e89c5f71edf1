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
 * Replaces a file in one step that survives a crash: a temporary file in the same folder, flushed, renamed over the
 * old one, and the folder flushed so that the rename lasts.
 *
 * <p>A temporary file, {@code .NAME.RANDOM.tmp}, is locked while it is written. One that is not is what a dead process
 * left behind; the next writing of the same file removes it. Any number of threads and processes may write one file at
 * a time: each of them whole, the last one stays.
 *
 * <p>What is there and no regular file, such as a terminal or a pipe, cannot be replaced: it is written as it is.
 */
public final class AtomicFile {

    private static final String ENDING = ".tmp";
    private static final int ATTEMPTS = 100;

    /** What this process writes. It must not even open these: closing them again would give up their locks. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    /** Gives a file's content. */
    @FunctionalInterface
    public interface Content {

        /**
         * Writes all of it.
         *
         * @param out where to; buffered, and not to be closed
         * @throws IOException if it cannot be written
         */
        void writeTo(OutputStream out) throws IOException;
    }

    private AtomicFile() {
    }

    /**
     * Writes a text, whole or not at all.
     *
     * @param file where; an existing file is replaced
     * @param text its new content, as UTF-8
     * @throws IOException if it cannot be written, naming the file; the old file is then as it was, or the message says
     *     that it is replaced
     */
    public static void write(Path file, String text) throws IOException {
        write(file, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Writes a file, whole or not at all.
     *
     * @param file where; an existing file is replaced
     * @param content its new content
     * @throws IOException if it cannot be written, naming the file; the old file is then as it was, or the message says
     *     that it is replaced
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
            throw new IOException(file + ": cannot be written: other processes took " + ATTEMPTS
                    + " temporary files for left behind");
        }
        try {
            flushFolder(folder);
        } catch (IOException e) {
            throw failed(file, "is replaced, but a power cut may bring the old one back", e);
        }
    }

    /** The file that a link leads to, so that the link stays; there, a temporary file is on the same file system. */
    private static Path target(Path file) throws IOException {
        return Files.isSymbolicLink(file) && Files.isRegularFile(file) ? file.toRealPath() : file.toAbsolutePath();
    }

    /** False if another process took the file for one that was left behind, before it could be locked. */
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

    /** What was to last was flushed: a failure to close says nothing of it. */
    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // nothing depends on it
        }
    }

    /** Removes what dead processes left; what cannot be removed does no harm. */
    private static void removeLeftBehind(Path folder, String prefix) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, path -> isTemporary(path, prefix))) {
            for (Path path : left) {
                removeIfUnlocked(path);
            }
        } catch (IOException | DirectoryIteratorException _) {
            // the next writing tries again
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
        /** By another process. */
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

    /** An error with the name that people know the file by. */
    private static IOException failed(Path file, String what, IOException e) {
        return switch (e) {
            case ClosedByInterruptException interrupted -> interrupted;
            case NoSuchFileException _ ->
                    caused(new NoSuchFileException(file.toString(), null, "no folder to write in"), e);
            case AccessDeniedException _ ->
                    caused(new AccessDeniedException(file.toString(), null, "permission denied"), e);
            case FileSystemException named when named.getReason() != null ->
                    new IOException(file + ": " + what + ": " + named.getReason(), e);
            default -> new IOException(file + ": " + what + ": " + e.getMessage(), e);
        };
    }

    private static IOException caused(IOException exception, IOException cause) {
        exception.initCause(cause);
        return exception;
    }

    /**
     * Makes the renames and deletions in a folder last. An interrupt of the thread does not keep it from that: what is
     * renamed is not taken back.
     *
     * @param folder the folder
     * @throws IOException if it cannot be flushed, naming it
     */
    public static void flushFolder(Path folder) throws IOException {
        // Windows opens no folder as a file; there the file system orders the rename by itself.
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

    /** False if the thread was interrupted meanwhile. */
    private static boolean force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
            return true;
        } catch (ClosedByInterruptException _) {
            return false;
        }
    }
}
