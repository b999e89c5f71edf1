package io.penstock.io;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Which writing of a store it is that a reader sees. A store of several files that is replaced while a reader opens it,
 * file after file, would be read as a mixture: files of the old one, and of the new one.
 *
 * <p>Assumption: a writer replaces all files of a store by one commit, each by another file. Guarantee: if the files
 * that mark a store are the same before and behind its opening, what was opened between is of one writing. One file
 * suffices as a mark.
 *
 * @param versions the versions of the marking files; empty of those that are not there
 */
public record Generation(List<String> versions) {

    /** More replacements than that while a store is opened are a fault of whoever makes them. */
    private static final int ATTEMPTS = 1000;

    /** Copies. */
    public Generation {
        versions = List.copyOf(versions);
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
     * @param files the files; each need not exist
     * @return what they are known again by
     * @throws IOException if a file cannot be looked at
     */
    public static Generation of(List<Location> files) throws IOException {
        List<String> versions = new ArrayList<>();
        for (Location file : files) {
            versions.add(file.info().version());
        }
        return new Generation(versions);
    }

    /**
     * Opens a store whose files are all of one writing: again, if it was replaced meanwhile.
     *
     * @param <S> the store
     * @param store the store, for messages
     * @param look tells the generation that is there
     * @param opening opens the store
     * @return the store
     * @throws IOException if it cannot be opened, or is replaced again and again
     */
    public static <S extends AutoCloseable> S open(Location store, Look look, Opening<S> opening) throws IOException {
        Generation before = look.now();
        for (int i = 0; i < ATTEMPTS; i++) {
            S opened = null;
            IOException failure = null;
            try {
                opened = opening.open();
            } catch (IOException e) {
                failure = e;
            }
            Generation after;
            try {
                after = look.now();
            } catch (IOException | RuntimeException e) {
                close(opened);
                throw e;
            }
            if (Objects.equals(before, after)) {
                if (failure != null) {
                    throw failure;
                }
                return opened;
            }
            close(opened);
            before = after;
        }
        throw new IOException(store + ": was replaced " + ATTEMPTS + " times while it was opened");
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
