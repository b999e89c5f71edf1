package io.penstock.io.publish;

import io.penstock.io.CommittedFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the files of a store are while they are written: in {@code .NAME.writing/new} beside it, which one writer has
 * at a time.
 *
 * <p>Assumptions: the folder is on the file system that the store will be on, where a rename is one step; locks of
 * files end with the process that holds them; all files were flushed.
 *
 * <p>Guarantees:
 * <ul>
 * <li>A second writer is refused, in this process or another. What a writer that was killed left behind is finished by
 *     the next if it was committed ({@link CommittedFolder}), and otherwise removed.
 * <li>{@link #publish} replaces the store by one rename: whatever fails or never happens, a power cut included, readers
 *     find the old store or the new one, whole.
 * <li>{@link #close}, and an orderly end of the JVM (also by SIGINT or SIGTERM), removes the folder and all in it.
 *     Files that are created while the JVM ends are refused.
 * </ul>
 */
public final class StagingFolder implements AutoCloseable {

    private static final String FILES_NAME = "new";
    private static final int LIST_BUFFER_BYTES = 1 << 12;

    private final Path target;
    /** The folder that the store will be in. */
    private final Path parent;
    private final Path folder;
    private final Path files;
    private final Path committed;
    private final WriterLock lock;
    private final Thread closeOnExit = new Thread(this::delete, "penstock-unfinished-store");
    private boolean published;
    private boolean closed;

    private StagingFolder(Path target, Path parent, Path folder, WriterLock lock) {
        this.target = target;
        this.parent = parent;
        this.folder = folder;
        this.files = folder.resolve(FILES_NAME);
        this.committed = CommittedFolder.of(parent.resolve(target.getFileName()));
        this.lock = lock;
    }

    /**
     * Makes the folder and takes it. What a writer before committed and did not finish is finished first.
     *
     * @param target the store that will be written, or the prefix of its files
     * @return the folder, to be closed by the caller
     * @throws IOException if the store's own folder does not exist or cannot be written, or there is another writer
     */
    public static StagingFolder open(Path target) throws IOException {
        return WriteFailure.naming(target, () -> take(target));
    }

    private static StagingFolder take(Path target) throws IOException {
        Path parent = Folder.of(target);
        if (parent == null || target.getFileName() == null) {
            throw new IOException(target + ": a folder, expected the name of a store to write");
        }
        if (!Files.isDirectory(parent)) {
            throw new NoSuchFileException(target.toString(), null, "no folder " + parent + " to write in");
        }
        Path real = parent.toRealPath();
        Path folder = real.resolve("." + target.getFileName() + ".writing");
        StagingFolder staging = new StagingFolder(target, real, folder, WriterLock.take(target, folder));
        try {
            staging.prepare();
            Runtime.getRuntime().addShutdownHook(staging.closeOnExit);
            return staging;
        } catch (IllegalStateException e) {
            staging.deleteAfter(e);
            throw new IOException(target + ": the JVM is ending", e);
        } catch (IOException | RuntimeException e) {
            staging.deleteAfter(e);
            throw e;
        }
    }

    private void prepare() throws IOException {
        try {
            Commit.finish(committed);
        } catch (IOException e) {
            throw Commit.unfinished(target, committed, e);
        }
        deleteFiles();
        Files.createDirectory(files);
    }

    /**
     * Finishes stores that a writer committed and did not finish, of those that have a file or its description.
     *
     * @param file the file, in its place
     * @param description the name of what describes it, such as its checksums
     * @throws IOException if one cannot be finished, or another writer is at it
     */
    public static void finish(Path file, String description) throws IOException {
        for (Path store : WriteFailure.naming(file, () -> Commit.unfinishedWith(file, description))) {
            open(store).close();
        }
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

    /**
     * Creates a file in the folder.
     *
     * @param name its name there
     * @return a channel that reads and writes it
     * @throws IOException if it cannot be created, or the folder is closed
     */
    public synchronized FileChannel create(String name) throws IOException {
        requireOpen();
        return naming(() -> FileChannel.open(files.resolve(name), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /**
     * Does something with files of the folder.
     *
     * @param <T> what it gives
     * @param step does it
     * @return the result
     * @throws IOException if it fails; names the store
     */
    public <T> T naming(WriteFailure.Step<T> step) throws IOException {
        return WriteFailure.naming(target, step);
    }

    /**
     * Where a file of the folder is.
     *
     * @param name its name there
     * @return its path
     */
    public Path resolve(String name) {
        return files.resolve(name);
    }

    /**
     * Where a file of the folder will be once it is published.
     *
     * @param name its name
     * @return its path then, for messages
     */
    public Path published(String name) {
        return parent.resolve(name);
    }

    /**
     * Makes files of the folder the store, all at once; once it returns they last. Files of those names are replaced.
     *
     * @param names the files, which were flushed
     * @throws IOException if that fails: either nothing has changed, or the message says that the store is replaced
     */
    public void publish(List<String> names) throws IOException {
        publish(names, List.of());
    }

    /**
     * Makes files of the folder the store, all at once; once it returns they last. Files of those names are replaced.
     *
     * @param names the files, which were flushed
     * @param surplus names of files beside the store that it no longer has, which are deleted; they need not exist
     * @throws IOException if that fails: either nothing has changed, or the message says that the store is replaced
     */
    public synchronized void publish(List<String> names, Collection<String> surplus) throws IOException {
        requireOpen();
        naming(() -> {
            replace(names, surplus);
            return null;
        });
    }

    private void replace(List<String> names, Collection<String> surplus) throws IOException {
        for (String name : Stream.concat(names.stream(), surplus.stream()).toList()) {
            if (Files.isDirectory(parent.resolve(name), LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(parent.resolve(name) + ": a folder, expected a file to replace, or none");
            }
        }
        deleteAllBut(names);
        if (names.size() == 1 && surplus.isEmpty()) {
            Files.move(files.resolve(names.getFirst()), parent.resolve(names.getFirst()),
                    StandardCopyOption.ATOMIC_MOVE);
            published = true;
            flushReplaced();
            return;
        }
        if (!surplus.isEmpty()) {
            writeSurplus(surplus);
        }
        Folder.flush(files);
        Files.move(files, committed, StandardCopyOption.ATOMIC_MOVE);
        published = true;
        try {
            // Before it lasts, no file may leave it: a power cut could undo this rename and keep later ones.
            Folder.flush(parent);
            Commit.finish(committed);
        } catch (IOException e) {
            throw Commit.unfinished(target, committed, e);
        }
    }

    private void flushReplaced() throws IOException {
        try {
            Folder.flush(parent);
        } catch (IOException e) {
            throw new IOException(target + ": is written whole and replaces what was there, but a power cut may bring"
                    + " that back: " + e.getMessage(), e);
        }
    }

    /** What helped to write the store is no part of it. */
    private void deleteAllBut(List<String> names) throws IOException {
        for (Path file : CommittedFolder.list(files, file -> !names.contains(file.getFileName().toString()))) {
            Files.delete(file);
        }
    }

    private void writeSurplus(Collection<String> surplus) throws IOException {
        String name = CommittedFolder.surplusIn(committed).getFileName().toString();
        byte[] bytes = Commit.surplusBytes(surplus);
        try (SpoolFile list = new SpoolFile(create(name), files.resolve(name), LIST_BUFFER_BYTES)) {
            list.put(MemorySegment.ofArray(bytes), 0, bytes.length);
            list.force();
        }
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

    private void deleteAfter(Exception failure) {
        try {
            delete();
        } catch (UncheckedIOException e) {
            failure.addSuppressed(e);
        }
    }

    private synchronized void delete() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            try {
                deleteFiles();
            } catch (NoSuchFileException _) {
                // somebody else removed it
            } finally {
                lock.release();
            }
        } catch (IOException e) {
            String after = published ? " (the store itself is written whole; the next writer removes the folder)" : "";
            throw new UncheckedIOException(new IOException(target + ": its folder " + folder + " cannot be removed: "
                    + e.getMessage() + after, e));
        }
    }

    /** Removes everything in the folder but the lock. */
    private void deleteFiles() throws IOException {
        if (Files.isDirectory(files, LinkOption.NOFOLLOW_LINKS)) {
            for (Path file : CommittedFolder.list(files, _ -> true)) {
                Files.deleteIfExists(file);
            }
        }
        Path lockFile = folder.resolve(WriterLock.LOCK_NAME);
        for (Path file : CommittedFolder.list(folder, file -> !file.equals(lockFile))) {
            Files.deleteIfExists(file);
        }
    }
}
