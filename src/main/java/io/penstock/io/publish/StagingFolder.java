// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.io.local.CommittedFolder;
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
import org.jspecify.annotations.Nullable;

/**
 * The folder in which a store's files are written: {@code .NAME.writing/new} next to the store, for one writer at a
 * time.
 *
 * <p>Assumptions: the folder is on the store's file system, where a rename is atomic; file locks end with the process
 * that holds them; all files were flushed.
 *
 * <p>Guarantees:
 * <ul>
 * <li>A second writer is rejected, in this process or another. After a killed writer, the next one completes a
 *     committed store ({@link CommittedFolder}) and removes an uncommitted one.
 * <li>{@link #publish} replaces the store by one rename: after any failure, a power cut included, readers find either
 *     the complete old store or the complete new one.
 * <li>{@link #close} and an orderly JVM exit (also by SIGINT or SIGTERM) delete the folder. No file can be created
 *     during JVM exit.
 * </ul>
 */
public final class StagingFolder implements AutoCloseable {

    /** Why an existing store was not written. */
    public static final String NOT_REPLACED = "exists already, and overwriting is off";

    private static final String FILES_NAME = "new";
    private static final int WRITE_BUFFER_BYTES = 1 << 16;

    private final Path target;
    /** The store's parent folder. */
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
     * Creates and locks the folder of a store, or of the prefix of its files, after completing an earlier writer's
     * commit.
     *
     * @param target the store's path, or the prefix of its files
     * @return the folder, to be closed by the caller
     * @throws IOException if the store's parent folder does not exist or is not writable, or another writer is active
     */
    public static StagingFolder open(Path target) throws IOException {
        return WriteFailure.naming(target, () -> take(target));
    }

    private static StagingFolder take(Path target) throws IOException {
        Path parent = Folder.of(target);
        if (target.getFileName() == null) {
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
            WriteFailure.after(e, staging::delete);
            throw new IOException(target + ": the JVM is ending", e);
        } catch (IOException | RuntimeException e) {
            WriteFailure.after(e, staging::delete);
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
     * Completes committed stores that contain a file or its sidecar.
     *
     * @param file the file
     * @param description the sidecar's name
     * @throws IOException if files cannot be moved; names the store
     */
    public static void finish(Path file, String description) throws IOException {
        for (Path store : WriteFailure.naming(file, () -> Commit.unfinishedWith(file, description))) {
            open(store).close();
        }
    }

    /**
     * Rejects an existing file.
     *
     * @param file the file
     * @throws FileAlreadyExistsException if it exists
     */
    public static void requireAbsent(Path file) throws FileAlreadyExistsException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file.toString(), null, NOT_REPLACED);
        }
    }

    /**
     * Creates a file in the folder.
     *
     * @param name its name
     * @return a channel for reading and writing, to be closed by the caller
     * @throws IOException if it exists or cannot be created; names the store
     */
    public synchronized FileChannel create(String name) throws IOException {
        requireOpen();
        return naming(() -> FileChannel.open(files.resolve(name), StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /**
     * A step of a writer.
     *
     * @param <T> its result
     */
    @FunctionalInterface
    public interface Step<T extends @Nullable Object> {

        /**
         * Runs the step.
         *
         * @return its result
         * @throws IOException if a file cannot be read or written
         */
        T run() throws IOException;
    }

    /**
     * Runs a step of a store's writer before its folder is open; an error of the operating system names the store.
     *
     * @param <T> the result
     * @param target the store
     * @param step the step
     * @return its result
     * @throws IOException as the step
     */
    public static <T extends @Nullable Object> T naming(Path target, Step<T> step) throws IOException {
        return WriteFailure.naming(target, step);
    }

    /**
     * Runs a step that writes files of this folder. If the operating system reports an error, the exception names the
     * store, not the temporary folder.
     *
     * @param <T> the result
     * @param step the step
     * @return its result
     * @throws IOException as the step
     */
    public <T extends @Nullable Object> T naming(Step<T> step) throws IOException {
        return WriteFailure.naming(target, step);
    }

    /**
     * {@return the path of a file in the folder}
     *
     * @param name the file's name
     */
    public Path resolve(String name) {
        return files.resolve(name);
    }

    /**
     * {@return the final path of a file, for messages}
     *
     * @param name the file's name
     */
    public Path published(String name) {
        return parent.resolve(name);
    }

    /**
     * Creates a file in the folder, writes it and flushes it.
     *
     * @param name its name
     * @param content its content
     * @throws IOException if it cannot be written; names the store
     */
    public void write(String name, MemorySegment content) throws IOException {
        try (SpoolFile file = new SpoolFile(create(name), published(name), WRITE_BUFFER_BYTES)) {
            file.put(content, 0, content.byteSize());
            file.force();
        }
    }

    /**
     * Publishes files of a store without surplus, as {@link #publish(List, Collection)} does.
     *
     * @param names the names of all files of the store
     * @throws IOException as there
     */
    public void publish(List<String> names) throws IOException {
        publish(names, List.of());
    }

    /**
     * Publishes files of the folder as the store, atomically and durably, replacing files of those names.
     *
     * @param names the names of all files of the store
     * @param surplus names of files of the old store to delete, which need not exist
     * @throws IOException if it fails; nothing has changed unless the message says that the store is replaced
     */
    public synchronized void publish(List<String> names, Collection<String> surplus) throws IOException {
        requireOpen();
        naming(() -> {
            replace(names, surplus);
            return names;
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
            // No file may leave the folder before this rename is durable: a power cut could undo it and keep later
            // ones.
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
            throw new IOException(target + ": is complete and replaces the old store, but a power cut may bring"
                    + " that back: " + e.getMessage(), e);
        }
    }

    /** Deletes the writer's temporary files. */
    private void deleteAllBut(List<String> names) throws IOException {
        for (Path file : CommittedFolder.list(files, file -> !names.contains(file.getFileName().toString()))) {
            Files.delete(file);
        }
    }

    private void writeSurplus(Collection<String> surplus) throws IOException {
        String name = CommittedFolder.surplusIn(committed).getFileName().toString();
        write(name, MemorySegment.ofArray(Commit.surplusBytes(surplus)));
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException(target + ": the writer is closed, or the JVM is ending");
        }
    }

    /** Deletes the folder and its content. Calling it again does nothing. */
    @Override
    public void close() {
        delete();
        try {
            Runtime.getRuntime().removeShutdownHook(closeOnExit);
        } catch (IllegalStateException _) {
            // the JVM is ending: the hook has nothing to do
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
                // another process removed it
            } finally {
                lock.release();
            }
        } catch (IOException e) {
            String after = published ? " (the store itself is complete; the next writer removes the folder)" : "";
            throw new UncheckedIOException(new IOException(target + ": its folder " + folder + " cannot be removed: "
                    + e.getMessage() + after, e));
        }
    }

    /** Deletes everything in the folder but the lock. */
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
