package io.penstock.format;

import io.penstock.io.MappedFile;
import io.penstock.io.publish.CommittedFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** Opens stores on mapped files. */
public final class Mapping {

    private Mapping() {
    }

    /**
     * What makes a store of a mapped file.
     *
     * @param <S> the store, which then owns the mapping
     */
    @FunctionalInterface
    public interface Reader<S> {

        /**
         * Reads and checks.
         *
         * @param file the mapping
         * @return the store
         * @throws IOException if the file is not as its format says
         */
        S read(MappedFile file) throws IOException;
    }

    /**
     * Maps a file and makes a store of it; unmaps it if that fails, also because the file shrinks meanwhile.
     *
     * @param <S> the store
     * @param path the file
     * @param reader makes the store
     * @return what the reader made
     * @throws IOException if there is no such file, it cannot be read, it shrinks, or the reader refuses it
     */
    public static <S> S open(Path path, Reader<S> reader) throws IOException {
        return open(() -> path, reader);
    }

    /**
     * Maps a file where it is, and makes a store of it; unmaps it if that fails, also because the file shrinks
     * meanwhile.
     *
     * @param <S> the store
     * @param place where the file is
     * @param reader makes the store
     * @return what the reader made
     * @throws IOException if there is no such file, it cannot be read, it shrinks, or the reader refuses it
     */
    public static <S> S open(CommittedFolder.Place place, Reader<S> reader) throws IOException {
        return read(CommittedFolder.open(place, MappedFile::open), reader);
    }

    private static <S> S read(MappedFile file, Reader<S> reader) throws IOException {
        try {
            return reader.read(file);
        } catch (InternalError fault) {
            try (file) {
                file.checkUnchanged();
            } catch (UncheckedIOException shrunk) {
                throw shrunk.getCause();
            }
            throw fault;
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }
}
