package io.penstock.store.mapped;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Where the files of a store are while they are written: a hidden folder beside it, {@code .NAME.writing}, which one
 * writer has at a time.
 *
 * <p>Assumptions: the folder is on the file system that the store will be on, so that a rename moves a file; locks of
 * files end with the process that holds them.
 *
 * <p>Guarantees:
 * <ul>
 * <li>A second writer is refused, in this process or another. What a writer that was killed left behind is removed by
 *     the next.
 * <li>{@link #publish} makes all files visible under their names, the last one last, or none of them.
 * <li>{@link #close}, and an orderly end of the JVM (also by SIGINT or SIGTERM), removes the folder and all in it.
 *     Files that are created while the JVM ends are refused.
 * </ul>
 */
public final class StagingFolder implements AutoCloseable {

    private static final String LOCK_NAME = "lock";
    private static final int LOCK_ATTEMPTS = 100;
    private static final int MAX_MARK_BYTES = 1 << 16;

    /**
     * The folders that this process has. A second writer must not even open the lock: closing it again would give up
     * the lock of the first.
     */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path target;
    private final Path folder;
    private final FileChannel lockChannel;
    private final Thread closeOnExit = new Thread(this::delete, "penstock-unfinished-store");
    private boolean closed;

    private StagingFolder(Path target, Path folder, FileChannel lockChannel) {
        this.target = target;
        this.folder = folder;
        this.lockChannel = lockChannel;
    }

    /**
     * Makes the folder and takes it.
     *
     * @param target the store that will be written, or the prefix of its files
     * @return the folder, to be closed by the caller
     * @throws IOException if the store's own folder does not exist or cannot be written, or there is another writer
     */
    public static StagingFolder open(Path target) throws IOException {
        Path parent = Folder.of(target);
        if (parent == null || target.getFileName() == null) {
            throw new IOException(target + ": a folder, expected the name of a store to write");
        }
        if (!Files.isDirectory(parent)) {
            throw new NoSuchFileException(target.toString(), null, "no folder " + parent + " to write in");
        }
        Path folder = parent.toRealPath().resolve("." + target.getFileName() + ".writing");
        if (!IN_USE.add(folder)) {
            throw new IOException(target + ": another writer of this process is writing it");
        }
        FileChannel lock;
        try {
            lock = lock(target, folder);
        } catch (IOException | RuntimeException e) {
            IN_USE.remove(folder);
            throw e;
        }
        StagingFolder staging = new StagingFolder(target, folder, lock);
        try {
            staging.deleteFiles();
            Runtime.getRuntime().addShutdownHook(staging.closeOnExit);
            return staging;
        } catch (IllegalStateException e) {
            staging.delete();
            throw new IOException(target + ": the JVM is ending", e);
        } catch (IOException | RuntimeException e) {
            staging.delete();
            throw e;
        }
    }

    private static FileChannel lock(Path target, Path folder) throws IOException {
        for (int i = 0; i < LOCK_ATTEMPTS; i++) {
            FileChannel lock = tryLock(target, folder);
            if (lock != null) {
                return lock;
            }
        }
        throw new IOException(target + ": no lock on " + folder + " after " + LOCK_ATTEMPTS + " attempts");
    }

    /**
     * Refuses to replace what is there.
     *
     * @param file a file that would be written
     * @throws FileAlreadyExistsException if there is one of that name
     */
    public static void requireAbsent(Path file) throws FileAlreadyExistsException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file.toString(), null, "exists already, and is not to be overwritten");
        }
    }

    /** The channel of the lock; null if the writer before removed the folder meanwhile. */
    private static FileChannel tryLock(Path target, Path folder) throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException _) {
            // left behind, or in use: the lock tells
        }
        Path lockFile = folder.resolve(LOCK_NAME);
        FileChannel channel;
        try {
            channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (NoSuchFileException _) {
            return null;
        }
        try {
            if (channel.tryLock() == null) {
                throw new IOException(target + ": another process is writing it (it holds " + lockFile + ")");
            }
            if (leadsTo(lockFile, channel) && leadsTo(lockFile, channel)) {
                return channel;
            }
            channel.close();
            return null;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
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

    /**
     * Creates a file in the folder.
     *
     * @param name its name there
     * @return a channel that reads and writes it
     * @throws IOException if it cannot be created, or the folder is closed
     */
    public synchronized FileChannel create(String name) throws IOException {
        requireOpen();
        return FileChannel.open(folder.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    /**
     * Where a file of the folder is.
     *
     * @param name its name there
     * @return its path
     */
    public Path resolve(String name) {
        return folder.resolve(name);
    }

    /**
     * Where a file of the folder will be once it is published.
     *
     * @param name its name
     * @return its path then, for messages
     */
    public Path published(String name) {
        return Folder.of(folder).resolve(name);
    }

    /**
     * Renames files of the folder to their names beside it, one after another, and flushes the store's folder: once
     * it returns they last. Files of those names are replaced; if there are several, the one that comes last is
     * deleted to begin with, so that new files never stand beside an old one which says what they hold.
     *
     * @param names the files; the last one is what a reader opens first
     * @throws IOException if a file cannot be renamed; then those that were are removed again
     */
    public synchronized void publish(List<String> names) throws IOException {
        requireOpen();
        Path parent = folder.getParent();
        List<Path> renamed = new ArrayList<>();
        try {
            if (names.size() > 1 && Files.deleteIfExists(parent.resolve(names.getLast()))) {
                Folder.flush(parent);
            }
            for (String name : names) {
                Path to = parent.resolve(name);
                Files.move(folder.resolve(name), to, StandardCopyOption.ATOMIC_MOVE);
                renamed.add(to);
            }
        } catch (IOException | RuntimeException e) {
            for (Path path : renamed) {
                Files.deleteIfExists(path);
            }
            throw e;
        }
        Folder.flush(parent);
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException(target + ": the writer is closed, or the JVM is ending");
        }
    }

    /** Removes the folder and all that is still in it. Calling it again does nothing. */
    @Override
    public void close() {
        delete();
        try {
            Runtime.getRuntime().removeShutdownHook(closeOnExit);
        } catch (IllegalStateException _) {
            // the JVM is ending: the hook finds nothing to do
        }
    }

    private synchronized void delete() {
        if (closed) {
            return;
        }
        closed = true;
        try (lockChannel) {
            deleteFiles();
            Files.deleteIfExists(folder.resolve(LOCK_NAME));
            Files.deleteIfExists(folder);
        } catch (NoSuchFileException | DirectoryNotEmptyException _) {
            // somebody else removed it, or the next writer has it already
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be removed", e);
        } finally {
            IN_USE.remove(folder);
        }
    }

    private void deleteFiles() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (!file.getFileName().toString().equals(LOCK_NAME)) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }
}
