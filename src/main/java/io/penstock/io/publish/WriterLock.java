package io.penstock.io.publish;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The right to write a store: a folder with a locked file in it, which one writer has at a time, of all processes. It
 * ends with the process that has it.
 */
final class WriterLock {

    static final String LOCK_NAME = "lock";
    private static final int ATTEMPTS = 100;
    private static final int MAX_MARK_BYTES = 1 << 16;

    /**
     * The folders that this process has. A second writer must not even open the lock: closing it again would give up
     * the lock of the first.
     */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path folder;
    private final FileChannel channel;

    private WriterLock(Path folder, FileChannel channel) {
        this.folder = folder;
        this.channel = channel;
    }

    /**
     * Makes a folder and takes it.
     *
     * @param target the store, for messages
     * @param folder the folder, which may have been left behind
     * @throws IOException if there is another writer, or the lock cannot be had; a folder that this made is gone then
     */
    static WriterLock take(Path target, Path folder) throws IOException {
        if (!IN_USE.add(folder)) {
            throw new IOException(target + ": another writer of this process is writing it");
        }
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                FileChannel channel = tryLock(target, folder);
                if (channel != null) {
                    return new WriterLock(folder, channel);
                }
            }
            throw new IOException(target + ": no lock on " + folder + " after " + ATTEMPTS + " attempts");
        } catch (IOException | RuntimeException e) {
            IN_USE.remove(folder);
            throw e;
        }
    }

    /** The channel of the lock; null if the writer before removed the folder meanwhile. */
    private static FileChannel tryLock(Path target, Path folder) throws IOException {
        boolean made = make(folder);
        Path file = folder.resolve(LOCK_NAME);
        FileChannel channel = null;
        boolean locked = false;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            locked = channel.tryLock() != null;
            if (locked && leadsTo(file, channel) && leadsTo(file, channel)) {
                return channel;
            }
            channel.close();
        } catch (NoSuchFileException e) {
            close(channel, e);
            return null;
        } catch (IOException | RuntimeException e) {
            if (made) {
                removeAfter(folder, e);
            }
            close(channel, e);
            throw new IOException(target + ": " + file + " cannot be locked: " + e.getMessage(), e);
        }
        if (!locked) {
            throw new IOException(target + ": another process is writing it (it holds " + file + ")");
        }
        return null;
    }

    /** Whether this call made the folder. */
    private static boolean make(Path folder) throws IOException {
        try {
            Files.createDirectory(folder);
            return true;
        } catch (FileAlreadyExistsException e) {
            // left behind, or in use: the lock tells
            if (!Files.isDirectory(folder) && Files.exists(folder)) {
                throw new FileAlreadyExistsException(folder.toString(), null, "no folder, expected one to write in");
            }
            return false;
        }
    }

    /** A lock that could not be had leaves nothing behind. */
    private static void removeAfter(Path folder, Exception failure) {
        try {
            remove(folder);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private static void close(FileChannel channel, Exception failure) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Whether a path leads to the file that a channel has open: its holder before may have removed it, and another
     * have made a new one. The file is given a random size, and the path asked for it: to open the path a second
     * time and close it would give up the lock (POSIX locks belong to the process and the file).
     */
    private static boolean leadsTo(Path path, FileChannel channel) throws IOException {
        int bytes = ThreadLocalRandom.current().nextInt(1, MAX_MARK_BYTES);
        channel.truncate(0).write(ByteBuffer.allocate(1), bytes - 1L);
        try {
            return Files.size(path) == bytes;
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    private static void remove(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder.resolve(LOCK_NAME));
            Files.deleteIfExists(folder);
        } catch (NoSuchFileException | DirectoryNotEmptyException _) {
            // somebody else removed it, or the next writer has it already
        }
    }

    /** Removes the folder, which must be empty but for the lock, and gives the right up. */
    void release() throws IOException {
        try (channel) {
            remove(folder);
        } finally {
            IN_USE.remove(folder);
        }
    }
}
