// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right, across processes, to write a store: a folder with a locked file. It ends with the process that
 * holds it.
 */
public final class WriterLock {

    static final String LOCK_NAME = "lock";
    private static final int ATTEMPTS = 100;
    private static final int MAX_MARK_BYTES = 1 << 16;

    /** The folders that this process holds. Opening and closing a lock again would release it. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path folder;
    private final FileChannel channel;

    private WriterLock(Path folder, FileChannel channel) {
        this.folder = folder;
        this.channel = channel;
    }

    /**
     * Creates and locks a folder, which may be a leftover.
     *
     * @param target what is written, for messages
     * @param folder the folder; its parent exists
     * @return the lock, to be released by the caller
     * @throws IOException if another writer is active or the folder cannot be locked; if it was created here, it is
     *     deleted
     */
    public static WriterLock take(Object target, Path folder) throws IOException {
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

    /** Opens and locks the file; returns null if the previous writer removed the folder meanwhile. */
    private static @Nullable FileChannel tryLock(Object target, Path folder) throws IOException {
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
            WriteFailure.after(e, channel);
            return null;
        } catch (IOException | RuntimeException e) {
            if (made) {
                WriteFailure.after(e, () -> remove(folder));
            }
            WriteFailure.after(e, channel);
            throw new IOException(target + ": " + file + " cannot be locked: " + e.getMessage(), e);
        }
        if (!locked) {
            throw new IOException(target + ": another process is writing it (it holds " + file + ")");
        }
        return null;
    }

    /** Creates the folder; returns whether this call did so. */
    private static boolean make(Path folder) throws IOException {
        try {
            Files.createDirectory(folder);
            return true;
        } catch (FileAlreadyExistsException e) {
            // a leftover or in use: the lock tells
            if (!Files.isDirectory(folder) && Files.exists(folder)) {
                throw new FileAlreadyExistsException(folder.toString(), null, "no folder, expected one to write in");
            }
            return false;
        }
    }

    /**
     * Tells whether a path still leads to the file that a channel has open: the previous holder may have deleted it,
     * and another writer created a new one. Sets a random file size and compares the path's: opening and closing the
     * path again would release the lock (POSIX locks belong to process and file).
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
            // another process removed it, or the next writer holds it
        }
    }

    /**
     * Releases the lock, and deletes the folder if it has nothing else.
     *
     * @throws IOException if a file cannot be deleted
     */
    public void release() throws IOException {
        try (channel) {
            remove(folder);
        } finally {
            IN_USE.remove(folder);
        }
    }
}
