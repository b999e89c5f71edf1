package io.penstock.io.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Which writing of a store it is that a reader sees. A store of several files that is replaced while a reader opens it,
 * file after file, would be read as a mixture: files of the old one, and of the new one.
 *
 * <p>Assumption: a writer replaces all files of a store by one commit ({@link CommittedFolder}), each by another file.
 * Guarantee: if the files that mark a store are the same before and behind its opening, what was opened between is of
 * one writing. One file suffices as a mark.
 *
 * @param marks what the marking files are known again by
 */
public record Generation(List<Mark> marks) {

    /** More replacements than that while a store is opened are a fault of whoever makes them. */
    private static final int ATTEMPTS = 1000;

    /**
     * What a file is known again by.
     *
     * @param key the file's identity; null where the file system has none
     * @param bytes its size; -1 if there is no file
     * @param written when it was last written
     */
    public record Mark(Object key, long bytes, FileTime written) {

        private static Mark of(Path file) throws IOException {
            try {
                BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
                return new Mark(found.fileKey(), found.size(), found.lastModifiedTime());
            } catch (NoSuchFileException _) {
                return new Mark(null, -1, null);
            }
        }
    }

    /** Copies. */
    public Generation {
        marks = List.copyOf(marks);
    }

    /** Looks which writing of a store is there now. */
    @FunctionalInterface
    public interface Look {

        /**
         * Looks.
         *
         * @return the generation
         * @throws IOException if the store's folder cannot be read
         */
        Generation now() throws IOException;
    }

    /**
     * Opens a store.
     *
     * @param <S> the store
     */
    @FunctionalInterface
    public interface Opening<S> {

        /**
         * Opens it.
         *
         * @return the store
         * @throws IOException if it cannot be opened
         */
        S open() throws IOException;
    }

    /**
     * The generation that files mark.
     *
     * @param files where they are in their committed folder or their places; each need not exist
     * @return by what they are known again
     * @throws IOException if a file cannot be looked at
     */
    public static Generation of(List<CommittedFolder.Place> files) throws IOException {
        List<Mark> marks = new ArrayList<>();
        for (CommittedFolder.Place file : files) {
            marks.add(markOf(file));
        }
        return new Generation(marks);
    }

    private static Mark markOf(CommittedFolder.Place file) throws IOException {
        while (true) {
            Path path = file.path();
            Mark mark = Mark.of(path);
            if (mark.bytes >= 0 || path.equals(file.path())) {
                return mark;
            }
        }
    }

    /**
     * Opens a store whose files are all of one writing: again, if it was replaced meanwhile.
     *
     * @param <S> the store
     * @param path the store's path, for messages
     * @param look tells the generation that is there
     * @param opening opens the store
     * @return the store
     * @throws IOException if it cannot be opened, or is replaced again and again
     */
    public static <S extends AutoCloseable> S open(Path path, Look look, Opening<S> opening) throws IOException {
        Generation before = look.now();
        for (int i = 0; i < ATTEMPTS; i++) {
            S store = null;
            IOException failure = null;
            try {
                store = opening.open();
            } catch (IOException e) {
                failure = e;
            }
            Generation after;
            try {
                after = look.now();
            } catch (IOException | RuntimeException e) {
                close(store);
                throw e;
            }
            if (Objects.equals(before, after)) {
                if (failure != null) {
                    throw failure;
                }
                return store;
            }
            close(store);
            before = after;
        }
        throw new IOException(path + ": was replaced " + ATTEMPTS + " times while it was opened");
    }

    private static void close(AutoCloseable store) throws IOException {
        try {
            if (store != null) {
                store.close();
            }
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
