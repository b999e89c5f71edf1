package io.penstock.io;

import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Reads files that hold one JSON object. Whatever is wrong with the content is a {@link MalformedStoreException} that
 * names the file.
 */
public final class JsonFile {

    /**
     * Makes something of an object's fields.
     *
     * @param <T> what is made
     */
    @FunctionalInterface
    public interface Reader<T> {

        /**
         * Reads the fields.
         *
         * @param fields the object's
         * @return what they say
         * @throws IOException if more has to be read and cannot be
         * @throws IllegalArgumentException if they say what cannot be
         */
        T read(JsonFields fields) throws IOException;
    }

    private JsonFile() {
    }

    /**
     * Reads a file.
     *
     * @param <T> what is read
     * @param file the file
     * @param what it should be, for messages, such as {@code a loader state}
     * @param mostBytes how large it may be, so that a wrong path does not load a corpus into memory
     * @param reader reads the fields
     * @return what the reader made
     * @throws MalformedStoreException if the file is larger, no JSON object, or refused by the reader
     * @throws IOException if it cannot be read
     */
    public static <T> T read(Path file, String what, long mostBytes, Reader<T> reader) throws IOException {
        return read(Location.of(file), what, mostBytes, reader);
    }

    /**
     * Reads a file wherever it is.
     *
     * @param <T> what is read
     * @param file the file
     * @param what it should be, for messages
     * @param mostBytes how large it may be
     * @param reader reads the fields
     * @return what the reader made
     * @throws MalformedStoreException if the file is larger, no JSON object, or refused by the reader
     * @throws IOException if it cannot be read
     */
    public static <T> T read(Location file, String what, long mostBytes, Reader<T> reader) throws IOException {
        long bytes = file.byteSize();
        if (bytes > mostBytes) {
            throw new MalformedStoreException(file, bytes + " bytes", what + " of at most " + mostBytes);
        }
        try {
            return reader.read(JsonFields.parse(file.readAllBytes(), what));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(file, e);
        }
    }
}
