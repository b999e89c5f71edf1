package io.penstock.format;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Opens stores on files. */
public final class Mapping {

    private Mapping() {
    }

    /**
     * What makes a store of a file.
     *
     * @param <S> the store, which then owns the file
     */
    @FunctionalInterface
    public interface Reader<S> {

        /**
         * Reads and checks.
         *
         * @param file the file
         * @return the store
         * @throws IOException if the file is not as its format says
         */
        S read(MappedFile file) throws IOException;
    }

    /**
     * Opens a file and makes a store of it; closes it if that fails, also because the file shrinks meanwhile.
     *
     * @param <S> the store
     * @param location the file
     * @param reader makes the store
     * @return what the reader made
     * @throws IOException if there is no such file, it cannot be read, it shrinks, or the reader refuses it
     */
    public static <S> S open(Location location, Reader<S> reader) throws IOException {
        return open(location, null, reader);
    }

    /**
     * Opens a file that is read as another one says, and makes a store of it, as {@link #open(Location, Reader)} does.
     *
     * @param <S> the store
     * @param location the file
     * @param index the other file: checked to be unchanged together with this one. Null if there is none
     * @param reader makes the store
     * @return what the reader made
     * @throws IOException as {@link #open(Location, Reader)}
     */
    public static <S> S open(Location location, MappedFile index, Reader<S> reader) throws IOException {
        MappedFile file = location.openWith(index);
        try {
            return file.reading(() -> reader.read(file));
        } catch (UncheckedIOException e) {
            file.close();
            throw e.getCause();
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }
}
