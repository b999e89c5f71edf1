// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The version of a store that a reader sees. If a store of several files is replaced while a reader opens them one by
 * one, the reader could mix old and new files.
 *
 * <p>Assumption: one commit replaces all files of a store, each by a new file. Guarantee: if the marker files are the
 * same before and after opening, all opened files are of one version. One marker file is enough.
 *
 * @param versions the versions of the marker files
 */
public record Generation(List<String> versions) {

    /** More replacements than this during one open are the writer's fault. */
    private static final int ATTEMPTS = 1000;

    /** Copies the list. */
    public Generation {
        versions = List.copyOf(versions);
    }

    /** Reads a store's current generation. */
    @FunctionalInterface
    public interface Look {

        /**
         * {@return the current generation}
         *
         * @throws IOException if a marker file cannot be looked at
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
         * {@return the open store}
         *
         * @throws IOException if it cannot be opened
         */
        S open() throws IOException;
    }

    /**
     * {@return the generation of marker files}
     *
     * @param files the files, which need not exist
     * @throws IOException if one cannot be looked at
     */
    public static Generation of(List<Location> files) throws IOException {
        List<String> versions = new ArrayList<>();
        for (Location file : files) {
            versions.add(file.infoNow().version());
        }
        return new Generation(versions);
    }

    /**
     * Opens a store with all files of one version; opens it again if it was replaced meanwhile, but not without end.
     *
     * @param <S> the store
     * @param store its location, for messages
     * @param look reads its generation
     * @param opening opens it
     * @return the open store
     * @throws IOException if it cannot be opened, or is replaced again and again
     */
    public static <S extends AutoCloseable> S open(Location store, Look look, Opening<S> opening) throws IOException {
        Generation before = look.now();
        for (int i = 0; i < ATTEMPTS; i++) {
            S opened = null;
            Exception failure = null;
            try {
                opened = opening.open();
            } catch (IOException | PenstockException e) {
                failure = e;
            }
            Generation after;
            try {
                after = look.now();
            } catch (IOException | RuntimeException e) {
                close(opened);
                throw e;
            }
            if (before.versions.equals(after.versions)) {
                if (failure instanceof IOException e) {
                    throw e;
                }
                if (failure instanceof PenstockException e) {
                    throw e;
                }
                return Objects.requireNonNull(opened);
            }
            close(opened);
            before = after;
        }
        throw new IOException(store + ": was replaced " + ATTEMPTS + " times during open");
    }

    private static void close(@Nullable AutoCloseable store) throws IOException {
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
